import { expect, test } from 'vitest';
import { createSession, changeSettings, deleteSession, setLeaf } from '../../src/core/settings.js';
import { emptySession, evolve } from '../../src/core/session.js';
import { abortRun, settleRun } from '../../src/core/runs.js';
import { createPlay, factsOf, fold, refusalOf } from '../support/core-play.js';

test('one event tells everything about a new session', () => {
  const fields = {
    title: 'a title',
    cwd: '/srv',
    model: 'offline/guide',
    thinking: 'high',
    steering_mode: 'all',
    follow_up_mode: 'all',
    approval_mode: 'full',
    when_detached: 'deny',
    recovery: 'continue',
    one_off: true,
    active_tools: ['echo'],
    parent_id: 'ses_parent',
    leaf_id: 'msg_9',
  } as const;
  const [fact, ...others] = factsOf(createSession('ses_a', { ...fields, active_tools: ['echo'] }));
  expect(others).toEqual([]);
  expect(fact && evolve(emptySession('ses_a'), fact)).toEqual({
    ...emptySession('ses_a'),
    title: 'a title',
    cwd: '/srv',
    model: 'offline/guide',
    thinking: 'high',
    steeringMode: 'all',
    followUpMode: 'all',
    approvalMode: 'full',
    whenDetached: 'deny',
    recovery: 'continue',
    oneOff: true,
    activeTools: ['echo'],
    parentId: 'ses_parent',
    leafId: 'msg_9',
  });
});

test('a change says what changed and leaves the rest', () => {
  const play = createPlay();
  const before = play.state;
  play.take(changeSettings(play.state, { title: 'new', archived: true }));
  expect(play.state).toEqual({ ...before, title: 'new', archived: true });
  play.take(changeSettings(play.state, { archived: false, active_tools: ['echo'] }));
  play.take(changeSettings(play.state, { active_tools: null }));
  expect(play.state).toEqual({ ...before, title: 'new' });
});

test('a change of nothing is accepted and tells nothing', () => {
  const play = createPlay();
  expect(factsOf(changeSettings(play.state, {}))).toEqual([]);
});

test('the leaf follows ended messages, not discarded ones', () => {
  const play = createPlay();
  play.prompt();
  const user = play.state.leafId;
  play.answer({});
  expect(play.state.leafId).toBe(user);
  play.endTurn();
  play.prompt('inp_2');
  play.answer({ text: 'x' });
  expect(play.state.leafId).not.toBe(user);
});

test('the leaf is not moved under a run', () => {
  const play = createPlay();
  play.prompt();
  expect(refusalOf(setLeaf(play.state, 'msg_1'))).toBe('run_in_progress');
  play.take(abortRun(play.state, false, undefined));
  expect(refusalOf(setLeaf(play.state, 'msg_1'))).toBe('run_in_progress');
  play.take(settleRun(play.state, { outcome: 'aborted', error: null, partialContent: [] }, play.fresh));
  expect(play.take(setLeaf(play.state, 'msg_1'))).toEqual(['session_update']);
  expect(play.state.leafId).toBe('msg_1');
  expect(play.take(setLeaf(play.state, 'msg_1'))).toEqual([]);
});

test('tool calls are open from the end of the message that made them until each has its result', () => {
  const play = createPlay();
  play.prompt();
  play.answer({ text: 'I call', calls: ['echo', 'clock'] });
  expect(play.state.run).toMatchObject({
    message: null,
    turn: { responded: true, callsMade: 2 },
    calls: [
      { id: 'call_1', name: 'echo', started: false },
      { id: 'call_2', name: 'clock', started: false },
    ],
  });
  play.start('call_1');
  expect(play.state.run?.calls[0]?.started).toBe(true);
  play.finish('call_1');
  expect(play.state.run?.calls.map(({ id }) => id)).toEqual(['call_2']);
  play.finish('call_2');
  expect(play.state.run?.calls).toEqual([]);
});

test('facts that decisions do not look at leave the state as it is', () => {
  const play = createPlay();
  const { state } = play;
  const session_id = 'ses_a';
  for (const fact of [
    { type: 'warning', payload: { session_id, code: 'x', message: 'y' } },
    { type: 'error', payload: { session_id, code: 'x', message: 'y' } },
    { type: 'status', payload: { session_id, message: 'y' } },
    { type: 'ui_notify', payload: { session_id, params: { message: 'x', notify_type: 'info' } } },
  ] as const) {
    expect(evolve(state, fact)).toEqual(state);
  }
});

test('a state is never changed in place', () => {
  const play = createPlay();
  play.prompt();
  play.followUp('inp_1');
  play.answer({ calls: ['echo'] });
  const frozen = structuredClone(play.state);
  const before = play.state;
  play.start('call_1');
  play.ask();
  play.steer('inp_2');
  play.take(abortRun(play.state, false, undefined));
  play.take(settleRun(play.state, { outcome: 'aborted', error: null, partialContent: [] }, play.fresh));
  expect(before).toEqual(frozen);
});

test('an idle session is deleted at once, a running one is aborted first and deleted in the commit that ends its run', () => {
  const idle = createPlay();
  expect(idle.take(deleteSession(idle.state))).toEqual(['session_update']);
  expect(idle.state.deleted).toBe(true);

  const running = createPlay();
  running.prompt();
  running.followUp('inp_1');
  running.take(deleteSession(running.state));
  expect(running.state).toMatchObject({ deleting: true, deleted: false, inputs: [], run: { aborting: true } });
  expect(running.take(deleteSession(running.state))).toEqual([]);
  const told = running.take(settleRun(running.state, { outcome: 'aborted', error: null, partialContent: [] }, running.fresh));
  expect(told.slice(-2)).toEqual(['agent_end aborted', 'session_update']);
  expect(running.state).toMatchObject({ deleted: true, run: null });
});

test('a session that is being deleted starts no run to come', () => {
  const play = createPlay();
  play.prompt();
  play.take(abortRun(play.state, false, undefined));
  play.take(play.submit('inp_1', { command: 'steer', otherwise: 'prompt' }));
  play.take(deleteSession(play.state));
  const told = play.take(settleRun(play.state, { outcome: 'aborted', error: null, partialContent: [] }, play.fresh));
  expect(told).not.toContain('agent_start');
  expect(play.state.deleted).toBe(true);
});

test('folding is the same however the facts are cut', () => {
  const play = createPlay();
  const start = play.state;
  const facts = factsOf(play.submit('inp_1'));
  expect(fold(fold(start, facts.slice(0, 2)), facts.slice(2))).toEqual(fold(start, facts));
});

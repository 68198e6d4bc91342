import { describe, expect, test } from 'vitest';
import { isParked, resumeRun, settleLeftRun } from '../../src/core/recovery.js';
import { abortRun, beginMessage, settleRun } from '../../src/core/runs.js';
import { createPlay, factsOf, refusalOf, type CorePlay } from '../support/core-play.js';

const asksOnly = (name: string): boolean => name === 'ask_user';

function createCalling(...names: string[]): CorePlay {
  const play = createPlay();
  play.prompt();
  play.answer({ calls: names });
  return play;
}

function createEnded(outcome: 'aborted' | 'failed' | 'interrupted', ...followUps: string[]): CorePlay {
  const play = createPlay();
  play.prompt();
  for (const id of followUps) play.followUp(id);
  play.take(settleRun(play.state, { outcome, error: null, partialContent: [{ type: 'text', text: 'half' }] }, play.fresh));
  return play;
}

describe('a run that its daemon left is parked', () => {
  test('when its only open step is a question of a tool that only asks', () => {
    const play = createCalling('ask_user');
    play.start('call_1');
    play.ask();
    expect(isParked(play.state, new Set(['call_1']), asksOnly)).toBe(true);
  });

  test('when a call waits for approval and has not begun, whatever its tool', () => {
    const play = createCalling('echo');
    play.ask({ askKey: 'approval' });
    expect(isParked(play.state, new Set(['call_1']), asksOnly)).toBe(true);
  });

  test('when the answer was given and the call had not come to use it', () => {
    const play = createCalling('ask_user', 'echo');
    play.start('call_1');
    expect(isParked(play.state, new Set(['call_1']), asksOnly)).toBe(true);
  });

  test('not when a tool with effects had begun', () => {
    const play = createCalling('echo');
    play.start('call_1');
    expect(isParked(play.state, new Set(['call_1']), asksOnly)).toBe(false);
    const beside = createCalling('ask_user', 'echo');
    beside.start('call_1');
    beside.start('call_2');
    expect(isParked(beside.state, new Set(['call_1']), asksOnly)).toBe(false);
  });

  test('not when nobody was asked', () => {
    const play = createCalling('ask_user');
    expect(isParked(play.state, new Set(), asksOnly)).toBe(false);
    play.start('call_1');
    expect(isParked(play.state, new Set(), asksOnly)).toBe(false);
  });

  test('not when only a call that is over had asked', () => {
    const play = createCalling('ask_user', 'echo');
    play.start('call_1');
    play.finish('call_1');
    expect(isParked(play.state, new Set(['call_1']), asksOnly)).toBe(false);
  });

  test('not when the model was speaking, the run is being aborted, or there is none', () => {
    const speaking = createPlay();
    speaking.prompt();
    speaking.take(beginMessage(speaking.state, 'msg_x'));
    expect(isParked(speaking.state, new Set(), asksOnly)).toBe(false);
    const aborting = createCalling('ask_user');
    aborting.start('call_1');
    aborting.ask();
    aborting.take(abortRun(aborting.state, false, undefined));
    expect(isParked(aborting.state, new Set(['call_1']), asksOnly)).toBe(false);
    expect(isParked(createPlay().state, new Set(), asksOnly)).toBe(false);
  });
});

describe('a run that its daemon left is settled', () => {
  test('as interrupted, with what it had said, and its queue is paused', () => {
    const play = createPlay();
    play.prompt();
    play.followUp('inp_f');
    play.take(beginMessage(play.state, 'msg_x'));
    expect(play.take(settleLeftRun(play.state, { partialContent: [{ type: 'text', text: 'half' }], carryOn: false }, play.fresh))).toEqual([
      'message_end assistant',
      'turn_end 1',
      'queue_update paused',
      'agent_end interrupted',
    ]);
    expect(play.state).toMatchObject({ paused: true, lastRun: { outcome: 'interrupted' }, inputs: [{ input_id: 'inp_f' }] });
  });

  test('as aborted when an abort was under way, and never carried on', () => {
    const play = createPlay();
    play.prompt();
    play.take(abortRun(play.state, false, undefined));
    expect(play.take(settleLeftRun(play.state, { partialContent: [], carryOn: true }, play.fresh)).at(-1)).toBe('agent_end aborted');
    expect(play.state.run).toBeNull();
  });

  test('and the run to come that was accepted during the abort begins', () => {
    const play = createPlay();
    play.prompt();
    play.take(abortRun(play.state, false, undefined));
    play.take(play.submit('inp_2', { command: 'steer', otherwise: 'prompt' }));
    play.take(settleLeftRun(play.state, { partialContent: [], carryOn: false }, play.fresh));
    expect(play.state.run).toMatchObject({ turn: { inputIds: ['inp_2'] } });
  });

  test('and carried on in the same decision if the session says so', () => {
    const play = createPlay();
    play.prompt();
    const left = play.state.run?.id;
    const decision = settleLeftRun(play.state, { partialContent: [], carryOn: true }, play.fresh);
    expect(factsOf(decision).find((fact) => fact.type === 'agent_start')).toMatchObject({ payload: { resumes: left } });
    expect(play.take(decision)).toEqual([
      'turn_end 1',
      'queue_update paused',
      'agent_end interrupted',
      'queue_update resumed',
      'agent_start',
      'turn_start 1 prompt',
    ]);
    expect(play.state.run?.id).not.toBe(left);
  });
});

describe('resuming the last run', () => {
  function resume(play: CorePlay, action: 'retry' | 'continue' | 'abandon', retryEntryId: string | undefined = 'msg_user') {
    return resumeRun(play.state, play.state.lastRun?.id ?? '', action, { retryEntryId }, play.fresh);
  }

  test('retry moves the leaf to the last user message and asks the model again', () => {
    const play = createEnded('interrupted');
    const left = play.state.lastRun?.id;
    const decision = resume(play, 'retry');
    expect(factsOf(decision)).toMatchObject([
      { type: 'session_update', payload: { leaf_id: 'msg_user' } },
      { type: 'queue_update', payload: { op: 'resumed' } },
      { type: 'agent_start', payload: { resumes: left } },
      { type: 'turn_start', payload: { turn_id: '1', input_ids: [] } },
    ]);
    play.take(decision);
    expect(play.state).toMatchObject({ leafId: 'msg_user', paused: false });
    expect(decision).toMatchObject({ reply: { runId: play.state.run?.id } });
  });

  test('continue leaves the history as it is', () => {
    const play = createEnded('failed');
    const { leafId } = play.state;
    expect(play.take(resume(play, 'continue'))).toEqual(['queue_update resumed', 'agent_start', 'turn_start 1 prompt']);
    expect(play.state.leafId).toBe(leafId);
  });

  test('what waited follows the resumed run by the usual rules', () => {
    const play = createEnded('interrupted', 'inp_f');
    play.take(resume(play, 'continue'));
    play.answer({ text: 'x' });
    expect(play.endTurn()).toContain('queue_update taken inp_f');
  });

  test('abandon marks it and unpauses, and nothing else', () => {
    const play = createEnded('interrupted');
    expect(play.take(resume(play, 'abandon'))).toEqual(['status', 'queue_update resumed']);
    expect(play.state).toMatchObject({ run: null, paused: false });
  });

  test('is for the last run only, and not while one is in progress', () => {
    const play = createEnded('interrupted');
    expect(refusalOf(resumeRun(play.state, 'run_other', 'retry', { retryEntryId: 'msg' }, play.fresh))).toBe('run_not_found');
    const left = play.state.lastRun?.id ?? '';
    play.take(resume(play, 'retry'));
    expect(refusalOf(resumeRun(play.state, left, 'retry', { retryEntryId: 'msg' }, play.fresh))).toBe('run_in_progress');
  });

  test('needs a message to go on from; a complete run has nothing to continue', () => {
    const play = createEnded('interrupted');
    expect(refusalOf(resumeRun(play.state, play.state.lastRun?.id ?? '', 'retry', { retryEntryId: undefined }, play.fresh))).toBe(
      'run_not_found',
    );
    const complete = createPlay();
    complete.prompt();
    complete.answer({ text: 'x' });
    complete.endTurn();
    expect(refusalOf(resume(complete, 'continue'))).toBe('run_not_found');
    expect(complete.take(resume(complete, 'retry'))).toContain('agent_start');
  });
});

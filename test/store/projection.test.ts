import { expect, test } from 'vitest';
import { clearQueue, removeQueued, resumeQueue, updateQueued } from '../../src/core/inputs.js';
import { resumeRun, settleLeftRun } from '../../src/core/recovery.js';
import { answerRequest, askPerson, closeRequest } from '../../src/core/requests.js';
import {
  abortRun,
  beginMessage,
  endCalls,
  endMessage,
  endTurn,
  settleRun,
  skipForSteer,
  startCall,
  stopForDenial,
} from '../../src/core/runs.js';
import { emptySession, evolve, type SessionState } from '../../src/core/session.js';
import { changeSettings, deleteSession, setLeaf } from '../../src/core/settings.js';
import type { Decision, Fresh } from '../../src/core/decision.js';
import type { ContentBlock } from '../../src/protocol/messages.js';
import type { LogLine } from '../../src/server/lines/log-line.js';
import { createLogLines, type LogLines } from '../../src/server/lines/log-lines.js';
import { createTestEngine, type TestEngine } from '../support/engine.js';
import { questionParams } from '../support/requests.js';

function expectFoldIsRows(berth: TestEngine, session: string): void {
  const folded = berth.events(session).reduce<SessionState>(evolve, emptySession(session));
  expect(berth.store.load(session)).toEqual(folded);
}

/** Small and good enough: the same seed makes the same walk. */
function createRandom(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

type Move = (state: SessionState, fresh: Fresh, pick: (below: number) => number) => Decision<unknown>;

const done = { content: [{ type: 'text' as const, text: 'done' }], isError: false, skipped: false, durationMs: 1 };

/** The model is to answer, and has not. */
function awaitsWords(state: SessionState): boolean {
  return state.run?.turn?.responded === false;
}

/** Everything that can be decided about a session. Words and ends of turns come only where the engine would let them. */
const moves: Record<string, Move> = {
  begin: (state, fresh) => (awaitsWords(state) && !state.run?.message ? beginMessage(state, fresh.id('msg')) : changeSettings(state, {})),
  speak: (state, fresh, pick) => {
    if (!awaitsWords(state) || !state.run?.message) return changeSettings(state, {});
    const calls = pick(4);
    const { turns } = state.run;
    const content: ContentBlock[] = [
      ...(pick(3) > 0 ? [{ type: 'text' as const, text: `words ${pick(1000)}` }] : []),
      ...Array.from({ length: calls }, (_, index) => ({
        type: 'tool_call' as const,
        id: `c${turns}_${index}`,
        name: 'echo',
        arguments: {},
      })),
    ];
    const usage = pick(2) === 0 ? null : { input: pick(9), output: pick(9), cache_read: 0, cache_write: 0, cost_usd: null };
    return endMessage(state, { id: state.run.message.id, content, usage }, pick(2) === 0 ? null : pick(100), fresh);
  },
  start: (state, _fresh, pick) => startCall(state, state.run?.calls[pick(3)]?.id ?? '', 'title'),
  finish: (state, fresh, pick) => endCalls(state, [{ id: state.run?.calls[pick(3)]?.id ?? '', result: done }], fresh),
  skip: (state, fresh) => skipForSteer(state, fresh),
  endTurn: (state, fresh) =>
    state.run?.turn?.responded && state.run.calls.length === 0 ? endTurn(state, fresh) : changeSettings(state, {}),
  abort: (state, _fresh, pick) => abortRun(state, pick(2) === 0, undefined),
  settle: (state, fresh, pick) => {
    const outcome = state.run?.aborting ? 'aborted' : pick(2) === 0 ? 'failed' : 'interrupted';
    return settleRun(
      state,
      { outcome, error: outcome === 'failed' ? { code: 'provider_error', message: 'no' } : null, partialContent: [] },
      fresh,
    );
  },
  left: (state, fresh, pick) => settleLeftRun(state, { partialContent: [{ type: 'text', text: 'half' }], carryOn: pick(2) === 0 }, fresh),
  deny: (state, fresh) =>
    state.run && !state.run.message
      ? stopForDenial(state, state.run.calls[0]?.id ?? '', 'Denied by the person.', fresh)
      : changeSettings(state, {}),
  ask: (state, fresh, pick) => {
    const call = state.run?.calls[pick(3)];
    const id = fresh.id('req');
    if (!call) return changeSettings(state, {});
    return askPerson(state, {
      id,
      toolCallId: call.id,
      askKey: id,
      params: questionParams('input'),
      expiresAtMs: pick(2) ? fresh.nowMs : null,
    });
  },
  answer: (state, _fresh, pick) =>
    answerRequest(
      state,
      state.requests[pick(2)]?.request_id ?? '',
      { by: 'me', result: `answer ${pick(9)}`, cancelled: pick(3) === 0 },
      { count: () => 0, find: () => undefined, last: () => 0 },
    ),
  expire: (state, _fresh, pick) => closeRequest(state, state.requests[pick(2)]?.request_id ?? '', pick(2) ? 'timeout' : 'denied'),
  edit: (state, fresh, pick) => {
    const input = state.inputs[pick(4)];
    return updateQueued(
      state,
      {
        inputId: input?.input_id ?? '',
        revision: input?.revision ?? 1,
        ...(pick(2) ? { text: `edited ${pick(99)}` } : {}),
        ...(pick(3) ? {} : { kind: pick(2) ? 'steer' : 'follow_up' }),
        ...(pick(2) ? { position: pick(4) } : {}),
        ...(pick(2) ? { hold: pick(2) === 0 } : {}),
      },
      fresh,
    );
  },
  remove: (state, _fresh, pick) => removeQueued(state, state.inputs[pick(4)]?.input_id ?? ''),
  clear: (state, _fresh, pick) => (pick(4) === 0 ? clearQueue(state) : changeSettings(state, {})),
  resumeQueue: (state, fresh) => resumeQueue(state, fresh),
  resumeRun: (state, fresh, pick) =>
    resumeRun(
      state,
      state.lastRun?.id ?? '',
      (['retry', 'continue', 'abandon'] as const)[pick(3)] ?? 'retry',
      { retryEntryId: state.leafId ?? undefined },
      fresh,
    ),
  settings: (state, _fresh, pick) =>
    changeSettings(state, {
      title: `title ${pick(99)}`,
      steering_mode: pick(2) ? 'all' : 'one-at-a-time',
      follow_up_mode: pick(2) ? 'all' : 'one-at-a-time',
      thinking: pick(2) ? 'high' : 'off',
      archived: pick(2) === 0,
      active_tools: pick(2) ? null : ['echo'],
    }),
  leaf: (state) => (state.leafId === null ? changeSettings(state, {}) : setLeaf(state, state.leafId)),
};
const names = Object.keys(moves);

test.each(Array.from({ length: 8 }, (_, index) => index + 1))('rows are the fold of the log, whatever happened (seed %i)', async (seed) => {
  // The drainers must not take part: what is to be driven is decided here.
  await using berth = createTestEngine({ runsAtOnceMax: 1 });
  const blocker = berth.session();
  berth.prompt(blocker);
  await berth.model.next();
  const session = berth.session();
  const pick = createRandom(seed);
  let accepted = 0;
  for (let step = 0; step < 150; step++) {
    const input = pick(names.length + 3);
    if (input >= names.length) {
      const command = (['prompt', 'steer', 'follow_up'] as const)[input - names.length] ?? 'prompt';
      const content = pick(4) === 0 ? [{ type: 'image' as const, data: 'AA==', mime_type: 'image/png' }] : null;
      const otherwise = command === 'prompt' ? (pick(2) ? 'follow_up' : 'reject') : pick(2) ? 'prompt' : 'reject';
      accepted += Number(berth.submit(session, command, `text ${step}`, { content, otherwise }).ok);
    } else {
      const name = names[input]!;
      accepted += Number(berth.engine.commit.decide(session, (state, fresh) => moves[name]!(state, fresh, pick)).ok);
    }
    if (step % 4 === 0) expectFoldIsRows(berth, session);
  }
  expect(accepted).toBeGreaterThan(40);
  expect(berth.store.db.pragma('foreign_key_check')).toEqual([]);
  const starts = berth.told(session).filter((words) => words === 'agent_start').length;
  const ends = berth.told(session).filter((words) => words.startsWith('agent_end')).length;
  expect(starts - ends).toBe(berth.store.load(session)?.run ? 1 : 0);
  expect(berth.engine.commit.decide(session, deleteSession).ok).toBe(true);
});

test('who reads rows is told the same as those who heard it first', async () => {
  await using berth = createTestEngine();
  const toldLines = createLogLines(berth.engine);
  const session = berth.session();
  berth.prompt(session, 'long '.repeat(100));
  const call = await berth.model.next();
  berth.submit(session, 'follow_up', 'first', { id: 'inp_1' });
  berth.submit(session, 'steer', 'x'.repeat(400_000), { id: 'inp_2' });
  berth.submit(session, 'follow_up', '🙂\u2028"', { id: 'inp_3' });
  const edit = (change: object) =>
    berth.engine.commit.decide(session, (state, fresh) => updateQueued(state, { inputId: 'inp_1', revision: 1, ...change }, fresh));
  expect(edit({ text: 'edited', hold: true }).ok).toBe(true);
  expect(edit({ revision: 2, hold: false }).ok).toBe(true);
  expect(edit({ revision: 3, text: 'again', position: 0 }).ok).toBe(true);
  berth.engine.commit.decide(session, (state) => removeQueued(state, 'inp_2'));
  call.say('answer '.repeat(300_000)).call('nothing').end();
  (await berth.model.next()).think('hm').fail('no');
  await berth.idle(session);
  berth.prompt(session, 'again');
  await berth.model.next();
  berth.abort(session);
  await berth.idle(session);
  const readAll = (log: LogLines): LogLine[] => {
    let lines: LogLine[] = [];
    for (let after = 0; ; after = lines.at(-1)?.seq ?? 0) {
      const page = log.readAfter({ sessionId: session }, after);
      lines = [...lines, ...page.lines];
      if (!page.more) return lines;
    }
  };
  const told = readAll(toldLines);
  await using other = berth.crash();
  const read = readAll(createLogLines(other.engine));
  const parse = ({ pieces }: LogLine): unknown => JSON.parse(Buffer.concat(pieces).toString());
  const heard = new Map(told.map((line) => [line.seq, parse(line)]));
  for (const line of read) if (heard.has(line.seq)) expect(parse(line)).toEqual(heard.get(line.seq));
  expect(read.length).toBeGreaterThan(30);
  expect(told.length).toBeGreaterThan(10);
});

test('an input with images that is edited keeps its images and has its new words', async () => {
  await using berth = createTestEngine();
  const session = berth.session();
  berth.prompt(session);
  const call = await berth.model.next();
  const image = { type: 'image' as const, data: 'AA==', mime_type: 'image/png' };
  berth.submit(session, 'follow_up', 'look', { id: 'inp_1', content: [image] });
  berth.submit(session, 'follow_up', '', { id: 'inp_2', content: [{ type: 'text', text: 'inside' }, image] });
  for (const inputId of ['inp_1', 'inp_2']) {
    const edited = berth.engine.commit.decide(session, (state, fresh) => updateQueued(state, { inputId, revision: 1, text: 'see' }, fresh));
    expect(edited.ok).toBe(true);
  }
  expectFoldIsRows(berth, session);
  call.say('x').end();
  for (let turn = 0; turn < 2; turn++) {
    const next = await berth.model.next();
    expect(next.request.messages.at(-1)?.content).toEqual([{ type: 'text', text: 'see' }, image]);
    next.say('y').end();
  }
  await berth.idle(session);
});

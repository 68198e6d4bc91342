import { expect, test } from 'vitest';
import { updateQueued } from '../../src/core/inputs.js';
import { deleteSession } from '../../src/core/settings.js';
import { createAskUserTool } from '../../src/tools/talk/ask-user.js';
import { brief } from '../support/core-play.js';
import { createTestEngine, type EngineSetup, type TestEngine } from '../support/engine.js';
import { createGate } from '../support/gate-tool.js';

/** An engine of which it is known where each commit ended. */
function createWatched(setup: EngineSetup = {}, from?: TestEngine): { berth: TestEngine; commits(session: string): string[][] } {
  const ends: number[] = [];
  const watched: EngineSetup = {
    ...setup,
    fault(point) {
      if (point === 'commit.inside') ends.push(berth.store.db.prepare<[], number>('SELECT max(seq) FROM event').pluck().get() ?? 0);
    },
  };
  const berth: TestEngine = from ? from.crash(watched) : createTestEngine(watched);
  ends.push(berth.store.log.head());
  return {
    berth,
    commits(session) {
      const groups = new Map<number, string[]>();
      for (const event of berth.events(session)) {
        const end = ends.find((seq) => seq >= event.seq) ?? 0;
        groups.set(end, [...(groups.get(end) ?? []), ...brief([event])]);
      }
      return [...groups.values()];
    },
  };
}

test('what belongs together is one commit: a run with a tool, a steer, a follow-up and its end', async () => {
  const gate = createGate();
  const { berth, commits } = createWatched({ tools: [gate.tool] });
  await using _disposed = berth;
  const session = berth.session();
  berth.prompt(session);
  (await berth.model.next()).begin().call('gate', { key: 'a' }, 'c1').call('gate', { key: 'b' }, 'c2').end();
  await gate.arrive(1);
  berth.submit(session, 'follow_up', 'f', { id: 'inp_f' });
  berth.submit(session, 'steer', 's', { id: 'inp_s' });
  gate.open('a');
  (await berth.model.next()).say('x').end();
  (await berth.model.next()).say('y').end();
  await berth.idle(session);
  expect(commits(session)).toEqual([
    ['session_update'],
    ['agent_start', 'turn_start 1 prompt', 'message_start user', 'message_end user'],
    ['message_start assistant'],
    ['message_end assistant'],
    ['tool_execution_start c1'],
    ['queue_update added inp_f'],
    ['queue_update added inp_s'],
    [
      'tool_execution_end c1',
      'message_start tool_result',
      'message_end tool_result',
      'tool_execution_start c2',
      'tool_execution_end c2 skipped',
      'message_start tool_result',
      'message_end tool_result',
    ],
    ['turn_end 1', 'queue_update taken inp_s', 'turn_start 2 steer', 'message_start user', 'message_end user'],
    ['message_start assistant'],
    ['message_end assistant', 'turn_end 2', 'queue_update taken inp_f', 'turn_start 3 follow_up', 'message_start user', 'message_end user'],
    ['message_start assistant'],
    ['message_end assistant', 'turn_end 3', 'agent_end completed'],
  ]);
});

test('an abort is two commits: the queue is dropped in the first, everything is closed in the second', async () => {
  const gate = createGate();
  const { berth, commits } = createWatched({ tools: [gate.tool] });
  await using _disposed = berth;
  const session = berth.session();
  berth.prompt(session);
  (await berth.model.next()).call('gate', { key: 'a' }, 'c1').call('gate', { key: 'b' }, 'c2').end();
  await gate.arrive(1);
  berth.submit(session, 'follow_up', 'f', { id: 'inp_f' });
  berth.abort(session);
  await berth.idle(session);
  expect(commits(session).slice(-2)).toEqual([
    ['status', 'queue_update dropped'],
    [
      'tool_execution_end c1',
      'message_start tool_result',
      'message_end tool_result',
      'tool_execution_start c2',
      'tool_execution_end c2 skipped',
      'message_start tool_result',
      'message_end tool_result',
      'turn_end 1',
      'agent_end aborted',
    ],
  ]);
});

test('a denial and the end it brings are one commit', async () => {
  const gate = createGate('gate', { approval: true });
  const { berth, commits } = createWatched({ tools: [gate.tool] });
  await using _disposed = berth;
  const session = berth.session();
  berth.prompt(session);
  (await berth.model.next()).call('gate', { key: 'a' }, 'c1').end();
  berth.answer(await berth.asked(session), { result: 'deny' });
  await berth.idle(session);
  expect(commits(session).slice(-2)).toEqual([
    ['ui_resolved test answered'],
    [
      'status',
      'tool_execution_start c1',
      'tool_execution_end c1 skipped',
      'message_start tool_result',
      'message_end tool_result',
      'turn_end 1',
      'agent_end aborted',
    ],
  ]);
});

test('what a dead daemon left is closed in one commit a run, and continued in the same one where the session says so', async () => {
  const gate = createGate();
  await using berth = createTestEngine({ tools: [gate.tool] });
  const [paused, continued] = [berth.session(), berth.session({ recovery: 'continue' })];
  for (const session of [paused, continued]) {
    berth.prompt(session);
    (await berth.model.next()).call('gate', { key: session }, 'c1').end();
  }
  await gate.arrive(2);
  const { berth: after, commits } = createWatched({ tools: [gate.tool] }, berth);
  await using _disposed = after;
  expect(after.engine.recover()).toMatchObject({ settled: 2 });
  const closed = [
    'tool_execution_end c1',
    'message_start tool_result',
    'message_end tool_result',
    'turn_end 1',
    'queue_update paused',
    'agent_end interrupted',
  ];
  expect(commits(paused).at(-1)).toEqual(closed);
  expect(commits(continued).at(-1)).toEqual([...closed, 'queue_update resumed', 'agent_start', 'turn_start 1 prompt']);
  (await after.model.next()).say('on').end();
  await after.idle(continued);
});

test('several changes to a waiting input are one commit', async () => {
  const { berth, commits } = createWatched();
  await using _disposed = berth;
  const session = berth.session();
  berth.prompt(session);
  await berth.model.next();
  for (const id of ['inp_1', 'inp_2']) berth.submit(session, 'follow_up', id, { id });
  const change = { inputId: 'inp_2', revision: 1, text: 'new', hold: true, position: 0 };
  expect(berth.engine.commit.decide(session, (state, fresh) => updateQueued(state, change, fresh)).ok).toBe(true);
  expect(commits(session).at(-1)).toEqual(['queue_update edited inp_2', 'queue_update held inp_2', 'queue_update moved']);
});

test('a session that is deleted while it asks: the run ends and the session with it, in one commit', async () => {
  const { berth, commits } = createWatched({ tools: [createAskUserTool()] });
  await using _disposed = berth;
  const session = berth.session();
  berth.prompt(session);
  (await berth.model.next()).call('ask_user', { method: 'confirm', title: 'Sure?' }, 'c1').end();
  await berth.asked(session);
  let last: string[] | undefined;
  expect(berth.engine.commit.decide(session, deleteSession).ok).toBe(true);
  await berth.until(session, () => {
    last = commits(session).at(-1);
    return berth.store.sessions.exists(session) ? undefined : true;
  });
  expect(last).toEqual([
    'ui_resolved abort aborted',
    'tool_execution_end c1',
    'message_start tool_result',
    'message_end tool_result',
    'turn_end 1',
    'agent_end aborted',
    'session_update',
  ]);
});

test('two hundred follow-ups in mode all are one turn, in order', async () => {
  await using berth = createTestEngine();
  const session = berth.session({ follow_up_mode: 'all' });
  berth.prompt(session);
  const call = await berth.model.next();
  const texts = Array.from({ length: 200 }, (_, i) => `f${i}`);
  for (const text of texts) expect(berth.submit(session, 'follow_up', text).ok).toBe(true);
  call.say('x').end();
  const next = await berth.model.next();
  expect(next.request.messages.slice(2).map(({ content }) => (content[0]?.type === 'text' ? content[0].text : ''))).toEqual(texts);
  next.say('y').end();
  await berth.idle(session);
  expect(berth.told(session).filter((words) => words.startsWith('turn_start'))).toHaveLength(2);
});

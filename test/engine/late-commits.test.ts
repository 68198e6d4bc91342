import { expect, test } from 'vitest';
import { z } from 'zod';
import { limits } from '../../src/protocol/limits.js';
import { loadSqlite } from '../../src/store/sqlite.js';
import { toolText, type Tool } from '../../src/tools/port.js';
import { createTestEngine, type TestEngine } from '../support/engine.js';
import { questionParams } from '../support/requests.js';
import { zodParameters } from '../../src/tools/zod-parameters.js';

const Sqlite = loadSqlite();

/** Another program that holds the store until some commits of the engine had to wait for a while. */
async function holdWhileParked(berth: TestEngine, session: string, work: () => void): Promise<void> {
  const theirs = new Sqlite(berth.dbPath);
  theirs.exec('BEGIN IMMEDIATE');
  work();
  await berth.until(session, () => (berth.engine.signals.shown(session).status.store === undefined ? undefined : true));
  // The pauses between two tries get longer (100, 200, 400 ms…): now the next one is some time away.
  await new Promise((resolve) => setTimeout(resolve, 3.5 * limits.commitRetryMinMs));
  theirs.exec('ROLLBACK');
  theirs.close();
}

/** The commit that waited was tried once more: the session no longer says that it waits for the store. */
async function triedAgain(berth: TestEngine, session: string): Promise<void> {
  await berth.until(session, () => (berth.engine.signals.shown(session).status.store === undefined ? true : undefined));
}

/** A tool that asks when the test says so, whatever its signal says. */
function createAsking(onReady: (askNow: () => void) => void): Tool {
  return {
    name: 'asking',
    description: 'asking',
    parameters: zodParameters(z.unknown()),
    readOnly: false,
    resumable: false,
    title: () => 'asking',
    async run(_args, { ask }) {
      await new Promise<void>((resolve) => onReady(resolve));
      return toolText(String(await ask('q', { params: questionParams('confirm', { title: 'Still there?' }), timeoutMs: null })));
    },
  };
}

function expectClosed(berth: TestEngine, session: string): void {
  const events = berth.events(session);
  const started = events.flatMap((event) => (event.type === 'message_start' ? [event.payload.message_id] : []));
  const ended = events.flatMap((event) => (event.type === 'message_end' ? [event.payload.message_id] : []));
  expect(ended.toSorted()).toEqual(started.toSorted());
  const asked = events.flatMap((event) => (event.type === 'ui_request' ? [event.payload.request_id] : []));
  const resolved = events.flatMap((event) => (event.type === 'ui_resolved' ? [event.payload.request_id] : []));
  expect(resolved.toSorted()).toEqual(asked.toSorted());
  expect(berth.engine.live.openIn({ sessionId: session })).toEqual([]);
  expect(berth.store.load(session)).toMatchObject({ run: null, requests: [] });
}

test('the beginning of a message that had to wait for the store is not told in the next run', async () => {
  await using berth = createTestEngine();
  const session = berth.session();
  berth.prompt(session);
  const call = await berth.model.next();
  await holdWhileParked(berth, session, () => call.begin());
  berth.abort(session);
  await berth.idle(session);
  const second = berth.prompt(session, 'again');
  const next = await berth.model.next();
  await triedAgain(berth, session);
  next.say('fresh').end();
  await berth.idle(session);
  expect(berth.events(session).filter((event) => event.type === 'message_start' && event.payload.run_id === second)).toHaveLength(2);
  expect(berth.history(session)).toEqual(['user: go', 'user: again', 'assistant: fresh']);
  expectClosed(berth, session);
});

test('a question that had to wait for the store is not put in the next run', async () => {
  let askNow: (() => void) | undefined;
  const asking = createAsking((go) => (askNow = go));
  await using berth = createTestEngine({ tools: [asking] });
  const session = berth.session();
  berth.prompt(session);
  (await berth.model.next()).call('asking').end();
  await berth.until(session, () => askNow);
  await holdWhileParked(berth, session, () => askNow?.());
  berth.abort(session);
  await berth.idle(session);
  berth.prompt(session, 'again');
  const next = await berth.model.next();
  await triedAgain(berth, session);
  expect(berth.store.requests.open(session)).toEqual([]);
  next.say('fresh').end();
  await berth.idle(session);
  expectClosed(berth, session);
});

test('a tool that does not listen and asks when its run is over asks nobody', async () => {
  let askNow: (() => void) | undefined;
  const asking = createAsking((go) => (askNow = go));
  await using berth = createTestEngine({ tools: [asking] });
  const session = berth.session();
  berth.prompt(session);
  (await berth.model.next()).call('asking').end();
  await berth.until(session, () => askNow);
  berth.abort(session);
  await berth.idle(session);
  berth.prompt(session, 'again');
  const next = await berth.model.next();
  askNow?.();
  await berth.otherRun();
  expect(berth.store.requests.open(session)).toEqual([]);
  next.say('fresh').end();
  await berth.idle(session);
  expectClosed(berth, session);
});

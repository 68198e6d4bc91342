import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate as turnOfLoop } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { vi } from 'vitest';
import { applyEvent, emptyView, viewOf, type SessionView } from '../../src/view/session-view.js';
import { allSessions } from '../../src/core/scope.js';
import { emptySession, evolve, type SessionState } from '../../src/core/session.js';
import { createEngine, type Engine } from '../../src/engine/engine.js';
import { commands, type CommandInput, type CommandType, type ReplyPayload } from '../../src/protocol/commands/commands.js';
import type { Refusal } from '../../src/protocol/errors.js';
import type { DurableEvent, WireEvent } from '../../src/protocol/events.js';
import { noSession } from '../../src/protocol/ids.js';
import { makeId, type IdPrefix } from '../../src/protocol/ids.js';
import type { Message } from '../../src/protocol/messages.js';
import { createOfflineProvider } from '../../src/providers/offline/offline-provider.js';
import { toDeltaList, type ModelDelta, type ModelRequest } from '../../src/providers/port.js';
import { createClients, type Client } from '../../src/server/clients.js';
import { encodeAnswer } from '../../src/server/command-server.js';
import type { Answer, Handlers, Later } from '../../src/server/handler.js';
import { createHandlers } from '../../src/server/handlers.js';
import { createLines, type Lines } from '../../src/server/lines/lines.js';
import type { LineSink } from '../../src/server/lines/line-sink.js';
import { createLogCursor, type LogCursor } from '../../src/server/log-cursor.js';
import { createStateView } from '../../src/server/state-view.js';
import { openOrCreate } from '../../src/store/create.js';
import { readMigrations } from '../../src/store/migrate.js';
import type { Database } from '../../src/store/sqlite.js';
import { createStore, type Store } from '../../src/store/store.js';
import { createAskUserTool } from '../../src/tools/talk/ask-user.js';
import { createClockTool } from '../../src/providers/offline/clock.js';
import { createEchoTool } from '../../src/providers/offline/echo.js';
import type { Tool } from '../../src/tools/port.js';
import { withCheckedHistories } from '../support/checked-history.js';
import { createLogMonitor } from '../support/log-monitor.js';
import { same, toldBy } from './agree.js';
import { ownReply, peekTool } from './own-script.js';
import { checkRequest } from './strict-provider.js';
import { inPlace, toEntry, withoutHands, withoutModels } from '../support/engine.js';

const migrations = readMigrations(fileURLToPath(new URL('../../migrations', import.meta.url)));
/** So many turns of the event loop are more than any sequence needs to come to rest. */
const turnsToRestMax = 5_000;
const slotsMax = 2;
/** Memory, where there is a file system in it: here nothing hangs on what a disk does. */
const folder = existsSync('/dev/shm') ? '/dev/shm' : tmpdir();

/** The engine was killed in the middle of something: whoever waits for it gets no answer. */
export class Died extends Error {
  override name = 'Died';
}

export type WorldReply<T extends CommandType> =
  { ok: true; type: string; seq: number; payload: ReplyPayload<T> } | { ok: false; error: Refusal };

/** Numbers that are the same for the same seed. */
export function createRandom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

interface Boot {
  db: Database;
  store: Store;
  engine: Engine;
  lines: Lines;
  handlers: Handlers;
  client: Client;
  life: { dead: boolean };
}

/** A client that came at some moment and has heard everything since. */
interface Onlooker {
  sessionId: string;
  view: SessionView;
}

/** A client that reads when it likes, with the deltas. */
interface SlowReader {
  view: SessionView;
  cursor: LogCursor;
  stop(): void;
}

/**
 * A store, an engine on it that can be killed at any commit, and clients that look on. Everything follows from the seed;
 * `setTimeout` must be a fake, so that time passes only when it is told to.
 */
export function createWorld(seed: number) {
  const root = mkdtempSync(join(folder, 'berth-model-'));
  const random = createRandom(seed);
  const monitor = createLogMonitor({ readOnlyTools: ['clock', 'peek'] });
  const folded = new Map<string, SessionState>();
  const onlookers: Onlooker[] = [];
  const slowReaders: SlowReader[] = [];
  const commitEnds = new Set<number>();
  let nowMs = 1_790_000_000_000;
  let clockMs = 0;
  let bug: unknown;
  let attended = true;
  let fuse: { point: string; left: number } | undefined;
  let boot: Boot | undefined;
  let turns = 0;

  function newId(prefix: IdPrefix): string {
    return makeId(
      prefix,
      nowMs,
      Uint8Array.from({ length: 12 }, () => Math.floor(random() * 256)),
    );
  }

  function now(): number {
    // Many things happen within a millisecond.
    if (random() < 0.2) nowMs++;
    return nowMs;
  }

  function running(): Boot {
    assert(boot, 'the engine is not running');
    return boot;
  }

  /** A database that takes nothing any more once its engine is dead, as if its process were gone. */
  function openMortal(life: { dead: boolean }): Database {
    const db = openOrCreate(join(root, 'berth.db'), migrations);
    const transaction = db.transaction.bind(db);
    db.transaction = ((work: (...args: unknown[]) => unknown) => {
      if (life.dead) throw Object.assign(new Error('dead'), { code: 'SQLITE_BUSY' });
      return transaction((...args: unknown[]) => {
        if (life.dead) throw new Died();
        try {
          return work(...args);
        } catch (error) {
          if (error instanceof Died) throw error;
          // A commit that breaks is a bug, wherever it was made; nobody is there to catch the housekeeper's.
          bug ??= error;
          throw Object.assign(new Error('broken'), { code: 'SQLITE_BUSY' });
        }
      });
    }) as Database['transaction'];
    return db;
  }

  function start(): void {
    const life = { dead: false };
    const db = openMortal(life);
    const store = withCheckedHistories(createStore(db, newId('boot')));
    const committed = store.write.log.committed;
    store.write.log.committed = (seq: number) => {
      commitEnds.add(seq);
      committed(seq);
    };
    const clients = createClients({ onChange: () => undefined });
    const guide = createOfflineProvider({ wordsPerSecond: 0 });
    const sleep = async (_ms: number, signal: AbortSignal): Promise<void> => {
      clockMs += 100;
      for (let i = 0; i < 3 && !signal.aborted; i++) await turnOfLoop();
    };
    async function* stream(request: ModelRequest, signal: AbortSignal): AsyncGenerator<ModelDelta, void> {
      const problem = checkRequest(request);
      if (problem !== undefined) bug ??= new Error(`a provider would refuse this: ${problem}`);
      for await (const came of ownReply(request) ?? guide.stream(request, signal)) {
        for (const delta of toDeltaList(came)) {
          if (life.dead) return;
          yield delta;
          await turnOfLoop();
        }
      }
    }
    const noted = (error: unknown): never => {
      if (!life.dead && !(error instanceof Died)) bug ??= error;
      // Whatever the dead engine still tries ends here.
      return undefined as never;
    };
    const engine = createEngine({
      store,
      place: inPlace,
      ...withoutModels(),
      ...withoutHands(root),
      providers: () => ({
        facts: () => ({ contextWindow: null, maxOutput: null, price: null }),
        names: () => ['offline'],
        list: () => Promise.resolve({ models: [], providers: [] }),
        find: (model) => (model.startsWith('offline/') ? { stream } : undefined),
      }),
      tools: [createClockTool({ now }), createEchoTool({ sleep, now: () => clockMs }), createAskUserTool(), peekTool].map((tool) =>
        toEntry(tool as Tool),
      ),
      runsAtOnceMax: slotsMax,
      now,
      clock: () => clockMs,
      newId,
      attended: () => attended,
      fault(point) {
        if (life.dead || fuse?.point !== point || --fuse.left > 0) return;
        fuse = undefined;
        kill();
        throw new Died();
      },
      onFatal: noted,
      onBug: noted,
    });
    const { listen } = engine.wakes;
    engine.wakes.listen = (listener) =>
      listen((sessionId) => {
        try {
          listener(sessionId);
        } catch (error) {
          noted(error);
        }
      });
    const facts = {
      version: 'model',
      startedAt: '',
      socketPath: '',
      stateDir: root,
      configDir: root,
      logFile: '',
      logId: 'log_model',
      unit: null,
      isDraining: () => false,
      configProblem: () => null,
      isConfigStale: () => false,
      configWarnings: () => [],
      storeStatus: () => ({ db_bytes: 0, wal_bytes: 0, artifact_bytes: 0, log_bytes: 0, free_bytes: 0, warnings: [] }),
      backUpStore: () => Promise.resolve(0),
      reloadConfig: () => ({ changed: [], needsRestart: [], problem: null }),
      startDraining: () => undefined,
      shutdown: () => Promise.resolve(),
    };
    const handlers = createHandlers({
      engine,
      clients,
      viewState: createStateView(engine, clients),
      newId,
      sessionDefaults: () => ({ cwd: root, model: 'offline/guide', thinking: 'off' }),
      daemon: facts,
    });
    const client = clients.add(newId('cli'));
    client.saidHello = true;
    boot = { db, store, engine, lines: createLines(engine, now), handlers, client, life };
    try {
      engine.recover();
    } catch (error) {
      if (!(error instanceof Died)) throw error;
    }
  }

  /** As kill -9 does: from here on nothing of this engine reaches the store. */
  function kill(): void {
    const { life, engine } = running();
    life.dead = true;
    for (const message of engine.live.openIn(allSessions)) engine.live.end(message);
  }

  async function bury(): Promise<void> {
    const { db, life, engine } = running();
    assert(life.dead);
    for (const reader of slowReaders.splice(0)) reader.stop();
    boot = undefined;
    // What it had begun runs into the closed door now.
    await engine.stop();
    for (let i = 0; i < 3; i++) await turnOfLoop();
    db.close();
  }

  /** Boots until one lives: a fuse may burn through during recovery. */
  async function restart(): Promise<void> {
    if (boot) await bury();
    do {
      if (boot) await bury();
      start();
    } while (running().life.dead);
    sync();
  }

  /** Everybody hears what was committed since they last listened; after every commit all that is known must agree. */
  function sync(): void {
    if (bug !== undefined) throw bug as Error;
    const { lines, life } = running();
    if (life.dead) return;
    const touched = new Set<string>();
    const inCommit = new Set<string>();
    for (let more = true; more;) {
      const page = lines.log.readAfter(allSessions, monitor.seq());
      for (const { pieces } of page.lines) {
        const event = JSON.parse(Buffer.concat(pieces).toString()) as DurableEvent;
        const { session_id } = event.payload;
        monitor.feed(event);
        inCommit.add(session_id);
        if (commitEnds.delete(event.seq)) {
          for (const id of inCommit) if (id !== noSession) monitor.checkWhole(id);
          inCommit.clear();
        }
        if (session_id === noSession) continue;
        if (!folded.has(session_id)) {
          folded.set(session_id, emptySession(session_id));
          onlookers.push({ sessionId: session_id, view: emptyView(session_id) });
        }
        folded.set(session_id, evolve(folded.get(session_id)!, event));
        touched.add(session_id);
      }
      more = page.more;
    }
    compareRules();
    for (const sessionId of touched) {
      compareRows(sessionId);
      for (const onlooker of onlookers) if (onlooker.sessionId === sessionId) hear(onlooker);
    }
  }

  function compareRules(): void {
    const { store } = running();
    const kept = store.permissions.all().filter(({ sessionId }) => sessionId === null || store.sessions.exists(sessionId));
    same(
      kept.map(({ no, workspace, sessionId, rule, by }) => [String(no), { workspace, session_id: sessionId ?? noSession, rule, by }]),
      [...monitor.rules].map(([id, { workspace, session_id, rule, by }]) => [id, { workspace, session_id, rule, by }]),
      'the rules that count are those that the log tells of',
    );
  }

  function compareRows(sessionId: string): void {
    const rows = running().store.load(sessionId);
    const fold = folded.get(sessionId);
    if (fold?.deleted) assert(rows === undefined, 'a deleted session is still there');
    else same(rows, fold, `the rows of ${sessionId} are what its log folds to`);
  }

  /** Each reads the log at its own cursor. */
  function hear(onlooker: Onlooker): void {
    const { lines } = running();
    for (let more = true; more;) {
      const page = lines.log.readAfter({ sessionId: onlooker.sessionId }, onlooker.view.seq);
      for (const { pieces } of page.lines) {
        onlooker.view = applyEvent(onlooker.view, JSON.parse(Buffer.concat(pieces).toString()) as WireEvent);
      }
      more = page.more;
    }
    if (onlooker.view.stale && !onlooker.view.state.deleted && !onlooker.view.state.deleting) {
      onlooker.view = attach(onlooker.sessionId);
    }
    compareView(onlooker.view);
  }

  /** Whoever came in the middle sees what is seen by the one who has heard everything since the session was made. */
  function compareView(view: SessionView): void {
    const fold = folded.get(view.state.id)!;
    if (fold.deleted) return assert(view.state.deleted, 'a client has heard that the session is gone');
    same(view.state, fold, `what a client sees of ${view.state.id} is what the log folds to`);
    const first = onlookers.find(({ sessionId }) => sessionId === view.state.id);
    if (first?.view.seq === view.seq) same(toldBy(view), toldBy(first.view), `two clients see the same of ${view.state.id}`);
  }

  function attach(sessionId: string): SessionView {
    const reply = send('attach', { session_id: sessionId });
    assert(reply.ok, `attach to ${sessionId} is refused`);
    return viewOf(reply.payload);
  }

  /** A command as it goes over the wire and comes back, but for the socket. Throws Died when it took the engine with it. */
  function send<T extends CommandType>(type: T, payload: CommandInput<T>): WorldReply<T> {
    const { handlers, client, store } = running();
    const parsed = commands[type].payload.parse(JSON.parse(JSON.stringify(payload)));
    const handler = handlers[type] as (payload: unknown, client: Client) => Answer | Later;
    const answer = handler(parsed, client);
    // What is waited for is seen in the log.
    const now: Answer = 'later' in answer ? { ok: true, type: 'accepted', payload: {} } : answer;
    return JSON.parse(encodeAnswer('c', now, store.log.head()).toString()) as WorldReply<T>;
  }

  /** Lets the engine go on for some turns of the event loop; a death in between is noticed and repaired. */
  async function pass(count: number): Promise<void> {
    sync();
    for (let i = 0; i < count; i++) {
      await turnOfLoop();
      turns++;
      for (const { cursor } of slowReaders) cursor.pump();
      if (running().life.dead) await restart();
      sync();
    }
  }

  /** Time goes on: timers that are due fire. */
  async function wait(ms: number): Promise<void> {
    nowMs += ms;
    vi.advanceTimersByTime(ms);
    await pass(1);
  }

  function isAtRest(): boolean {
    const { engine, store } = running();
    const asking = [...monitor.requests.values()].filter(({ open }) => open);
    const active = [...monitor.sessions.values()].flatMap(({ run }) => (run ? [run] : []));
    const onlyAsk = active.every(({ id, aborting, turn }) => {
      const busy = [...(turn?.calls ?? [])].filter(([, { state }]) => state === 'started').map(([callId]) => callId);
      const asked = asking.filter(({ runId }) => runId === id).map(({ callId }) => callId);
      return !aborting && asked.length > 0 && busy.every((callId) => asked.includes(callId));
    });
    return onlyAsk && engine.running() === active.length && store.sessions.deleted().length === 0;
  }

  /** The questions that are open, when nothing but them is waited for. */
  function waitingForPeople(): string[] {
    sync();
    return isAtRest() ? [...monitor.requests].filter(([, { open }]) => open).map(([id]) => id) : [];
  }

  function checkParked(before: string[]): void {
    for (const id of before) {
      const request = monitor.requests.get(id);
      const { run } = monitor.sessions.get(request?.sessionId ?? '') ?? {};
      assert(request?.open && run?.id === request.runId, `${id} waited for a person and does not any more after a restart`);
    }
  }

  /** Runs on until only people are waited for. */
  async function rest(): Promise<void> {
    const until = turns + turnsToRestMax;
    for (let calm = 0; calm < 3;) {
      if (turns > until) throw new Error(`no rest after ${turnsToRestMax} turns: ${describeRuns()}`);
      const before = monitor.seq();
      await pass(1);
      calm = isAtRest() && monitor.seq() === before ? calm + 1 : 0;
    }
  }

  function describeRuns(): string {
    const active = [...monitor.sessions.values()].filter(({ run, deleted }) => run && !deleted);
    return active.map(({ id, run }) => `${id}: ${JSON.stringify(run)}`).join('\n') || 'nothing runs';
  }

  /** All that must be true whenever nothing moves. */
  async function checkAtRest(): Promise<void> {
    await rest();
    for (const reader of slowReaders) reader.cursor.pump();
    const { db, store } = running();
    for (const session of monitor.sessions.values()) {
      if (session.deleted) continue;
      monitor.checkWhole(session.id);
      let replayed = emptySession(session.id);
      for (const event of store.log.replay(session.id)) replayed = evolve(replayed, event);
      same(store.load(session.id), replayed, `the rows of ${session.id} are what its log, read again, folds to`);
      const path = readPath(session.id);
      same(
        path.map(({ id }) => id),
        monitor.pathOf(session.leafId),
        `get_messages of ${session.id} is the path to its leaf`,
      );
      for (const { view, sessionId } of onlookers) if (sessionId === session.id) checkMessages(view, path);
      same(session.waiting, store.inputs.waiting(session.id), `what waits in ${session.id} is what the rules say`);
    }
    const open = [...monitor.sessions.values()].flatMap(({ run }) => (run?.message ? [run.message.id] : []));
    const partial = db.prepare<[], string>('SELECT DISTINCT message_id FROM partial').pluck().all();
    assert(
      partial.every((id) => open.includes(id)),
      `partial rows are left for ${partial.join()}`,
    );
    same(db.pragma('foreign_key_check'), [], 'no row refers to one that is gone');
  }

  function readPath(sessionId: string): Message[] {
    const pages: Message[] = [];
    for (let before: string | undefined; ;) {
      const reply = send('get_messages', { session_id: sessionId, ...(before === undefined ? {} : { before }) });
      assert(reply.ok, `get_messages of ${sessionId} is refused`);
      pages.unshift(...reply.payload.messages);
      if (!reply.payload.has_more) return pages;
      before = reply.payload.messages[0]?.id;
    }
  }

  function checkMessages(view: SessionView, path: Message[]): void {
    const known = view.hasMore ? path.slice(-view.messages.length) : path;
    same(view.messages, known, `the messages that a client sees of ${view.state.id} are its path`);
    assert.equal(view.pathCount, path.length, `a client knows how many messages ${view.state.id} has`);
    for (const [index, message] of path.entries()) {
      assert.equal(message.parent_id, path[index - 1]?.id ?? null, `${message.id} hangs on the message before it`);
    }
  }

  /** A client with deltas that takes a line only now and then. */
  function readSlowly(sessionId: string, eagerness: number): void {
    const { engine, lines } = running();
    const attached = attach(sessionId);
    const reader: SlowReader = {
      view: attached,
      cursor: createLogCursor(
        { scope: { sessionId }, after: attached.seq, liveFrom: attached.seq, live: true, prelude: undefined, fromCursor: true },
        createSlowSink(eagerness, (line) => {
          try {
            hearLine(reader, line);
          } catch (error) {
            bug ??= error;
          }
        }),
        { onEnd: () => reader.cursor.stop() },
        { engine, lines },
      ),
      stop() {
        stopListening();
        reader.cursor.stop();
      },
    };
    const stopListening = engine.wakes.listen(() => reader.cursor.pump());
    slowReaders.push(reader);
  }

  function hearLine(reader: SlowReader, line: string): void {
    const event = JSON.parse(line) as WireEvent;
    const { view } = reader;
    if (event.type === 'message_update') {
      const open = view.open.find(({ id }) => id === event.payload.message_id);
      assert(open, 'a delta never comes before the event that introduces its message');
      const held = open.blocks[event.payload.block]?.text.length ?? 0;
      assert(event.payload.offset <= held, `a delta at ${event.payload.offset} leaves a hole after ${held}`);
    }
    // Of a session that was deleted meanwhile the texts may be gone.
    const kept = monitor.sessions.get(view.state.id)?.deleted === false;
    if (kept && event.type === 'message_end' && event.payload.role === 'assistant' && event.payload.message) {
      const said = view.open.find(({ id }) => id === event.payload.message_id)?.blocks.map(({ text }) => text) ?? [];
      for (const [index, block] of event.payload.message.content.entries()) {
        if (block.type === 'text') assert.equal(said[index], block.text, 'the whole text comes as deltas before its end');
        if (block.type === 'thinking') assert.equal(said[index], block.thinking, 'the whole thinking comes as deltas before its end');
      }
    }
    reader.view = applyEvent(view, event);
  }

  function createSlowSink(eagerness: number, onLine: (line: string) => void): LineSink {
    let unfinished = '';
    return {
      canTake: () => random() < eagerness,
      write(bytes) {
        unfinished += bytes.toString();
        if (!unfinished.endsWith('\n')) return;
        onLine(unfinished);
        unfinished = '';
      },
    };
  }

  /** Slow readers get all the time they need, and have missed nothing. */
  async function finishReading(): Promise<void> {
    for (const reader of slowReaders) {
      for (let i = 0; i < turnsToRestMax && reader.view.seq < lastSeqOf(reader.view.state.id); i++) {
        reader.cursor.pump();
        await turnOfLoop();
      }
      if (bug !== undefined) throw bug as Error;
      assert(reader.view.seq >= lastSeqOf(reader.view.state.id), 'a slow reader comes to the end of the log');
      compareView(reader.view);
    }
  }

  /** When the last session is deleted nothing is left of any, but that they are gone. */
  async function deleteAll(): Promise<void> {
    fuse = undefined;
    for (const { id, deleted } of monitor.sessions.values()) if (!deleted) assert(send('delete_session', { session_id: id }).ok);
    await checkAtRest();
    const { db } = running();
    for (const table of ['session', 'entry', 'run', 'tool_call', 'input', 'input_text', 'ui_request', 'partial', 'artifact']) {
      const rows = db.prepare(`SELECT * FROM ${table}`).all();
      same(rows, [], `when all sessions are deleted nothing is left in ${table}`);
    }
    const rest = db
      .prepare<[], string>(`SELECT type FROM event WHERE session_id <> '${noSession}' GROUP BY session_id HAVING count(*) > 1`)
      .pluck()
      .all();
    same(rest, [], 'of the log of a deleted session only its end is left');
  }

  function lastSeqOf(sessionId: string): number {
    return running().store.log.lastSeqOf({ sessionId });
  }

  return {
    monitor,
    random,
    store: (): Store => running().store,
    client: (): Client => running().client,
    isDead: (): boolean => running().life.dead,
    send,
    sync,
    pass,
    wait,
    checkAtRest,
    finishReading,
    deleteAll,
    readSlowly,
    setAttended(value: boolean): void {
      attended = value;
    },
    /** The engine dies the n-th time it passes the point. */
    setFuse(point: string, n: number): void {
      fuse = { point, left: n };
    },
    addOnlooker(sessionId: string): void {
      const view = attach(sessionId);
      compareView(view);
      onlookers.push({ sessionId, view });
    },
    /** Kills the engine between two of its commits and boots another on what it left. */
    async crash(): Promise<void> {
      const parked = waitingForPeople();
      kill();
      await restart();
      checkParked(parked);
    },
    restart,
    /** Stops as SIGTERM does, and boots again. */
    async stopAndStart(): Promise<void> {
      const { engine, life } = running();
      const parked = waitingForPeople();
      await engine.stop();
      for (let i = 0; i < 3; i++) await turnOfLoop();
      if (!life.dead) {
        sync();
        life.dead = true;
      }
      await restart();
      checkParked(parked);
    },
    start() {
      start();
    },
    async end(): Promise<void> {
      if (boot) {
        fuse = undefined;
        kill();
        await bury();
      }
      rmSync(root, { recursive: true, force: true });
    },
  };
}
export type World = ReturnType<typeof createWorld>;

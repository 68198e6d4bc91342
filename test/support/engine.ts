import { copyFileSync, existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { submitInput, type NewInput, type Submitted } from '../../src/core/inputs.js';
import { answerRequest, type Response } from '../../src/core/requests.js';
import { abortRun } from '../../src/core/runs.js';
import { changeSettings, createSession, type SettingsChange } from '../../src/core/settings.js';
import type { Outcome, StatePlace } from '../../src/engine/door/commit.js';
import { createEngine, type Engine, type EngineDeps } from '../../src/engine/engine.js';
import { parseConfig } from '../../src/machine/config.js';
import { until } from '../../src/engine/door/wakes.js';
import type { DurableEvent } from '../../src/protocol/events.js';
import { openOrCreate } from '../../src/store/create.js';
import { readMigrations } from '../../src/store/migrate.js';
import { createStore, type Store, type StoreWriters } from '../../src/store/store.js';
import type { Policy } from '../../src/policy/port.js';
import type { Tool, ToolEntry } from '../../src/tools/port.js';
import { withCheckedHistories } from './checked-history.js';
import { brief } from './core-play.js';
import { createScriptedModel, type ScriptedModel } from './scripted-model.js';

export const migrations = readMigrations(fileURLToPath(new URL('../../migrations', import.meta.url)));

export function openStore(path: string, bootId = 'boot_test'): Store {
  const db = openOrCreate(path, migrations);
  return withCheckedHistories(createStore(db, bootId));
}

/** Files that nobody touches. */
export const inPlace: StatePlace = { holdsLock: () => true, holdsDatabase: () => true };

export interface EngineSetup {
  tools?: Tool[];
  /** What tools may do, instead of everything. */
  hands?: Partial<Pick<EngineDeps, 'loadPolicy' | 'policy' | 'fileFinder' | 'ruleSources' | 'approvalTimeoutMs'>>;
  runsAtOnceMax?: number;
  place?: StatePlace;
  /** A store of another engine to go on with. */
  from?: string;
  attended?: EngineDeps['attended'];
  fault?: EngineDeps['fault'];
  models?: Partial<Pick<EngineDeps, 'systemPrompt' | 'retries' | 'compactAtPercent'>>;
  retention?: EngineDeps['retention'];
}

/** A tool as the engine knows it before it is loaded. */
export function toEntry(tool: Tool): ToolEntry {
  const { name, description, readOnly, resumable } = tool;
  return { name, description, readOnly, resumable, load: () => Promise.resolve(tool) };
}

/** Allows whatever its tools do not ask about themselves. */
const openPolicy: Policy = {
  workspaceOf: (cwd) => cwd,
  noSandbox: () => undefined,
  findRuleProblem: () => undefined,
  judge: ({ cwd }) => ({
    action: 'allow',
    why: 'a test',
    parts: [],
    paths: [],
    reach: {
      workspace: cwd,
      refuses: () => undefined,
      autorunKind: () => undefined,
      umask: 0o022,
      confinement: { kind: 'bare', network: false, writable: [], readOnly: [], hidden: [] },
    },
    remember: [],
    lacksNetwork: false,
    notes: [],
  }),
};

/** What an engine needs to know about the machine when its tools touch nothing. */
export function withoutHands(
  root: string,
): Pick<
  EngineDeps,
  'loadPolicy' | 'policy' | 'fileFinder' | 'ruleSources' | 'approvalTimeoutMs' | 'artifactsDir' | 'endProcesses' | 'retention'
> {
  return {
    loadPolicy: () => Promise.resolve(openPolicy),
    policy: () => openPolicy,
    fileFinder: () => undefined,
    ruleSources: { configured: () => [], inWorkspace: () => undefined },
    approvalTimeoutMs: () => null,
    artifactsDir: join(root, 'artifacts'),
    endProcesses: () => Promise.resolve(),
    retention: () => parseConfig('{}', 'config.json').retention,
  };
}

/** What an engine needs to know about models when they are not the point. Failures are tried again at once. */
export function withoutModels(): Pick<EngineDeps, 'systemPrompt' | 'summaryInstructions' | 'retries' | 'compactAtPercent'> {
  return {
    systemPrompt: () => ({ text: 'You are a test.' }),
    summaryInstructions: 'Summarise.',
    retries: () => ({ attemptsMax: 3, minMs: 1 }),
    compactAtPercent: () => 85,
  };
}

/** The engine over a real store, with a scripted model and a clock that moves only when told. */
export interface TestEngine extends AsyncDisposable {
  readonly engine: Engine;
  readonly store: Store;
  readonly model: ScriptedModel;
  readonly dbPath: string;
  readonly clock: { nowMs: number };
  /** Changes rows directly, in a transaction. */
  write(work: (rows: StoreWriters) => void): void;
  session(fields?: SettingsChange): string;
  change(sessionId: string, change: SettingsChange): void;
  submit(sessionId: string, command: NewInput['command'], text: string, overrides?: Partial<NewInput>): Outcome<Submitted>;
  /** The run that took it; throws if it was refused. */
  prompt(sessionId: string, text?: string): string;
  abort(sessionId: string, keepQueue?: boolean): void;
  answer(requestId: string, answer: Partial<Response>): Outcome<unknown>;
  until<T>(sessionId: string, look: () => T | undefined): Promise<T>;
  idle(sessionId: string): Promise<void>;
  /** Resolves when a run of another session has been driven from its start to its end: whatever was woken before has had its turn. */
  otherRun(): Promise<void>;
  /** Resolves to the id of the session's open request. */
  asked(sessionId: string): Promise<string>;
  events(sessionId: string): DurableEvent[];
  told(sessionId: string): string[];
  /** The path to the leaf, as `role: text`. */
  history(sessionId: string): string[];
  /** What a kill at this moment would leave: another engine on a copy of the files. */
  crash(setup?: EngineSetup): TestEngine;
}

export function createTestEngine(setup: EngineSetup = {}): TestEngine {
  const root = mkdtempSync(join(tmpdir(), 'berth-engine-'));
  const dbPath = join(root, 'berth.db');
  if (setup.from !== undefined) {
    for (const end of ['', '-wal']) if (existsSync(setup.from + end)) copyFileSync(setup.from + end, dbPath + end);
  }
  const store = openStore(dbPath, `boot_${root.slice(-6)}`);
  const model = createScriptedModel();
  const clock = { nowMs: Date.UTC(2026, 10, 16) };
  const prefix = root.slice(-6);
  let ids = 0;
  const newId: EngineDeps['newId'] = (kind) => `${kind}_${prefix}${String(++ids).padStart(8, '0')}`;
  function fail(error: unknown): never {
    throw error instanceof Error ? error : new Error(String(error));
  }
  const engine = createEngine({
    store,
    place: setup.place ?? inPlace,
    ...withoutModels(),
    ...setup.models,
    providers: () => model,
    tools: (setup.tools ?? []).map(toEntry),
    ...withoutHands(root),
    ...setup.hands,
    ...(setup.retention ? { retention: setup.retention } : {}),
    runsAtOnceMax: setup.runsAtOnceMax ?? 8,
    now: () => clock.nowMs,
    clock: () => performance.now(),
    newId,
    attended: setup.attended ?? (() => true),
    fault: setup.fault ?? (() => undefined),
    onFatal: fail,
    onBug: fail,
  });
  /** Looks after every commit of the session and whenever something live about it changed. */
  async function waitFor<T>(sessionId: string, look: () => T | undefined): Promise<T> {
    const stop = new AbortController();
    const seen = await Promise.race([engine.wakes, engine.liveWakes].map((wakes) => until(wakes, sessionId, stop.signal, look)));
    stop.abort();
    return seen as T;
  }

  function must<T>(outcome: Outcome<T>): T {
    if (!outcome.ok) throw new Error(`refused: ${outcome.refusal.code} ${outcome.refusal.message}`);
    return outcome.reply;
  }

  const test: TestEngine = {
    engine,
    store,
    model,
    dbPath,
    clock,
    write: (work) => store.db.transaction(() => work(store.write)).immediate(),
    session(fields = {}) {
      const id = newId('ses');
      must(engine.commit.create(id, () => createSession(id, { cwd: '/', model: 'scripted/model', ...fields })));
      return id;
    },
    change(sessionId, change) {
      must(engine.commit.decide(sessionId, (state) => changeSettings(state, change)));
    },
    submit(sessionId, command, text, overrides = {}) {
      const input: NewInput = { id: newId('inp'), command, text, content: null, client: null, otherwise: 'reject', ...overrides };
      return engine.commit.decide(sessionId, (state, fresh) => submitInput(state, input, store.inputs.acknowledged(input.id), fresh));
    },
    prompt: (sessionId, text = 'go') => must(test.submit(sessionId, 'prompt', text)).runId,
    abort(sessionId, keepQueue = false) {
      must(engine.commit.decide(sessionId, (state) => abortRun(state, keepQueue, undefined)));
    },
    answer: (requestId, answer) =>
      engine.commit.decide(store.requests.sessionOf(requestId) ?? '', (state) =>
        answerRequest(state, requestId, { by: 'test', cancelled: false, ...answer }, store.permissions),
      ),
    until: waitFor,
    async idle(sessionId) {
      await waitFor(sessionId, () => (store.runs.active(sessionId) ? undefined : true));
    },
    async otherRun() {
      const other = test.session();
      test.prompt(other);
      (await model.next()).say('ok').end();
      await test.idle(other);
    },
    asked: (sessionId) => waitFor(sessionId, () => store.requests.open(sessionId)[0]?.request_id),
    events: (sessionId) => [...store.log.replay(sessionId)],
    told: (sessionId) => brief(test.events(sessionId)),
    history: (sessionId) =>
      store.entries.history(store.load(sessionId)?.leafId ?? null).map(({ message }) => `${message.role}: ${message.text}`),
    crash: (again = {}) => createTestEngine({ ...setup, ...again, from: dbPath }),
    async [Symbol.asyncDispose]() {
      await engine.stop();
      engine.close();
      store.db.close();
      rmSync(root, { recursive: true, force: true });
    },
  };
  return test;
}

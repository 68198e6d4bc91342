import { existsSync, watch } from 'node:fs';
import { dirname } from 'node:path';
import { setImmediate as nextTurn, setTimeout as delay } from 'node:timers/promises';
import type { Paths } from '../machine/paths.js';
import { summaryInstructions } from '../context/summary-prompt.js';
import { createSystemPrompt } from '../context/system-prompt.js';
import { accept } from '../core/decision.js';
import { createEngine, type Engine } from '../engine/engine.js';
import { commands, type CommandType } from '../protocol/commands/commands.js';
import type { Fact } from '../protocol/events.js';
import { noSession } from '../protocol/ids.js';
import { limits } from '../protocol/limits.js';
import { createClients } from '../server/clients.js';
import { createCommandServer } from '../server/command-server.js';
import { createCursors } from '../server/cursors.js';
import type { DaemonFacts, HandlerContext } from '../server/handler-context.js';
import { createEventServer } from '../server/event-server.js';
import { createHandlers } from '../server/handlers.js';
import { createFairQueue } from '../server/budgets/fair-queue.js';
import { createLineRoom } from '../server/budgets/line-room.js';
import { listen, prepareSocketDir, type Listening, type PassedSockets } from '../server/listen.js';
import { createStateView } from '../server/state-view.js';
import { createUnreadReplies } from '../server/budgets/unread-replies.js';
import { openOrCreate } from '../store/create.js';
import { StoreDisplaced, StoreRefused } from '../store/faults.js';
import { readMigrations } from '../store/migrate.js';
import { createStore, toReadStore } from '../store/store.js';
import { findConfigWarnings } from './config-warnings.js';
import { createConfigReloads } from './config-reloads.js';
import { loadConfig, type Reloaded } from './loaded-config.js';
import { createStoreStatus, databasePath, noteDamage } from './store-status.js';
import { createToolRuntime } from './tool-runtime.js';
import { migrationsDir } from './migrations-dir.js';
import { createModelAccess } from './model-access.js';
import type { Lock } from './lock.js';
import { logEvents } from './log/logged-events.js';
import type { Logger } from './log/logger.js';
import type { LogSecrets } from './log/log-secrets.js';
import { logPath } from '../machine/log-files.js';
import type { ServiceNotifier } from './service/service-notifier.js';
import { createStateGuard } from './state-guard.js';
import { version } from '../client/version.js';
import { createNewIds } from './new-ids.js';

export interface DaemonOptions {
  paths: Paths;
  workdir: string;
  env: Record<string, string | undefined>;
  /** The umask for files that agents make. */
  umask: number;
  /** The lock of the state directory, released when the daemon has stopped. */
  lock: Lock;
  log: Logger;
  /** Opens the log again by its path. */
  openLog(): Logger;
  secrets: Pick<LogSecrets, 'comeFrom'>;
  /** The service manager that started the daemon. */
  service?: { unit: string | null; passed: PassedSockets | undefined; notifier: Pick<ServiceNotifier, 'stopping'> };
  fault(point: string): void;
  /** Ends the process, with a sentence for people on standard error. */
  exit(code: number, sentence?: string): never;
}

export interface Daemon {
  /** Reloads config.json. */
  reload(): Reloaded;
  /** Graceful shutdown: settles all runs, sends goodbye, closes sockets and database. */
  stop(): Promise<void>;
  /** Resolves when the daemon has stopped, for whatever reason. */
  stopped: Promise<void>;
}

/** The composition root: opens the store, recovers from a crash, then listens. */
export async function startDaemon(options: DaemonOptions): Promise<Daemon> {
  const { paths, workdir, env, umask, lock, log, openLog, secrets, service, fault, exit } = options;
  const newId = createNewIds();
  const told = new Set<string>();
  const loaded = loadConfig(paths.configDir);
  const config = loaded.current;
  let models = createModelAccess(config(), { configDir: paths.configDir, env });
  secrets.comeFrom(models.providers.secrets);
  prepareSocketDir(paths.socket);

  const die =
    (what: string) =>
    (error: unknown): never => {
      log.fatal({ err: error }, noteDamage(paths.stateDir, error) ?? what);
      return exit(70);
    };
  const migrations = readMigrations(migrationsDir());
  const db = openOrCreate(databasePath(paths.stateDir), migrations, warn);
  const guard = createStateGuard({
    stateDir: paths.stateDir,
    database: db.name,
    lock,
    vacuumInto: (file) => void db.prepare('VACUUM INTO ?').run(file),
  });
  const dieDisplaced = (): never => {
    const sentence = guard.rescue();
    // The log may be gone with the state directory.
    (existsSync(paths.stateDir) ? openLog() : log).fatal(sentence);
    return exit(70, sentence);
  };
  const dieOfFault = die('fatal fault of the database (a failed fsync or a corrupt file): the daemon ends');
  const store = createStore(db, newId('boot'));
  const storeStatus = createStoreStatus(store, paths);
  const clients = createClients({ onChange: announceClients });
  const toolRuntime = createToolRuntime({ paths, env, store: toReadStore(store), engine: () => engine, config, log, umask });
  const engine: Engine = createEngine({
    store,
    place: guard,
    providers: () => models.providers,
    systemPrompt: createSystemPrompt({ path: () => models.systemPromptPath, now: Date.now }),
    summaryInstructions,
    retries: () => ({ attemptsMax: config().modelAttempts, minMs: config().modelRetryMs }),
    compactAtPercent: () => config().compactAtPercent,
    ...toolRuntime.forEngine,
    retention: () => config().retention,
    runsAtOnceMax: config().runsAtOnce,
    now: Date.now,
    clock: () => performance.now(),
    newId,
    attended: clients.attended,
    fault,
    onFatal: (error) => (error instanceof StoreDisplaced ? dieDisplaced() : dieOfFault(error)),
    onBug: die('unexpected exception: a bug in berth'),
  });
  logEvents(engine, log);
  const logId = ensureLogId(engine, newId('log'), db.name);
  const reloads = createConfigReloads({ configDir: paths.configDir, loaded, apply: applyConfig, announce, log });

  let draining = false;
  let stopping: Promise<void> | undefined;
  let settled: Promise<void> | undefined;
  const facts: DaemonFacts = {
    version,
    startedAt: new Date().toISOString(),
    socketPath: paths.socket,
    stateDir: paths.stateDir,
    configDir: paths.configDir,
    logFile: logPath(paths.stateDir),
    logId,
    unit: service?.unit ?? null,
    isDraining: () => draining,
    configProblem: loaded.problem,
    isConfigStale: loaded.isStale,
    configWarnings,
    reloadConfig: reloads.reload,
    storeStatus: storeStatus.status,
    backUpStore: storeStatus.backUp,
    startDraining,
    shutdown() {
      // The shutdown closes connections: the reply to the command goes out first.
      setImmediate(() => void stop());
      return settle();
    },
  };
  const deps: HandlerContext = {
    engine,
    clients,
    viewState: createStateView(engine, clients),
    newId,
    sessionDefaults: (named) => ({
      cwd: workdir,
      model: named ?? models.defaultModel(),
      thinking: models.defaultThinking(named ?? models.defaultModel()),
      steering_mode: config().steeringMode,
      follow_up_mode: config().followUpMode,
      when_detached: config().whenDetached,
      approval_mode: config().approvalMode,
    }),
    daemon: facts,
  };
  const lineRoom = createLineRoom();
  const fairQueue = createFairQueue();
  const commandServer = createCommandServer({
    handlers: createHandlers(deps),
    clients,
    newClientId: () => newId('cli'),
    seq: store.log.head,
    prepareFor: (type) => (usesTools(type) || (type === 'get_daemon' && hasUncheckedRules()) ? toolRuntime.ready() : undefined),
    onBug: die('unexpected exception: a bug in berth'),
    lineRoom,
    fairQueue,
    unreadReplies: createUnreadReplies({
      onDropped: ({ unreadBytes }) =>
        log.warn({ unreadBytes }, 'disconnected a client that did not read its replies: the budget of unread replies was used up'),
    }),
  });
  const cursors = createCursors({ engine, now: Date.now });
  const eventServer = createEventServer({ engine, cursors, clients, logId, now: Date.now, lineRoom, fairQueue });
  await toolRuntime.reapLeft();
  const recovered = engine.recover();
  const socketHandlers = {
    commands: commandServer.accept,
    events: eventServer.accept,
    onInsecureDir: () => log.warn('the socket directory was open to other users, or is not yours any more: a connection was closed'),
  };
  let listening: Listening = await listen(paths.socket, socketHandlers, service?.passed);
  const watcher = watchSockets();
  const configWatch = reloads.watch();
  const unwatchFiles = guard.watch(dieDisplaced);
  void logConfigWarnings();
  for (const warning of storeStatus.status().warnings.filter((text) => !told.has(text))) warn(warning);
  log.info({ ...recovered, socket: paths.socket, model: models.defaultModel(), version }, 'ready');

  /** Warns who starts the daemon, and the log. */
  function warn(sentence: string): void {
    told.add(sentence);
    log.warn(sentence);
    process.stderr.write(`berth: ${sentence}\n`);
  }

  function configWarnings(): string[] {
    const { systemPromptPath } = models;
    return [...findConfigWarnings(config(), { systemPromptPath, env }), ...engine.effectiveRules.configWarnings()];
  }

  function applyConfig(): void {
    models = createModelAccess(config(), { configDir: paths.configDir, env });
    secrets.comeFrom(models.providers.secrets);
    engine.rulesChanged();
    engine.housekeeping.schedule();
    void logConfigWarnings();
  }

  function startDraining(): void {
    if (draining) return;
    draining = true;
    announce({ type: 'daemon_update', payload: { session_id: noSession, state: 'draining' } });
  }

  /** Commits a daemon-wide event about a change that is in effect already, so a fault of the store is only logged. */
  function announce(fact: Fact): void {
    if (!db.open) return;
    const announced = engine.commit.decideShared(() => accept([fact], undefined));
    if (!announced.ok) log.warn({ problem: announced.refusal.message }, `the event ${fact.type} was not committed: clients do not get it`);
  }

  async function logConfigWarnings(): Promise<void> {
    try {
      if (hasUncheckedRules()) await toolRuntime.forEngine.loadPolicy();
    } catch (error) {
      log.error({ err: error }, 'the permission rules of config.json cannot be checked: the policy could not be loaded');
    }
    for (const warning of configWarnings()) log.warn({ warning }, 'config');
  }

  /** Whether config.json has rules and the policy, which checks them, is not loaded yet. */
  function hasUncheckedRules(): boolean {
    return config().rules.length > 0 && engine.policy() === undefined;
  }

  function announceClients(sessionId: string): void {
    const payload = { session_id: sessionId, clients: clients.of(sessionId) };
    engine.signals.set(sessionId, 'clients', { type: 'client_update', payload });
    // Open requests check again whether a client is attached that can answer.
    engine.wakes.wake(sessionId);
  }

  /** A logout may remove the runtime directory. The sockets are bound again; if that fails, the daemon stops. */
  function watchSockets(): { close(): void } {
    const dir = dirname(paths.socket);
    let rebinding = false;
    async function check(): Promise<void> {
      if (rebinding || stopping || listening.isInPlace()) return;
      rebinding = true;
      try {
        log.warn('the socket files were removed; binding them again');
        listening.close();
        prepareSocketDir(paths.socket);
        listening = await listen(paths.socket, socketHandlers);
        current.close();
        current = start();
      } catch (error) {
        log.error({ err: error }, 'the sockets cannot be bound again: the daemon stops');
        void stop();
      }
      rebinding = false;
    }
    function start(): { close(): void } {
      const watching = watch(dir, () => void check());
      watching.on('error', (error) =>
        log.warn({ err: error }, 'the socket directory cannot be watched any more: removed sockets will not be bound again'),
      );
      return watching;
    }
    let current = start();
    return { close: () => current.close() };
  }

  function settle(): Promise<void> {
    draining = true;
    settled ??= engine.stop();
    return settled;
  }

  async function stop(): Promise<void> {
    stopping ??= stopNow();
    return stopping;
  }

  async function stopNow(): Promise<void> {
    service?.notifier.stopping();
    watcher.close();
    configWatch.close();
    listening.close();
    unwatchFiles();
    await settle();
    await toolRuntime.endAll();
    // Wakes are flushed in the next turn of the event loop: subscribers get the events of the last commits.
    await nextTurn();
    await nextTurn();
    eventServer.close();
    commandServer.close();
    for (let i = 0; i < 50 && commandServer.count() + eventServer.count() > 0; i++) await delay(limits.goodbyeMs / 50);
    engine.close();
    if (!guard.holdsDatabase()) return dieDisplaced();
    db.close();
    lock.release();
    log.info('stopped');
    markStopped();
  }

  let markStopped: () => void = () => undefined;
  const stopped = new Promise<void>((resolve) => (markStopped = resolve));
  return {
    stop,
    stopped,
    reload: reloads.reload,
  };
}

/** Commands that may start a run or that need the policy: the lazy modules of tools and policy are loaded before them. */
function usesTools(type: CommandType): boolean {
  if (type === 'drain' || type === 'shutdown') return false;
  return (
    commands[type].role === 'controller' ||
    type === 'attach' ||
    type === 'list_permissions' ||
    type === 'get_ruling' ||
    type === 'list_files'
  );
}

function ensureLogId({ store, bookkeeping }: Engine, made: string, path: string): string {
  const stored = store.log.id();
  if (stored !== undefined) return stored;
  const isWritten = bookkeeping.tryMaintain(({ log }) => log.setId(made));
  if (!isWritten)
    throw new StoreRefused(
      `the database ${path} cannot be written: the disk is full, or another program holds a lock on it; free some space or end that program`,
    );
  return made;
}

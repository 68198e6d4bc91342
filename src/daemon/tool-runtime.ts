import { existsSync, readdirSync, realpathSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { homeOrRoot } from '../machine/home.js';
import { runtimeDir, type Paths } from '../machine/paths.js';
import type { Engine, EngineDeps } from '../engine/engine.js';
import type { Policy } from '../policy/port.js';
import { limits } from '../protocol/limits.js';
import { lazy } from '../protocol/lazy.js';
import { todoLines } from '../protocol/todos.js';
import { descriptorsMax } from '../server/descriptors.js';
import type { ReadStore } from '../store/store.js';
import type { BubblewrapFound } from '../sandbox/bubblewrap.js';
import { listOfflineTools } from '../providers/offline/offline-tools.js';
import { listTools } from '../tools/catalogue.js';
import type { Processes } from '../sandbox/port.js';
import type { ProcessRow } from '../sandbox/processes.js';
import type { FileFinder } from '../tools/port.js';
import type { Todos } from '../tools/talk/todo.js';
import type { Config } from '../machine/config.js';
import type { Logger } from './log/logger.js';
import { readWorkspaceConfig } from '../machine/workspace-config.js';

interface Deps {
  paths: Paths;
  env: Record<string, string | undefined>;
  store: ReadStore;
  engine(): Engine;
  config(): Config;
  log: Logger;
  /** The umask of the process that started the daemon. */
  umask: number;
}

type ForEngine = Pick<
  EngineDeps,
  'tools' | 'loadPolicy' | 'policy' | 'fileFinder' | 'ruleSources' | 'approvalTimeoutMs' | 'artifactsDir' | 'endProcesses'
>;

/**
 * Tools, processes, sandbox and policy. All of these modules are loaded lazily, to save the memory of an idle daemon.
 */
export function createToolRuntime({ paths, env, store, engine, config, log, umask }: Deps) {
  const home = homeOrRoot(env);
  const ownPathList = ownPaths(paths, env);
  const shared = env.XDG_RUNTIME_DIR === undefined ? [] : [env.XDG_RUNTIME_DIR];
  const program = installedIn(process.argv[1]);
  /** Undefined until the module is loaded: before that no process can have been started. */
  let processes: Processes | undefined;

  const loadBubblewrap = lazy(async (): Promise<() => BubblewrapFound> => {
    const { createBubblewrap } = await import('../sandbox/bubblewrap.js');
    return createBubblewrap();
  });

  const loadProcesses = lazy(async (): Promise<Processes> => {
    const [bubblewrap, { createProcesses }] = await Promise.all([loadBubblewrap(), import('../sandbox/processes.js')]);
    processes = createProcesses({ ledger, bubblewrap, env, home, umask, bounds: () => config().commandBounds });
    return processes;
  });

  const ledger = {
    note: (row: ProcessRow) => engine().bookkeeping.maintain(({ processes: rows }) => rows.put(row)),
    // A stale row is harmless: the next start compares the process's start time, so a reused pid is not killed.
    forget: (pid: number, startTime: number) => void engine().bookkeeping.tryMaintain(({ processes: rows }) => rows.remove(pid, startTime)),
    left: store.processes.left,
  };

  let policy: Policy | undefined;
  const loadPolicy = lazy(async (): Promise<Policy> => {
    const [bubblewrap, { createPolicy }] = await Promise.all([loadBubblewrap(), import('../policy/judge.js')]);
    policy = createPolicy({
      home,
      umask,
      settings() {
        const { enabled, network, writable } = config().sandbox;
        const found = enabled ? bubblewrap() : { missing: 'it is switched off in config.json (sandbox.enabled).' };
        return { noSandbox: 'missing' in found ? found.missing : undefined, network, writable, own: ownPathList, shared, program };
      },
    });
    return policy;
  });

  let fileFinder: FileFinder | undefined;
  const loadFileFinder = lazy(async (): Promise<void> => {
    const { createFileFinder } = await import('../tools/search/file-finder.js');
    fileFinder = createFileFinder();
  });

  const todos: Todos = {
    read: store.todos.read,
    write(sessionId, items) {
      engine().bookkeeping.maintain(({ todos: rows }) => rows.set(sessionId, items));
      const params = { key: 'todo', lines: todoLines(items) };
      engine().signals.set(sessionId, 'widget:todo', { type: 'ui_widget', payload: { session_id: sessionId, params } });
    },
  };

  const forEngine: ForEngine = {
    tools: [...listTools({ todos, processes: loadProcesses, bubblewrap: loadBubblewrap }), ...listOfflineTools()],
    loadPolicy,
    policy: () => policy,
    fileFinder: () => fileFinder,
    ruleSources: { configured: () => config().rules, inWorkspace: readWorkspaceConfig },
    approvalTimeoutMs: () => config().approvalTimeoutMs,
    artifactsDir: join(paths.stateDir, 'artifacts'),
    endProcesses: async (runId) => processes?.killRun(runId),
  };
  let isReady = false;
  let loading: Promise<void> | undefined;

  async function loadAll(): Promise<void> {
    // Node caches a failed import: after EMFILE a module could never be loaded, so the import is not tried.
    if (spareDescriptors() >= limits.spareDescriptorsMin) {
      try {
        await Promise.all([loadPolicy(), loadFileFinder(), ...forEngine.tools.map(({ load }) => load())]);
      } catch (error) {
        // Commands and calls that need these modules are refused; the rest of the daemon works on.
        log.error({ err: error }, 'the modules of tools and policy cannot be loaded; restart the daemon');
      }
      isReady = true;
    }
    loading = undefined;
  }

  return {
    forEngine,
    /** Loads the lazy modules before a command needs them; undefined when they are loaded. */
    ready: (): Promise<void> | undefined => (isReady ? undefined : (loading ??= loadAll())),
    /** Kills orphaned processes of earlier daemons. Call before any process is started. */
    async reapLeft(): Promise<void> {
      if (store.processes.left().length === 0) return;
      const { reapOrphans } = await loadProcesses();
      for (const fault of await reapOrphans()) log.error({ err: fault }, 'an orphaned process of an earlier daemon cannot be killed');
    },
    async endAll(): Promise<void> {
      await processes?.killAll();
    },
  };
}

/** Free file descriptors of this process. */
function spareDescriptors(): number {
  return descriptorsMax() - readdirSync('/proc/self/fd').length;
}

/** The installed npm package of the program. Undefined for a checkout, which is not write-protected: agents may build berth there. */
function installedIn(entry: string | undefined): string | undefined {
  if (entry === undefined || !existsSync(entry)) return undefined;
  const root = dirname(dirname(realpathSync(entry)));
  return root.includes('/node_modules/') ? root : undefined;
}

/** Paths of berth, which are hidden from commands. The directory of a --socket is not hidden: it may be shared, such as /tmp. */
function ownPaths({ socket, stateDir, configDir }: Paths, env: Deps['env']): string[] {
  return [runtimeDir(env), socket, `${socket}.events`, stateDir, configDir];
}

import { stateFor, type HandlerContext } from '../handler-context.js';
import { readFirstSettings } from '../first-settings.js';
import { rejected, reply, sessionNotFound, type Handlers } from '../handler.js';
import { waitForBackup, waitUntilDrained, waitUntilSettled } from '../deferred-replies.js';

type DaemonCommands = 'list_tools' | 'get_daemon' | 'reload_config' | 'back_up_store' | 'drain' | 'shutdown' | 'extension_command';

export function createDaemonHandlers(deps: HandlerContext): Pick<Handlers, DaemonCommands> {
  const { engine, clients, daemon, sessionDefaults } = deps;
  const { store } = engine;
  return {
    list_tools(payload, client) {
      const state = stateFor(deps, payload.session_id, client);
      if (!state && payload.session_id !== undefined) return sessionNotFound(payload.session_id);
      const settings = state ?? { activeTools: readFirstSettings(engine).active_tools ?? null, model: sessionDefaults().model };
      const tools = engine.tools.list().map((tool) => ({
        name: tool.name,
        description: tool.description,
        active: engine.isOffered(tool, settings),
      }));
      return reply<'list_tools'>('tools', { tools });
    },
    get_daemon: () =>
      reply<'get_daemon'>('daemon', {
        version: daemon.version,
        pid: process.pid,
        started_at: daemon.startedAt,
        socket: daemon.socketPath,
        state_dir: daemon.stateDir,
        config_dir: daemon.configDir,
        log_file: daemon.logFile,
        log_id: daemon.logId,
        unit: daemon.unit,
        peer_check: 'directory',
        model: sessionDefaults().model,
        sessions: store.sessions.count(),
        runs: store.runs.allActive().length,
        clients: clients.count(),
        draining: daemon.isDraining(),
        config_problem: daemon.configProblem(),
        config_stale: daemon.isConfigStale(),
        config_warnings: daemon.configWarnings(),
        store: daemon.storeStatus(),
      }),
    reload_config() {
      const { changed, needsRestart, problem } = daemon.reloadConfig();
      const warnings = daemon.configWarnings();
      return reply<'reload_config'>('accepted', { command: 'reload_config', changed, needs_restart: needsRestart, problem, warnings });
    },
    back_up_store: ({ path, overwrite }) => ({ later: () => waitForBackup(daemon, path, overwrite) }),
    drain() {
      daemon.startDraining();
      return { later: (gone) => waitUntilDrained(engine, gone) };
    },
    shutdown: () => ({ later: () => waitUntilSettled(daemon) }),
    extension_command: ({ name }) => rejected('extension_command_not_found', `there is no extension command ${JSON.stringify(name)}`),
  };
}

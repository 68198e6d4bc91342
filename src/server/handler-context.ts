import type { SessionState } from '../core/session.js';
import type { ServedEngine } from '../engine/engine.js';
import type { SettingsChange } from '../core/settings.js';
import type { ReplyPayload } from '../protocol/commands/commands.js';
import type { Refusal } from '../protocol/errors.js';
import type { Client, Clients } from './clients.js';
import type { ViewState } from './state-view.js';

/** The dependencies of command handlers. */
export interface HandlerContext {
  engine: ServedEngine;
  clients: Clients;
  viewState: ViewState;
  newId(prefix: 'ses' | 'inp' | 'cli'): string;
  /** The default settings of a new session with this model, or with the default model. */
  sessionDefaults(model?: string): SessionDefaults;
  daemon: DaemonFacts;
}

export type SessionDefaults = SettingsChange & { cwd: string; model: string };

export interface DaemonFacts {
  version: string;
  startedAt: string;
  socketPath: string;
  stateDir: string;
  configDir: string;
  logFile: string;
  logId: string;
  /** The unit of the service manager that runs the daemon; null without one. */
  unit: string | null;
  isDraining(): boolean;
  /** Why config.json could not be loaded; null when it was. */
  configProblem(): string | null;
  /** Whether config.json has changed since it was loaded. */
  isConfigStale(): boolean;
  /** Problems of files that config.json names. */
  configWarnings(): string[];
  storeStatus(): NonNullable<ReplyPayload<'get_daemon'>['store']>;
  /** Copies the store to a file; resolves to the size of the copy, or to why there is none. */
  backUpStore(file: string, overwrite: boolean): Promise<number | Refusal>;
  reloadConfig(): { changed: string[]; needsRestart: string[]; problem: string | null };
  startDraining(): void;
  /** Begins a graceful shutdown; resolves when all runs are settled. */
  shutdown(): Promise<void>;
}

/** The session of a command: the one it names, else the connection's, else the daemon's active session. */
export function sessionIdFor({ engine }: HandlerContext, named: string | undefined, client: Client): string | undefined {
  if (named !== undefined) return named;
  if (client.sessionId !== '') return client.sessionId;
  const active = engine.store.meta.get('active_session');
  return active !== undefined && engine.store.sessions.exists(active) ? active : undefined;
}

/** The state of a command's session; undefined when there is none, or the session is being deleted. */
export function stateFor(deps: HandlerContext, named: string | undefined, client: Client): SessionState | undefined {
  const id = sessionIdFor(deps, named, client);
  const state = id === undefined ? undefined : deps.engine.store.load(id);
  return state?.deleting ? undefined : state;
}

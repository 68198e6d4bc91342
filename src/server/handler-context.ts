import type { SessionState } from '../core/session.js';
import type { ServedEngine } from '../engine/engine.js';
import type { SettingsChange } from '../core/settings.js';
import type { Client, Clients } from './clients.js';
import type { ViewState } from './state-view.js';

/** What every handler may use. */
export interface HandlerContext {
  engine: ServedEngine;
  clients: Clients;
  viewState: ViewState;
  newId(prefix: 'ses' | 'inp' | 'cli'): string;
  /** What a new session gets that names nothing, or only its model. */
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
  isDraining(): boolean;
  /** Why the config that is there now was not read; null when it was. */
  configProblem(): string | null;
  /** Whether config.json is another than the one that was read. */
  isConfigStale(): boolean;
  /** What is wrong with files that the config names. */
  configWarnings(): string[];
  reloadConfig(): { changed: string[]; needsRestart: string[]; problem: string | null };
  startDraining(): void;
  /** Begins an orderly stop; resolves when what ran is settled. */
  shutdown(): Promise<void>;
}

/** The session a command means: the one it names, else the connection's, else the daemon's active one. */
export function sessionIdFor({ engine }: HandlerContext, named: string | undefined, client: Client): string | undefined {
  if (named !== undefined) return named;
  if (client.sessionId !== '') return client.sessionId;
  const active = engine.store.meta.get('active_session');
  return active !== undefined && engine.store.sessions.exists(active) ? active : undefined;
}

/** The state of the session a command means; undefined when there is none, or it is being deleted. */
export function stateFor(deps: HandlerContext, named: string | undefined, client: Client): SessionState | undefined {
  const id = sessionIdFor(deps, named, client);
  const state = id === undefined ? undefined : deps.engine.store.load(id);
  return state?.deleting ? undefined : state;
}

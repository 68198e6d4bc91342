import { configPath } from '../machine/config-path.js';
import { watchFile } from '../machine/config/watch-file.js';
import { wholeUnits } from '../protocol/content.js';
import type { Fact } from '../protocol/events.js';
import { noSession } from '../protocol/ids.js';
import { limits } from '../protocol/limits.js';
import { needingRestart, type LoadedConfig, type Reloaded } from './loaded-config.js';
import type { Logger } from './log/logger.js';

interface Deps {
  configDir: string;
  loaded: LoadedConfig;
  /** Brings a changed config into force. */
  apply(): void;
  announce(fact: Fact): void;
  log: Logger;
}

export interface ConfigReloads {
  /** Reads config.json because somebody asks. What changed is told since the last time that somebody asked. */
  reload(): Reloaded;
  /** Reads config.json from now on when it changes. */
  watch(): { close(): void };
}

/** Reads config.json again, when asked and when the file changes, and tells clients once of each change and each problem. */
export function createConfigReloads({ configDir, loaded, apply, announce, log }: Deps): ConfigReloads {
  function tell(changed: string[], needsRestart: string[], problem: string | null): void {
    const why = problem === null ? {} : { problem: problem.slice(0, wholeUnits(problem, limits.configProblemCharsMax)) };
    announce({ type: 'config_update', payload: { session_id: noSession, changed, needs_restart: needsRestart, ...why } });
  }

  function read({ isAsked }: { isAsked: boolean }): void {
    const earlier = loaded.problem();
    const { changed, needsRestart, problem, isSameFile } = loaded.reload();
    if (problem !== null) {
      if (isSameFile && problem === earlier) return;
      log.error({ problem }, 'config.json was not reloaded; the earlier config stays in force');
      tell([], [], problem);
      return;
    }
    // Asked for, also files that the config names are read again.
    if (isAsked || changed.length > 0) apply();
    if (changed.length === 0 && earlier === null) return;
    log.info({ changed }, 'config.json was reloaded');
    tell(changed, needsRestart, null);
  }

  function readChanged(): void {
    if (loaded.isUnread()) read({ isAsked: false });
  }

  return {
    reload() {
      read({ isAsked: true });
      const problem = loaded.problem();
      if (problem !== null) return { changed: [], needsRestart: [], problem };
      const changed = loaded.takeChanged();
      return { changed, needsRestart: needingRestart(changed), problem };
    },
    watch() {
      const onFailed = (error: unknown): void =>
        log.warn({ err: error }, 'config.json cannot be watched: changes count after berth daemon reload');
      const watcher = watchFile(configPath(configDir), { onSettled: readChanged, onFailed });
      // It may have changed since the start.
      readChanged();
      return watcher;
    },
  };
}

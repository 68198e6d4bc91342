import type { Engine } from '../../engine/engine.js';
import type { Logger } from './logger.js';

/** Logs what is committed, at debug level: which events, without the words of anybody, and why something failed. */
export function logEvents({ onCommitted }: Pick<Engine, 'onCommitted'>, log: Logger): void {
  if (!log.isLevelEnabled('debug')) return;
  onCommitted((events) => {
    for (const { type, seq, payload } of events) {
      const run = 'run_id' in payload ? { run: payload.run_id } : {};
      const failure = type === 'error' ? { error: payload } : type === 'agent_end' && payload.error ? { error: payload.error } : {};
      log.debug({ event: type, seq, session: payload.session_id, ...run, ...failure }, 'committed');
    }
  });
}

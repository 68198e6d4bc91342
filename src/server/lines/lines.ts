import type { ServedEngine } from '../../engine/engine.js';
import { createEndedTexts } from './ended-texts.js';
import { createLiveLines } from './live-lines.js';
import { createLogLines } from './log-lines.js';

/** The events of an engine as encoded lines, each encoded once for all subscribers. */
export function createLines(engine: ServedEngine, now: () => number) {
  const log = createLogLines(engine);
  const live = createLiveLines(now);
  const endedTexts = createEndedTexts(engine, live);
  return {
    log,
    live,
    endedTexts,
    /** Trims the caches. To be called when the subscribers of a session were pumped. */
    forget(sessionId: string): void {
      endedTexts.forget();
      engine.live.forgetEnded(sessionId);
      log.trim();
    },
  };
}
export type Lines = ReturnType<typeof createLines>;

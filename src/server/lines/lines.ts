import type { ServedEngine } from '../../engine/engine.js';
import { createEndedTexts } from './ended-texts.js';
import { createLiveLines } from './live-lines.js';
import { createLogLines } from './log-lines.js';

/** The events of an engine as lines of the wire, each encoded once for all who read it. */
export function createLines(engine: ServedEngine, now: () => number) {
  const log = createLogLines(engine);
  const live = createLiveLines(now);
  const endedTexts = createEndedTexts(engine, live);
  return {
    log,
    live,
    endedTexts,
    /** Called when the readers of a session have been served: what was kept for them alone is let go. */
    forget(sessionId: string): void {
      endedTexts.forget();
      engine.live.forgetEnded(sessionId);
      log.trim();
    },
  };
}
export type Lines = ReturnType<typeof createLines>;

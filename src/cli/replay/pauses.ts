import type { WireEvent } from '../../protocol/events.js';
import { limits } from '../../protocol/limits.js';

/** The pause before each event, in milliseconds: as long as it was, divided by the speed, or without a speed at most `replayPauseMs`. */
export function createPauses(speed: number | undefined): (event: Pick<WireEvent, 'ts'>) => number {
  let before: number | undefined;
  return ({ ts }) => {
    const atMs = Date.parse(ts);
    const pauseMs = Math.max(0, atMs - (before ?? atMs));
    before = atMs;
    if (speed === undefined) return Math.min(pauseMs, limits.replayPauseMs);
    return speed === 0 ? 0 : Math.min(pauseMs / speed, limits.timerMaxMs);
  };
}

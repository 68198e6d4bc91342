import { limits } from '../protocol/limits.js';

interface LineRoomSizes {
  /** Of all unfinished lines together, but for what the oldest has beyond it. */
  sharedBytesMax: number;
  /** What every line may have without asking. */
  freeBytes: number;
  /** How long an unfinished line may stay as it is. */
  idleMs: number;
}

/** The place of one connection in the budget. */
export interface RoomHolder {
  /** Counts the unfinished line as `bytes` long. False when there is no room: `onRoom` is called once there is. */
  reserve(bytes: number): boolean;
  /** The line has ended, or nobody waits for its end any more. */
  release(): void;
}

/**
 * One budget for the unfinished lines of all connections. The oldest of them may always grow, so that there is always one that
 * can reach its end; those that come after it wait in order when the budget is used up.
 */
export function createLineRoom({
  sharedBytesMax = limits.unfinishedLinesBytesMax,
  freeBytes = limits.unfinishedLineFreeBytes,
  idleMs = limits.unfinishedLineMs,
}: Partial<LineRoomSizes> = {}) {
  interface Line {
    held: number;
    /** More than is held while it waits. */
    wanted: number;
    onRoom(): void;
  }
  /** Those beyond `freeBytes`, oldest first. */
  const lines = new Set<Line>();
  let used = 0;

  function isOldest(line: Line): boolean {
    const [oldest] = lines;
    return oldest === line;
  }

  function grant(line: Line): boolean {
    const more = line.wanted - line.held;
    if (more > 0 && used + more > sharedBytesMax && !isOldest(line)) return false;
    used += more;
    line.held = line.wanted;
    return true;
  }

  function grantWaiting(): void {
    for (const line of lines) {
      if (line.wanted === line.held) continue;
      // In order: a short line does not overtake a long one for ever.
      if (!grant(line)) return;
      line.onRoom();
    }
  }

  return {
    idleMs,
    usedBytes: (): number => used,
    join(onRoom: () => void): RoomHolder {
      const line: Line = { held: 0, wanted: 0, onRoom };
      return {
        reserve(bytes) {
          if (bytes <= freeBytes && !lines.has(line)) return true;
          lines.add(line);
          line.wanted = bytes;
          return grant(line);
        },
        release() {
          if (!lines.delete(line)) return;
          used -= line.held;
          line.held = 0;
          line.wanted = 0;
          grantWaiting();
        },
      };
    },
  };
}
export type LineRoom = ReturnType<typeof createLineRoom>;

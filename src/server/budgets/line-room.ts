import { limits } from '../../protocol/limits.js';

interface LineRoomSizes {
  /** Budget of all unfinished lines together; only the oldest line may exceed it. */
  sharedBytesMax: number;
  /** Bytes of each line that are not counted. */
  freeBytes: number;
  /** Timeout of an unfinished line that does not grow. */
  idleMs: number;
}

/** The share of one connection in the budget. */
export interface RoomHolder {
  /** Reserves `bytes` for the unfinished line. False when the budget is used up: `onRoom` is called once they are reserved. */
  reserve(bytes: number): boolean;
  /** Releases the reservation: the line has ended or was discarded. */
  release(): void;
}

/**
 * One memory budget for the unfinished lines of all connections. To prevent a deadlock, the oldest line may always grow; later lines wait
 * in order when the budget is used up.
 */
export function createLineRoom({
  sharedBytesMax = limits.unfinishedLinesBytesMax,
  freeBytes = limits.unfinishedLineFreeBytes,
  idleMs = limits.unfinishedLineMs,
}: Partial<LineRoomSizes> = {}) {
  interface Line {
    held: number;
    /** More than `held` while the line waits. */
    wanted: number;
    onRoom(): void;
  }
  /** Lines longer than `freeBytes`, oldest first. */
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
      // FIFO: short lines cannot starve a long one.
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

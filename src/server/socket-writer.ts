import { limits } from '../protocol/limits.js';
import type { Connection } from './connection.js';
import type { LineSink } from './lines/line-sink.js';

export interface SocketWriter extends LineSink {
  stop(): void;
}

/** A connection as a sink, with the backpressure of its socket. A peer that reads nothing for `stalledReaderMs` has stalled. */
export function createSocketWriter(connection: Connection, onStalled: () => void): SocketWriter {
  let stalled: NodeJS.Timeout | undefined;
  let stopped = false;

  function canTake(): boolean {
    const can = connection.canWrite();
    if (can === (stalled === undefined) || stopped) return can;
    if (!can) stalled = setTimeout(onStalled, limits.stalledReaderMs).unref();
    else clearStalled();
    return can;
  }

  function clearStalled(): void {
    clearTimeout(stalled);
    stalled = undefined;
  }

  return {
    canTake,
    write(bytes) {
      connection.write(bytes);
      canTake();
    },
    cork: () => connection.socket.cork(),
    uncork: () => connection.socket.uncork(),
    stop() {
      stopped = true;
      clearStalled();
    },
  };
}

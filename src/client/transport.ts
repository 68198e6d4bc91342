import type { Duplex } from 'node:stream';
import type { LockHolder } from '../machine/lock-holder.js';

/** The two streams of the protocol: commands with their replies, and events. */
export type StreamKind = 'commands' | 'events';

/** How a client reaches a daemon: Unix sockets unless another one is given to `connect`, such as a pipe to a relay on another machine. */
export interface Transport {
  /** What people are told it leads to, such as the path of a socket. */
  readonly name: string;
  /**
   * Opens a new stream that carries the lines of a socket of the daemon, both ways. Throws NoDaemon when no daemon is there, and
   * DaemonUnresponsive when one is there that takes no connection. A stream that closes is a lost connection.
   */
  open(kind: StreamKind): Promise<Duplex>;
  /** Starts a daemon and resolves when it can be reached; absent where none can be started. */
  start?(): Promise<void>;
  /** The daemon's process, where that can be found out. */
  findProcess?(): LockHolder | undefined;
}

import type { Duplex } from 'node:stream';
import type { LockHolder } from '../machine/lock-holder.js';

/** The two streams of the protocol: commands with their replies, and events. */
export type StreamKind = 'commands' | 'events';

/** The transport to a daemon: Unix sockets by default, or for example a pipe to a relay on another machine. */
export interface Transport {
  /** The name in messages to people, such as the path of a socket. */
  readonly name: string;
  /** The machine of the daemon, when it is another one. */
  readonly host?: string;
  /** The home directory on that machine, once it was reached. */
  home?(): string | undefined;
  /**
   * Opens a duplex stream to a socket of the daemon. Throws NoDaemon when no daemon listens, and DaemonUnresponsive when a daemon accepts
   * no connection. A stream that closes is a lost connection.
   */
  open(kind: StreamKind): Promise<Duplex>;
  /** Starts a daemon and resolves when it listens; absent where none can be started. */
  start?(): Promise<void>;
  /** The daemon's process, if it is visible from here. */
  findProcess?(): LockHolder | undefined;
}

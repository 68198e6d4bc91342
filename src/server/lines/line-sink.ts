/**
 * Where the lines of a cursor go: a socket, or a part of the daemon that listens (a hook, a notification, a relay). A sink has
 * backpressure: while the sink takes nothing, the cursor keeps its position and queues nothing, so that a slow sink costs a piece of a
 * line, gets fewer and larger deltas, and misses no durable event. The owner of the sink pumps the cursor when there is room again.
 */
export interface LineSink {
  /** Backpressure: called before every write. */
  canTake(): boolean;
  /** Takes a line with its newline, or the next piece of a long line. The bytes are shared with other sinks: do not modify them. */
  write(bytes: Buffer): void;
  /** Lines until `uncork` may be buffered and sent together. */
  cork?(): void;
  uncork?(): void;
}

/**
 * Where the lines of a cursor go: a socket, or a part of the daemon that listens (a hook, a notification, a relay). A sink says how much it
 * takes. Meanwhile the cursor keeps its place and queues nothing, so that a slow sink costs a piece of a line, gets fewer and larger deltas,
 * and misses no durable event. Whoever owns the sink pumps the cursor when there is room again.
 */
export interface LineSink {
  /** Asked before every write: backpressure. */
  canTake(): boolean;
  /** Takes a line with its newline, or a piece of a long one; pieces of a line follow one another. Other sinks get the same bytes. */
  write(bytes: Buffer): void;
  /** Many lines may follow until `uncork`, which can go out together. */
  cork?(): void;
  uncork?(): void;
}

/** Nobody listens on the socket. */
export class NoDaemon extends Error {
  override name = 'NoDaemon';
}

/** A daemon is there and does not answer. Nobody knows whether a command that was sent still takes effect. */
export class DaemonUnresponsive extends Error {
  override name = 'DaemonUnresponsive';
}

/** The daemon that listens on the socket uses other directories than those that were meant. */
export class OtherDaemon extends Error {
  override name = 'OtherDaemon';
}

/** The connection was lost before the answer came. Nobody knows whether the command was taken. */
export class ConnectionLost extends Error {
  override name = 'ConnectionLost';
}

/** An input was not taken, because the outbox holds as many as it may. The text is still the caller's. */
export class OutboxFull extends Error {
  override name = 'OutboxFull';
}

/** The daemon could not be started; the message says what it said. */
export class StartFailed extends Error {
  override name = 'StartFailed';
  /** `already_running` when another daemon holds the lock of the state directory. */
  readonly code: string;
  constructor(message: string, { code = 'start_failed', ...options }: ErrorOptions & { code?: string } = {}) {
    super(message, options);
    this.code = code;
  }
}

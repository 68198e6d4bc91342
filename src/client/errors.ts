/** Nobody listens on the socket. */
export class NoDaemon extends Error {
  override name = 'NoDaemon';
}

/** Timeout: a daemon runs and does not reply. A command that was sent may still take effect. */
export class DaemonUnresponsive extends Error {
  override name = 'DaemonUnresponsive';
}

/** The daemon that listens on the socket uses other directories than expected. */
export class OtherDaemon extends Error {
  override name = 'OtherDaemon';
}

/** The connection was lost before the reply. The command may or may not have been committed. */
export class ConnectionLost extends Error {
  override name = 'ConnectionLost';
}

/** The outbox is at its limit, so the input was not accepted. The caller still has the text. */
export class OutboxFull extends Error {
  override name = 'OutboxFull';
}

/** An observer was told to send something. */
export class ReadOnlyClient extends Error {
  override name = 'ReadOnlyClient';
}

/** The daemon could not be started; the message is that of the daemon. */
export class StartFailed extends Error {
  override name = 'StartFailed';
  /** `already_running` when another daemon holds the lock of the state directory. */
  readonly code: string;
  constructor(message: string, { code = 'start_failed', ...options }: ErrorOptions & { code?: string } = {}) {
    super(message, options);
    this.code = code;
  }
}

/** Another machine cannot be reached; the message says what ssh said, and what to do. */
export class HostUnreachable extends ConnectionLost {
  override name = 'HostUnreachable';
}

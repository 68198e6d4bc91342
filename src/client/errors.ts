/** Nobody listens on the socket. */
export class NoDaemon extends Error {
  override name = 'NoDaemon';
}

/** The connection was lost before the answer came. Nobody knows whether the command was taken. */
export class ConnectionLost extends Error {
  override name = 'ConnectionLost';
}

/** The daemon could not be started; the message says what it said. */
export class StartFailed extends Error {
  override name = 'StartFailed';
}

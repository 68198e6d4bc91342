import { chmodSync, lstatSync, readdirSync, renameSync, rmSync, type Stats } from 'node:fs';
import { createConnection, createServer, type Server, type Socket } from 'node:net';
import { dirname, join } from 'node:path';
import { limits } from '../protocol/limits.js';
import { makeDir } from '../machine/make-dir.js';
import { connectionsMax } from './descriptors.js';

/** The sockets cannot be bound; the message names cause and remedy. */
export class SocketRefused extends Error {
  override name = 'SocketRefused';
}

export interface Listening {
  /** Whether both socket files are still the ones that were bound. */
  isInPlace(): boolean;
  /** Stops accepting and removes the socket files, unless they were replaced. */
  close(): void;
}

interface SocketHandlers {
  commands(socket: Socket): void;
  events(socket: Socket): void;
  /** A connection came while the modes or the owner of the directory allowed other users to connect; it was closed. */
  onInsecureDir(): void;
}

/** Descriptors of listening sockets, which a service manager owns (socket activation). */
export interface PassedSockets {
  commands: number;
  events: number;
}

export function eventsPathOf(socketPath: string): string {
  return `${socketPath}.events`;
}

/** Makes the socket directory with mode 0700. An existing one of another owner or mode is refused, never changed. */
export function prepareSocketDir(socketPath: string): void {
  const longest = Buffer.byteLength(eventsPathOf(socketPath));
  if (longest > limits.socketPathBytesMax) {
    throw new SocketRefused(
      `the socket path ${eventsPathOf(socketPath)} has ${longest} bytes, ${limits.socketPathBytesMax} are possible; choose a shorter one with --socket`,
    );
  }
  const dir = dirname(socketPath);
  try {
    makeDir(dir);
  } catch (error) {
    throw new SocketRefused(`cannot make the socket directory ${dir}: ${(error as Error).message}`, { cause: error });
  }
  const problem = dirProblem(dir);
  if (problem !== undefined) throw new SocketRefused(`the socket directory ${dir} ${problem}`);
}

function dirProblem(dir: string): string | undefined {
  const found = lstatSync(dir);
  if (found.isSymbolicLink()) return 'is a symbolic link; it must be a directory';
  if (!found.isDirectory()) return 'is not a directory';
  const uid = process.getuid?.();
  if (uid !== undefined && found.uid !== uid) return `belongs to user ${found.uid}, not to you`;
  if ((found.mode & 0o077) === 0) return undefined;
  const remedy = isForSocketsAlone(dir)
    ? 'run chmod 700 on it'
    : `put the socket into a directory of its own, such as --socket ${join(dir, 'berth', 'berth.sock')}`;
  return `is open to other users (mode ${(found.mode & 0o777).toString(8)}); ${remedy}`;
}

/** Whether chmod 700 is safe advice: not for a directory with other files, or a shared (sticky) one such as /tmp. */
function isForSocketsAlone(dir: string): boolean {
  const isShared = (lstatSync(dir).mode & 0o1000) !== 0;
  return !isShared && readdirSync(dir, { withFileTypes: true }).every((entry) => entry.isSocket() || entry.name.endsWith('.sock.starting'));
}

/**
 * Binds both sockets, or takes those that were passed: their files stay when they are closed. Call only while holding the lock of the
 * state directory: a stale socket file is removed.
 */
export async function listen(socketPath: string, handlers: SocketHandlers, passed?: PassedSockets): Promise<Listening> {
  const paths = [socketPath, eventsPathOf(socketPath)] as const;
  const accepts = [checkDir(handlers.commands), checkDir(handlers.events)] as const;
  const servers = passed ? await openPassed(passed) : await bindBoth();
  const inodes = paths.map((path) => statIfExists(path)?.ino);

  async function bindBoth(): Promise<Server[]> {
    for (const path of paths) await removeStale(path);
    return [await bind(paths[0], accepts[0]), await bind(paths[1], accepts[1])];
  }

  function openPassed({ commands, events }: PassedSockets): Promise<Server[]> {
    const gone = paths.find((path) => statIfExists(path)?.isSocket() !== true);
    if (gone !== undefined)
      throw new SocketRefused(`the socket file ${gone} of systemd is gone; systemctl --user restart its socket unit to make it again`);
    return Promise.all([startServer(paths[0], accepts[0], { fd: commands }), startServer(paths[1], accepts[1], { fd: events })]);
  }

  /** Modes and owner are the access control. Modes that were loosened are restored and the connection is closed. */
  function checkDir(accept: (socket: Socket) => void): (socket: Socket) => void {
    return (socket) => {
      if (ensurePrivate(dirname(socketPath), paths)) return accept(socket);
      socket.destroy();
      handlers.onInsecureDir();
    };
  }

  const isOurs = (path: string, index: number): boolean => statIfExists(path)?.ino === inodes[index];
  return {
    isInPlace: () => paths.every(isOurs),
    close() {
      for (const server of servers) server.close();
      if (!passed) for (const path of paths.filter(isOurs)) rmSync(path, { force: true });
    },
  };
}

/** Undefined for ENOENT and ENOTDIR. */
function statIfExists(path: string): Stats | undefined {
  try {
    return lstatSync(path);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined;
    throw error;
  }
}

/** False when another user may have connected. A directory that is gone is private: only connections of before come in. */
function ensurePrivate(dir: string, paths: readonly string[]): boolean {
  const found = statIfExists(dir);
  if (!found) return true;
  if (!found.isDirectory() || found.uid !== process.getuid?.()) return false;
  if ((found.mode & 0o077) === 0) return true;
  const open = paths.filter((path) => ((statIfExists(path)?.mode ?? 0) & 0o077) !== 0);
  chmodSync(dir, 0o700);
  for (const path of open) chmodSync(path, 0o600);
  return open.length === 0;
}

/** Removes a stale socket file, which a killed daemon leaves. A socket that accepts connections is another daemon's. */
async function removeStale(path: string): Promise<void> {
  const found = statIfExists(path);
  if (!found) return;
  if (!found.isSocket())
    throw new SocketRefused(
      `cannot make the socket ${path}: a file that is not a socket is in the way; move it or choose another --socket`,
    );
  if (await isListening(path)) {
    throw new SocketRefused(`another daemon with another state directory listens on ${path}; stop it or choose another --socket`);
  }
  rmSync(path, { force: true });
}

/** Whether a process listens on a socket. */
function isListening(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const probe = createConnection(path);
    probe.once('connect', () => {
      probe.destroy();
      resolve(true);
    });
    // EAGAIN: a process listens, and its backlog is full.
    probe.once('error', (error: NodeJS.ErrnoException) => resolve(error.code === 'EAGAIN'));
  });
}

/**
 * Binds under a temporary name and then renames the socket: it appears atomically with its mode, and closing the server, which unlinks
 * the name that was bound, cannot unlink a socket that replaced ours.
 */
async function bind(path: string, accept: (socket: Socket) => void): Promise<Server> {
  const bound = join(dirname(path), `.${process.pid}`);
  const server = await startServer(path, accept, { path: bound });
  chmodSync(bound, 0o600);
  renameSync(bound, path);
  return server;
}

function startServer(path: string, accept: (socket: Socket) => void, on: { path: string } | { fd: number }): Promise<Server> {
  return new Promise((resolve, reject) => {
    const server = createServer({ allowHalfOpen: true }, accept);
    server.maxConnections = connectionsMax();
    server.once('error', (error) => reject(new SocketRefused(`cannot listen on ${path}: ${error.message}`, { cause: error })));
    server.listen(on, () => resolve(server));
  });
}

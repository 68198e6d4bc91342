import { chmodSync, lstatSync, readdirSync, renameSync, rmSync, type Stats } from 'node:fs';
import { createConnection, createServer, type Server, type Socket } from 'node:net';
import { dirname, join } from 'node:path';
import { limits } from '../protocol/limits.js';
import { makeDir } from '../machine/make-dir.js';
import { connectionsMax } from './descriptors.js';

/** The sockets cannot be where they were asked to be; the message says why and what to do. */
export class SocketRefused extends Error {
  override name = 'SocketRefused';
}

export interface Listening {
  /** Both sockets are still where they were put. */
  isWhole(): boolean;
  /** Stops taking connections and removes the sockets, unless others have been put in their place. */
  close(): void;
}

interface Doors {
  commands(socket: Socket): void;
  events(socket: Socket): void;
  /** Somebody connected through a door that had been left open to others. */
  onLooseDoor(): void;
}

function eventsPathOf(socketPath: string): string {
  return `${socketPath}.events`;
}

/** The directory is ours alone: made 0700, or found so. One that belongs to others or is open to them is refused, not mended. */
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

/** A directory that has anything but sockets in it, or is shared by design (sticky, such as /tmp), serves others whom a chmod would shut out. */
function isForSocketsAlone(dir: string): boolean {
  const isShared = (lstatSync(dir).mode & 0o1000) !== 0;
  return !isShared && readdirSync(dir, { withFileTypes: true }).every((entry) => entry.isSocket() || entry.name.endsWith('.sock.starting'));
}

/** Binds both sockets. Call only while holding the lock of the state directory: a stale socket file is removed. */
export async function listen(socketPath: string, doors: Doors): Promise<Listening> {
  const paths = [socketPath, eventsPathOf(socketPath)] as const;
  for (const path of paths) await removeStale(path);
  const servers = [await bind(paths[0], guarded(doors.commands)), await bind(paths[1], guarded(doors.events))];
  const inodes = paths.map((path) => lstatSync(path).ino);

  /** The modes keep others out. Should someone have loosened them, they are set right and this visitor is sent away. */
  function guarded(accept: (socket: Socket) => void): (socket: Socket) => void {
    return (socket) => {
      if (isOursAlone(dirname(socketPath), paths)) return accept(socket);
      socket.destroy();
      doors.onLooseDoor();
    };
  }

  const isOurs = (path: string, index: number): boolean => look(path)?.ino === inodes[index];
  return {
    isWhole: () => paths.every(isOurs),
    close() {
      for (const server of servers) server.close();
      for (const path of paths.filter(isOurs)) rmSync(path, { force: true });
    },
  };
}

/** Undefined when nothing is there, or what should be a directory on the way is something else. */
function look(path: string): Stats | undefined {
  try {
    return lstatSync(path);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined;
    throw error;
  }
}

function isOursAlone(dir: string, paths: readonly string[]): boolean {
  const dirMode = look(dir)?.mode ?? 0;
  if ((dirMode & 0o077) === 0) return true;
  const open = paths.filter((path) => ((look(path)?.mode ?? 0) & 0o077) !== 0);
  chmodSync(dir, 0o700);
  for (const path of open) chmodSync(path, 0o600);
  return open.length === 0;
}

/** A socket file that nobody listens on is what a killed daemon leaves. One that answers is another daemon's. */
async function removeStale(path: string): Promise<void> {
  const found = look(path);
  if (!found) return;
  if (!found.isSocket()) throw new SocketRefused(`${path} is in the way: it is not a socket; move it or choose another --socket`);
  if (await answers(path)) {
    throw new SocketRefused(`another daemon with another state directory listens on ${path}; stop it or choose another --socket`);
  }
  rmSync(path, { force: true });
}

/** Does anybody listen on a socket? */
function answers(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const probe = createConnection(path);
    probe.once('connect', () => {
      probe.destroy();
      resolve(true);
    });
    // A full backlog (EAGAIN) is that of somebody who listens.
    probe.once('error', (error: NodeJS.ErrnoException) => resolve(error.code === 'EAGAIN'));
  });
}

/**
 * Binds under a name of its own and then moves the socket to its place: it appears there ready, and closing the server, which
 * removes the file that was bound, cannot take away what somebody else has put there since.
 */
function bind(path: string, accept: (socket: Socket) => void): Promise<Server> {
  return new Promise((resolve, reject) => {
    const bound = join(dirname(path), `.${process.pid}`);
    const server = createServer({ allowHalfOpen: true }, accept);
    server.maxConnections = connectionsMax();
    server.once('error', (error) => reject(new SocketRefused(`cannot listen on ${path}: ${error.message}`, { cause: error })));
    server.listen(bound, () => {
      chmodSync(bound, 0o600);
      renameSync(bound, path);
      resolve(server);
    });
  });
}

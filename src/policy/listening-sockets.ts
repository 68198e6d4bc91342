import { lstatSync, readFileSync } from 'node:fs';
import { limits } from '../protocol/limits.js';

/** Flags, type and path of a line in /proc/net/unix; sockets without a path, and abstract ones, do not match. */
const line = /^\S+: \S+ \S+ ([0-9A-F]{8}) ([0-9A-F]{4}) \S+ +\d+ (\/.+)$/;
const acceptsConnections = 0x10000;
const datagram = '0002';

/**
 * Paths of Unix sockets that programs of this machine listen on. A sandboxed command that connects to one could make that program act outside of
 * the sandbox: an editor's server, a file watcher, a terminal, a database.
 */
export function findListeningSockets(table = readTable()): string[] {
  const paths = table.split('\n').flatMap((text) => {
    const [, flags = '', type, path = ''] = line.exec(text) ?? [];
    return path !== '' && ((Number.parseInt(flags, 16) & acceptsConnections) !== 0 || type === datagram) ? [path] : [];
  });
  return [...new Set(paths)].slice(0, limits.hiddenSocketsMax);
}

/** Whether a path is a socket now: a container that shares the network namespace has sockets at paths of its own file system. */
export function isSocket(path: string): boolean {
  try {
    return lstatSync(path, { throwIfNoEntry: false })?.isSocket() === true;
  } catch (error) {
    if (error instanceof Error && 'code' in error) return false;
    throw error;
  }
}

function readTable(): string {
  try {
    return readFileSync('/proc/net/unix', 'utf8');
  } catch (error) {
    // A kernel without /proc/net/unix lists no sockets.
    if (error instanceof Error && 'code' in error) return '';
    throw error;
  }
}

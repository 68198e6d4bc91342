import { lstatSync, readFileSync } from 'node:fs';
import { limits } from '../protocol/limits.js';

/** Flags, type and path of a line in /proc/net/unix; sockets without a path, and abstract ones, do not match. */
const line = /^\S+: \S+ \S+ ([0-9A-F]{8}) ([0-9A-F]{4}) \S+ +\d+ (\/.+)$/;
const acceptsConnections = 0x10000;
const datagram = '0002';

/**
 * Paths of the sockets that programs of this machine listen on. Whoever can connect to one has that program act outside of the sandbox: an
 * editor's server, a file watcher, a terminal, a database.
 */
export function findListeningSockets(table = readTable()): string[] {
  const paths = table.split('\n').flatMap((text) => {
    const [, flags = '', type, path = ''] = line.exec(text) ?? [];
    return path !== '' && ((Number.parseInt(flags, 16) & acceptsConnections) !== 0 || type === datagram) ? [path] : [];
  });
  return [...new Set(paths)].slice(0, limits.hiddenSocketsMax);
}

/** Whether a socket is there still: a container that shares the network has sockets at paths that mean something else here. */
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
    // A kernel without it tells nobody where its sockets are.
    if (error instanceof Error && 'code' in error) return '';
    throw error;
  }
}

import { readFileSync, readlinkSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import { isSameDirectory } from '../../machine/paths.js';
import { isSystemError } from '../../machine/system-calls.js';
import { eventsPathOf, SocketRefused, type PassedSockets } from '../../server/listen.js';

/** The first passed descriptor (SD_LISTEN_FDS_START). */
const firstDescriptor = 3;
const fix = 'see berth.socket and berth-events.socket (berth daemon install writes them)';

/**
 * Maps the descriptors of socket activation by their names, `command` and `events`, in either order. Each must be a listening stream
 * socket at the path of the daemon, otherwise SocketRefused: clients would connect to something else.
 */
export function mapPassedSockets(names: readonly string[], socketPath: string): PassedSockets {
  return {
    commands: findPassed(names, 'command', socketPath),
    events: findPassed(names, 'events', eventsPathOf(socketPath)),
  };
}

function findPassed(names: readonly string[], name: string, path: string): number {
  const named = names.flatMap((found, at) => (found === name ? [firstDescriptor + at] : []));
  const [descriptor] = named;
  if (descriptor === undefined || named.length > 1) {
    const found = names.map((each) => JSON.stringify(each)).join(', ');
    const problem = descriptor === undefined ? 'no socket' : 'more than one socket';
    throw new SocketRefused(`systemd passed ${problem} with FileDescriptorName=${name} (the names are ${found}); ${fix}`);
  }
  const bound = listeningPathOf(descriptor);
  if (bound === undefined) throw new SocketRefused(`what systemd passed as ${name} is no listening Unix stream socket; ${fix}`);
  if (basename(bound) !== basename(path) || !isSameDirectory(dirname(bound), dirname(path))) {
    throw new SocketRefused(`systemd passed the socket ${bound} as ${name}, but clients connect to ${path}; ${fix}`);
  }
  return descriptor;
}

/** The path of a listening Unix stream socket, from /proc/net/unix; undefined for any other descriptor. */
function listeningPathOf(descriptor: number): string | undefined {
  const inode = /^socket:\[(\d+)\]$/.exec(linkOf(descriptor) ?? '')?.[1];
  if (inode === undefined) return undefined;
  // Columns: Num RefCount Protocol Flags Type St Inode Path. Flags 00010000: it accepts connections. Type 0001: a stream.
  const row = new RegExp(`^\\S+ \\S+ \\S+ 00010000 0001 \\S+ +${inode} (/.*)$`, 'm');
  return row.exec(readFileSync('/proc/net/unix', 'utf8'))?.[1];
}

function linkOf(descriptor: number): string | undefined {
  try {
    return readlinkSync(`/proc/self/fd/${descriptor}`);
  } catch (error) {
    if (isSystemError(error)) return undefined;
    throw error;
  }
}

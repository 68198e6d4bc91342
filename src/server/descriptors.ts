import { readFileSync } from 'node:fs';
import { limits } from '../protocol/limits.js';

/** The limit of open file descriptors (RLIMIT_NOFILE) of this process. */
export function descriptorsMax(): number {
  const limit = /^Max open files\s+(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8'))?.[1];
  return limit === undefined ? Infinity : Number(limit);
}

/**
 * The limit of connections of each of the two sockets, which reserves file descriptors for everything else. A module whose import fails
 * with EMFILE can never be loaded, because Node caches the failure.
 */
export function connectionsMax(descriptors = descriptorsMax()): number {
  const shared = Math.floor((descriptors - limits.reservedDescriptorsMin) / 2);
  return Math.max(limits.connectionsMin, Math.min(limits.connectionsMax, shared));
}

import { readFileSync } from 'node:fs';
import { limits } from '../protocol/limits.js';

/** How many files this process may have open. */
export function descriptorsMax(): number {
  const limit = /^Max open files\s+(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8'))?.[1];
  return limit === undefined ? Infinity : Number(limit);
}

/**
 * How many connections each of the two sockets may have: so many that descriptors are left to work with. A module that cannot be loaded
 * for want of one cannot be loaded later either, because Node remembers that it failed.
 */
export function connectionsMax(descriptors = descriptorsMax()): number {
  const shared = Math.floor((descriptors - limits.reservedDescriptorsMin) / 2);
  return Math.max(limits.connectionsMin, Math.min(limits.connectionsMax, shared));
}

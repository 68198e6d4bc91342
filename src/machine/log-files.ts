import { join } from 'node:path';
import { limits } from '../protocol/limits.js';

/** The log of the daemon. */
export function logPath(stateDir: string): string {
  return join(stateDir, 'berth.log');
}

/** The log and the older ones that it was rotated to, newest first. They need not exist. */
export function rotatedLogs(path: string): string[] {
  return [path, ...Array.from({ length: limits.olderLogFilesMax }, (_, at) => `${path}.${at + 1}`)];
}

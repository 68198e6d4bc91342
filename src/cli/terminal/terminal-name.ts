import { readlinkSync } from 'node:fs';
import { isatty } from 'node:tty';

/** The client name for other clients: the terminal device, such as `pts/3`, or the pid. */
export function nameTerminal(): string {
  for (const descriptor of [0, 1, 2]) {
    if (!isatty(descriptor)) continue;
    try {
      return `berth on ${readlinkSync(`/proc/self/fd/${descriptor}`).replace(/^\/dev\//, '')}`;
    } catch (error) {
      // No /proc on this system.
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    }
  }
  return `berth, pid ${process.pid}`;
}

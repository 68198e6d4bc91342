import { readlinkSync } from 'node:fs';
import { isatty } from 'node:tty';

/** How other terminals call this one: by its device, such as `pts/3`, or by the process where there is none. */
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

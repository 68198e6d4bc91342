import { closeSync, openSync } from 'node:fs';

/** Opens a file, which only its owner may read, for the duration of some work. */
export function withFile(path: string, flags: string, work: (fd: number) => void): void {
  const fd = openSync(path, flags, 0o600);
  try {
    work(fd);
  } finally {
    closeSync(fd);
  }
}

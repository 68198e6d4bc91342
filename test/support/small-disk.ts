import { spawnSync } from 'node:child_process';
import { closeSync, fstatSync, ftruncateSync, mkdirSync, openSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';

/** Why no small disk can be made here; undefined when it can. */
export function noSmallDisk(): string | undefined {
  if (process.platform !== 'linux') return 'tmpfs is for Linux';
  const probe = spawnSync('unshare', ['-m', 'mount', '-t', 'tmpfs', '-o', 'size=64k', 'tmpfs', '/mnt'], { encoding: 'utf8' });
  return probe.status === 0 ? undefined : `mounting a tmpfs is not allowed: ${probe.stderr || String(probe.error)}`;
}

export interface SmallDisk extends Disposable {
  readonly path: string;
  /** Takes all the room that is left, but for some kilobytes if told. */
  fill(leaveKilobytes?: number): void;
  free(): void;
}

/** A file system of its own with very little room, at a path that must not exist yet or be empty. */
export function mountSmallDisk(path: string, megabytes: number): SmallDisk {
  mkdirSync(path, { recursive: true });
  const mounted = spawnSync('mount', ['-t', 'tmpfs', '-o', `size=${megabytes}m,mode=0700`, 'tmpfs', path], { encoding: 'utf8' });
  if (mounted.status !== 0) throw new Error(`mount: ${mounted.stderr}`);
  const filler = join(path, 'filler');
  return {
    path,
    fill(leaveKilobytes = 0) {
      const fd = openSync(filler, 'a');
      const page = Buffer.alloc(4096, 1);
      try {
        for (;;) writeSync(fd, page);
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error;
        if (leaveKilobytes > 0) ftruncateSync(fd, fstatSync(fd).size - leaveKilobytes * 1024);
      } finally {
        closeSync(fd);
      }
    },
    free: () => rmSync(filler, { force: true }),
    [Symbol.dispose]: () => void spawnSync('umount', ['-l', path]),
  };
}

import { isBelow, toAbsolute, toRealPath } from './real-paths.js';

/** Directories of the system: a session that runs in one of them has no workspace of its own. */
const systemDirs = ['/bin', '/boot', '/dev', '/etc', '/lib', '/lib64', '/proc', '/run', '/sbin', '/sys', '/usr', '/var/lib', '/var/run'];

/** The directories that may be written, as they lead now. One that holds the home directory, or the system, is too much for anybody. */
export function createRoots(dirs: readonly string[], workspace: string, home: string): string[] {
  return dirs.flatMap((dir) => {
    const real = toRealPath(toAbsolute(dir, workspace, home));
    const isTooWide =
      real === undefined || real === '/' || (real !== home && isBelow(home, real)) || systemDirs.some((place) => isBelow(real, place));
    return isTooWide ? [] : [real];
  });
}

import { isBelow, toAbsolute, toGrantedPath } from './real-paths.js';

/** Directories of the system: a session that runs in one of them has no workspace of its own. */
const systemDirs = ['/bin', '/boot', '/dev', '/etc', '/lib', '/lib64', '/proc', '/run', '/sbin', '/sys', '/usr', '/var/lib', '/var/run'];

/** Everybody's directories. Sockets of terminals, desktops and agents lie in them, and whoever connects to one is out of the sandbox. */
const sharedDirs = ['/tmp', '/var/tmp', '/dev/shm'];
/** The same with everything below. */
const socketDirs = ['/run', '/var/run', '/dev'];
const socketNames = /^\/tmp\/(tmux-\d+|ssh-[^/]+|dbus-[^/]+|\.(X11|ICE|XIM|font)-unix|u?screens|systemd-private-[^/]+)(\/|$)/;

/** Places that are nobody's workspace, as real paths. */
export interface NoWorkspace {
  /** Of berth itself, with all that is in them. */
  own: readonly string[];
  /** Beside those that are known: the directories themselves, not what is in them. */
  shared: readonly string[];
}

/** Why a directory is not a workspace, and what to do; undefined when nothing speaks against it. */
export function whyNoWorkspace(real: string, { own, shared }: NoWorkspace): string | undefined {
  if (own.some((place) => isBelow(real, place)))
    return `${real} belongs to berth itself, so it is not a workspace; start a session in a directory of your own`;
  if (![...sharedDirs, ...shared].includes(real) && !socketDirs.some((place) => isBelow(real, place)) && !socketNames.test(real))
    return undefined;
  return `${real} is shared by programs that have their sockets there, so it is not a workspace; make a directory and start a session in it`;
}

/**
 * The workspace and other directories that may be written, as real paths. A name with a link in it grants nothing, and one that holds the home
 * directory, or the system, is too much for anybody.
 */
export function createRoots(dirs: readonly string[], workspace: string, home: string, places: NoWorkspace): string[] {
  // The workspace is a real path already: resolved again, it could be another one.
  const reals = [workspace, ...dirs.map((dir) => toGrantedPath(toAbsolute(dir, workspace, home)))];
  return reals.flatMap((real) => {
    const isTooWide =
      real === undefined ||
      real === '/' ||
      (real !== home && isBelow(home, real)) ||
      systemDirs.some((place) => isBelow(real, place)) ||
      whyNoWorkspace(real, places) !== undefined;
    return isTooWide ? [] : [real];
  });
}

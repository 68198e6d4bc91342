import { isBelow, toAbsolute, toGrantedPath } from './real-paths.js';

/** System directories, which are never writable roots. */
const systemDirs = ['/bin', '/boot', '/dev', '/etc', '/lib', '/lib64', '/proc', '/run', '/sbin', '/sys', '/usr', '/var/lib', '/var/run'];

/** Shared directories with sockets of terminals, desktops and ssh-agents: a command that connects to one escapes the sandbox. */
const sharedDirs = ['/tmp', '/var/tmp', '/dev/shm'];
/** Directories of sockets, with everything below. */
const socketDirs = ['/run', '/var/run', '/dev'];
const socketNames = /^\/tmp\/(tmux-\d+|ssh-[^/]+|dbus-[^/]+|\.(X11|ICE|XIM|font)-unix|u?screens|systemd-private-[^/]+)(\/|$)/;

/** Directories that are no workspace, as real paths. */
export interface NoWorkspace {
  /** berth's own directories, with everything below. */
  own: readonly string[];
  /** Shared directories beside the well-known ones: the directories themselves, not their subdirectories. */
  shared: readonly string[];
}

/** Why a directory is not a workspace, and what to do; undefined for a valid workspace. */
export function whyNoWorkspace(real: string, { own, shared }: NoWorkspace): string | undefined {
  if (own.some((place) => isBelow(real, place)))
    return `${real} belongs to berth itself, so it is not a workspace; start a session in a directory of your own`;
  if (![...sharedDirs, ...shared].includes(real) && !socketDirs.some((place) => isBelow(real, place)) && !socketNames.test(real))
    return undefined;
  return `${real} is shared by programs that have their sockets there, so it is not a workspace; make a directory and start a session in it`;
}

/**
 * The writable roots as real paths: the workspace and configured directories. A path with a symlink in it, a system directory and a parent of
 * the home directory are left out.
 */
export function createRoots(dirs: readonly string[], workspace: string, home: string, places: NoWorkspace): string[] {
  // The workspace is a real path already: resolving it again would be a TOCTOU race.
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

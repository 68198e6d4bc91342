import { statSync } from 'node:fs';
import { tmpdir, userInfo } from 'node:os';
import { isAbsolute, join, resolve } from 'node:path';
import { findHome } from './home.js';

/** Paths of the socket and the directories. Flags take precedence over `BERTH_…` variables, these over XDG variables. */
export interface Paths {
  socket: string;
  stateDir: string;
  configDir: string;
}

export interface PathFlags {
  socket?: string | undefined;
  stateDir?: string | undefined;
  configDir?: string | undefined;
}

/** The home directory cannot be determined. */
export class HomeUnknown extends Error {
  override name = 'HomeUnknown';
}

type Env = Record<string, string | undefined>;

export function resolvePaths(flags: PathFlags, env: Env): Paths {
  return {
    socket: resolve(nonEmpty(flags.socket) ?? readVariable(env, 'BERTH_SOCKET') ?? join(runtimeDir(env), 'berth.sock')),
    stateDir: resolve(
      nonEmpty(flags.stateDir) ?? readVariable(env, 'BERTH_STATE_DIR') ?? join(xdg(env, 'XDG_STATE_HOME', '.local/state'), 'berth'),
    ),
    configDir: resolve(
      nonEmpty(flags.configDir) ?? readVariable(env, 'BERTH_CONFIG_DIR') ?? join(xdg(env, 'XDG_CONFIG_HOME', '.config'), 'berth'),
    ),
  };
}

/** The directories that the daemon behind a socket must use; an absent one is not checked. */
export interface MeantDirs {
  stateDir?: string;
  configDir?: string;
}

/**
 * The directories to check: those that a flag or a variable names, and the state directory with the default socket, which without
 * XDG_RUNTIME_DIR is the same for all homes of a user. With an explicit socket the default directories are not checked.
 */
export function meantDirs(flags: PathFlags, env: Env): MeantDirs {
  const { stateDir, configDir } = resolvePaths(flags, env);
  const isNamed = (flag: keyof PathFlags, variable: string): boolean =>
    (nonEmpty(flags[flag]) ?? readVariable(env, variable)) !== undefined;
  return {
    ...((isNamed('stateDir', 'BERTH_STATE_DIR') || !isNamed('socket', 'BERTH_SOCKET')) && { stateDir }),
    ...(isNamed('configDir', 'BERTH_CONFIG_DIR') && { configDir }),
  };
}

/** Whether two paths have the same inode. */
export function isSameDirectory(one: string, other: string): boolean {
  if (one === other) return true;
  try {
    const [first, second] = [statSync(one), statSync(other)];
    return first.ino === second.ino && first.dev === second.dev;
  } catch (error) {
    if (error instanceof Error && 'syscall' in error) return false;
    throw error;
  }
}

/** An empty flag or variable counts as unset. */
function nonEmpty(value: string | undefined): string | undefined {
  return value === '' ? undefined : value;
}

function readVariable(env: Env, name: string): string | undefined {
  return nonEmpty(env[name]);
}

function xdg(env: Env, name: string, fallback: string): string {
  const dir = readVariable(env, name);
  // The XDG specification says to ignore relative paths.
  return dir !== undefined && isAbsolute(dir) ? dir : join(homeOf(env), fallback);
}

function homeOf(env: Env): string {
  const home = findHome(env);
  if (home !== undefined) return home;
  throw new HomeUnknown('cannot tell where your home directory is; set HOME, or BERTH_STATE_DIR and BERTH_CONFIG_DIR');
}

/** The default directory of the sockets. */
export function runtimeDir(env: Env): string {
  const dir = readVariable(env, 'XDG_RUNTIME_DIR');
  if (dir !== undefined && isAbsolute(dir)) return join(dir, 'berth');
  return join(tmpdir(), `berth-${process.getuid?.() ?? userInfo().username}`);
}

import { statSync } from 'node:fs';
import { homedir, tmpdir, userInfo } from 'node:os';
import { isAbsolute, join, resolve } from 'node:path';

/** Where things are. Flags win over `BERTH_…` variables, those over the XDG ones. */
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

/** There is no home directory to put things in. */
export class HomeUnknown extends Error {
  override name = 'HomeUnknown';
}

type Env = Record<string, string | undefined>;

export function resolvePaths(flags: PathFlags, env: Env): Paths {
  return {
    socket: resolve(named(flags.socket) ?? given(env, 'BERTH_SOCKET') ?? join(runtimeDir(env), 'berth.sock')),
    stateDir: resolve(named(flags.stateDir) ?? given(env, 'BERTH_STATE_DIR') ?? join(xdg(env, 'XDG_STATE_HOME', '.local/state'), 'berth')),
    configDir: resolve(named(flags.configDir) ?? given(env, 'BERTH_CONFIG_DIR') ?? join(xdg(env, 'XDG_CONFIG_HOME', '.config'), 'berth')),
  };
}

/** The directories that a daemon must use to be the one that is meant; what is absent does not matter. */
export interface MeantDirs {
  stateDir?: string;
  configDir?: string;
}

/**
 * Directories that are named are meant. So is the state directory of this home when the socket is the usual one: without
 * XDG_RUNTIME_DIR it is the same for all homes of a user. A socket that is named says by itself which daemon is meant.
 */
export function meantDirs(flags: PathFlags, env: Env): MeantDirs {
  const { stateDir, configDir } = resolvePaths(flags, env);
  const isNamed = (flag: keyof PathFlags, variable: string): boolean => (named(flags[flag]) ?? given(env, variable)) !== undefined;
  return {
    ...((isNamed('stateDir', 'BERTH_STATE_DIR') || !isNamed('socket', 'BERTH_SOCKET')) && { stateDir }),
    ...(isNamed('configDir', 'BERTH_CONFIG_DIR') && { configDir }),
  };
}

/** Do two paths lead to the same directory? */
export function isSamePlace(one: string, other: string): boolean {
  if (one === other) return true;
  try {
    const [first, second] = [statSync(one), statSync(other)];
    return first.ino === second.ino && first.dev === second.dev;
  } catch (error) {
    if (error instanceof Error && 'syscall' in error) return false;
    throw error;
  }
}

/** An empty flag or variable is as good as none. */
function named(value: string | undefined): string | undefined {
  return value === '' ? undefined : value;
}

function given(env: Env, name: string): string | undefined {
  return named(env[name]);
}

function xdg(env: Env, name: string, fallback: string): string {
  const dir = given(env, name);
  // The XDG specification says to ignore relative paths.
  return dir !== undefined && isAbsolute(dir) ? dir : join(given(env, 'HOME') ?? homeOfUser(), fallback);
}

function homeOfUser(): string {
  try {
    return homedir();
  } catch (error) {
    throw new HomeUnknown('cannot tell where your home directory is; set HOME, or BERTH_STATE_DIR and BERTH_CONFIG_DIR', { cause: error });
  }
}

/** Where the sockets are unless somebody says otherwise. */
export function runtimeDir(env: Env): string {
  const dir = given(env, 'XDG_RUNTIME_DIR');
  if (dir !== undefined && isAbsolute(dir)) return join(dir, 'berth');
  return join(tmpdir(), `berth-${process.getuid?.() ?? userInfo().username}`);
}

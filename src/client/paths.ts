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

function runtimeDir(env: Env): string {
  const dir = given(env, 'XDG_RUNTIME_DIR');
  if (dir !== undefined && isAbsolute(dir)) return join(dir, 'berth');
  return join(tmpdir(), `berth-${process.getuid?.() ?? userInfo().username}`);
}

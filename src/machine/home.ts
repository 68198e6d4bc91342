import { userInfo } from 'node:os';

type Env = Record<string, string | undefined>;

/** The home directory: `HOME`, or else that of the user database. Undefined for an account that has neither, as in some containers. */
export function findHome(env: Env): string | undefined {
  return (env.HOME === '' ? undefined : env.HOME) ?? findUser()?.homedir;
}

/** The home directory, or `/` for an account without one, as login programs do. */
export function homeOrRoot(env: Env): string {
  return findHome(env) ?? '/';
}

/** The entry of the user database; undefined for a uid that has none. */
export function findUser(): { username: string; homedir: string } | undefined {
  try {
    return userInfo();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ERR_SYSTEM_ERROR') return undefined;
    throw error;
  }
}

import { isAbsolute } from 'node:path';
import { isWithin } from './bubblewrap.js';
import type { Confinement } from './port.js';

/** Allowlist of inherited environment variables: no API keys, ssh-agent sockets or loader settings (LD_PRELOAD). */
const inherited = /^(PATH|USER|LOGNAME|SHELL|LANG|LC_[A-Z]+|TZ|TMPDIR)$/;
const pathDefault = '/usr/local/bin:/usr/bin:/bin';

/** Keeps programs non-interactive: no pager, no prompt, no editor. */
const nonInteractive = {
  TERM: 'dumb',
  NO_COLOR: '1',
  PAGER: 'cat',
  GIT_PAGER: 'cat',
  GIT_EDITOR: 'true',
  GIT_TERMINAL_PROMPT: '0',
  DEBIAN_FRONTEND: 'noninteractive',
};

export interface ChildEnvOptions {
  home: string;
  cwd: string;
  confinement: Confinement;
}

/** The environment variables of a command. */
export function toChildEnv(env: Record<string, string | undefined>, { home, cwd, confinement }: ChildEnvOptions): Record<string, string> {
  const variables = Object.entries(env).filter((entry): entry is [string, string] => entry[1] !== undefined && inherited.test(entry[0]));
  const own = { ...nonInteractive, HOME: home, PATH: safePath(env.PATH ?? '', [cwd, ...confinement.writable]) };
  return { ...Object.fromEntries(variables), ...own, ...(confinement.kind === 'sandbox' ? { TMPDIR: '/tmp' } : {}) };
}

/** PATH without relative directories and those in a workspace: a repository could put its own `ls` there. */
function safePath(path: string, workspaces: readonly string[]): string {
  const directories = path.split(':').filter((folder) => isAbsolute(folder) && !workspaces.some((root) => isWithin(folder, root)));
  return directories.length > 0 ? directories.join(':') : pathDefault;
}

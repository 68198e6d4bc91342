import { isAbsolute } from 'node:path';
import { isWithin } from './bubblewrap.js';
import type { Confinement } from './port.js';

/** All that a child gets of the daemon's environment. Keys, agents' sockets and loader settings are not in it. */
const inherited = /^(PATH|USER|LOGNAME|SHELL|LANG|LC_[A-Z]+|TZ|TMPDIR)$/;
const pathDefault = '/usr/local/bin:/usr/bin:/bin';

/** For programs that would page, ask, or open an editor, with nobody there. */
const nobodyThere = {
  TERM: 'dumb',
  NO_COLOR: '1',
  PAGER: 'cat',
  GIT_PAGER: 'cat',
  GIT_EDITOR: 'true',
  GIT_TERMINAL_PROMPT: '0',
  DEBIAN_FRONTEND: 'noninteractive',
};

export interface ChildPlace {
  home: string;
  cwd: string;
  confinement: Confinement;
}

/** The environment of a command. */
export function toChildEnv(env: Record<string, string | undefined>, { home, cwd, confinement }: ChildPlace): Record<string, string> {
  const kept = Object.entries(env).filter((entry): entry is [string, string] => entry[1] !== undefined && inherited.test(entry[0]));
  const own = { ...nobodyThere, HOME: home, PATH: safePath(env.PATH ?? '', [cwd, ...confinement.writable]) };
  return { ...Object.fromEntries(kept), ...own, ...(confinement.kind === 'sandbox' ? { TMPDIR: '/tmp' } : {}) };
}

/** Without what is relative or in a workspace: a repository could put its own `ls` there. */
function safePath(path: string, workspaces: readonly string[]): string {
  const kept = path.split(':').filter((folder) => isAbsolute(folder) && !workspaces.some((root) => isWithin(folder, root)));
  return kept.length > 0 ? kept.join(':') : pathDefault;
}

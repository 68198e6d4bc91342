import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';

/** Programs that some tests look through, and the Debian package that brings each. */
export const debianPackages = {
  tmux: 'tmux',
  strace: 'strace',
  sqlite3: 'sqlite3',
  bwrap: 'bubblewrap',
  cc: 'gcc',
  python3: 'python3',
  rg: 'ripgrep',
  zsh: 'zsh',
  fish: 'fish',
  man: 'man-db',
  'systemd-socket-activate': 'systemd',
  'systemd-notify': 'systemd',
  'systemd-analyze': 'systemd',
  sshd: 'openssh-server',
};
export type Program = keyof typeof debianPackages;

/** Where programs of the system are that a PATH of somebody who is not root leaves out. */
const systemFolders = ['/usr/sbin', '/sbin'];

/** The path of a program. */
export function findProgram(program: Program): string | undefined {
  const folders = [...(process.env.PATH ?? '').split(delimiter), ...systemFolders];
  return folders.map((folder) => join(folder, program)).find((path) => existsSync(path));
}

/** For `describe.skipIf(missing('strace'))('… (needs strace)')`: with these words in its title `npm test` can say why it was skipped. */
export function missing(program: Program): boolean {
  return findProgram(program) === undefined;
}

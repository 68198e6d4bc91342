/** Where git keeps what it is given, and nothing is run. */
export const gitStores: ReadonlySet<string> = new Set(['objects', 'refs', 'logs', 'lfs']);

/** In a git directory, whatever it is called: git runs what they say, or goes where they say. */
export const gitLate: ReadonlySet<string> = new Set(['config', 'config.worktree', 'commondir', 'gitdir', 'hooks', 'info']);

/** Names that make a directory one of git's: a whole one, one that shares another's store, and such a store. */
const gitSigns = [
  ['HEAD', 'objects', 'refs'],
  ['HEAD', 'commondir'],
  ['objects', 'refs', 'config'],
];

export const gitNames: ReadonlySet<string> = new Set([...gitSigns.flat(), ...gitLate]);

/** Whether git would take a directory with these names in it for one of its own. */
export function seesGitFolder(names: ReadonlySet<string>): boolean {
  return gitSigns.some((signs) => signs.every((name) => names.has(name)));
}

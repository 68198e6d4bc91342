import type { ShellWord } from './words.js';

/** The working directory of a command, as far as the `cd`s before it are known. */
export interface WorkingDirectory {
  /** The joined targets of the `cd`s; undefined for the directory that the script starts in. */
  dir: string | undefined;
  sure: boolean;
  /** The next statement runs only if the `cd` succeeded, as after `cd x || exit`. */
  firm?: boolean;
}

export const startDirectory: WorkingDirectory = { dir: undefined, sure: true };
export const unknownDirectory: WorkingDirectory = { dir: undefined, sure: false };

export function isChanged(before: WorkingDirectory, after: WorkingDirectory): boolean {
  return before.dir !== after.dir || before.sure !== after.sure;
}

export function joined(one: WorkingDirectory, other: WorkingDirectory): WorkingDirectory {
  return isChanged(one, other) ? unknownDirectory : one;
}

/** The target of a `cd`, `pushd` or `popd`: null for a computed one, undefined for another command. */
export function targetOf(words: readonly (string | null)[]): string | null | undefined {
  let at = 0;
  while (words[at] === 'command' || words[at] === 'builtin') at++;
  const name = words[at];
  if (name !== 'cd' && name !== 'pushd' && name !== 'popd') return undefined;
  if (name === 'popd') return null;
  const rest = words.slice(at + 1);
  while (name === 'cd' && typeof rest[0] === 'string' && /^-[LPe@]+$/.test(rest[0])) rest.shift();
  const dashed = rest[0] === '--';
  if (dashed) rest.shift();
  const [target, ...more] = rest;
  if (target === undefined) return name === 'cd' && !dashed ? '~' : null;
  if (target === null || more.length > 0 || target === '' || /^[-+]/.test(target)) return null;
  return target;
}

/** The working directory after these words have succeeded. */
export function afterCd(words: readonly ShellWord[], directory: WorkingDirectory): WorkingDirectory {
  const target = targetOf(words.map(({ value }) => value));
  if (target === undefined) return directory;
  // `cd x/..` is resolved by the text of the path, not by the symlinks of x.
  if (target === null || /[^./][^/]*\/+\.\.(\/|$)/.test(target)) return unknownDirectory;
  if (/^[~/]/.test(target)) return { dir: target, sure: true };
  if (!directory.sure || (directory.dir !== undefined && /^\.\.(\/|$)/.test(target))) return unknownDirectory;
  return { dir: directory.dir === undefined ? target : `${directory.dir}/${target}`, sure: true };
}

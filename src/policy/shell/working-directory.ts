import type { ShellWord } from './words.js';

/** Where a command runs, as far as the `cd`s before it tell. */
export interface WorkingDirectory {
  /** What was changed to, one after the other; undefined is the command's own directory. */
  dir: string | undefined;
  sure: boolean;
  /** It holds for what comes next even though nobody asked whether the change worked. */
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

/** Where a `cd`, `pushd` or `popd` goes: null when it is not known, undefined when the words are something else. */
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

/** The place after these words have run well. */
export function afterCd(words: readonly ShellWord[], place: WorkingDirectory): WorkingDirectory {
  const target = targetOf(words.map(({ value }) => value));
  if (target === undefined) return place;
  // `cd x/..` is decided by the text of the path, and not by where the links of x lead.
  if (target === null || /[^./][^/]*\/+\.\.(\/|$)/.test(target)) return unknownDirectory;
  if (/^[~/]/.test(target)) return { dir: target, sure: true };
  if (!place.sure || (place.dir !== undefined && /^\.\.(\/|$)/.test(target))) return unknownDirectory;
  return { dir: place.dir === undefined ? target : `${place.dir}/${target}`, sure: true };
}

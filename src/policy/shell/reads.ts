import { limits } from '../../protocol/limits.js';
import type { ShellWord } from './words.js';

/** Everything in the words of a command that may name a file: a word, what is after `=`, `:` or `@`, or attached to a flag. */
export function readsOf(words: readonly ShellWord[]): string[] {
  return words.slice(1).flatMap(({ guess }) => {
    const text = guess;
    if (text === '' || text.includes('\n')) return [];
    const found = [text, ...after(text, '='), ...after(text, ':'), ...after(text, '@')];
    if (/^-[^-]./.test(text)) found.push(text.slice(2), text.slice(3));
    if (text.includes(',')) found.push(...text.split(','));
    return found
      .flatMap((one) => [one, ...(one.startsWith('@') || one.startsWith('<') ? [one.slice(1)] : [])])
      .filter((one) => one !== '' && !/^--?\w*$/.test(one));
  });
}

function after(text: string, mark: string): string[] {
  const pieces = text.split(mark);
  if (pieces.length === 1) return [];
  const firsts = pieces.slice(1, limits.shellReadsMax).map((_, i) => pieces.slice(i + 1).join(mark));
  return [...pieces, ...firsts];
}

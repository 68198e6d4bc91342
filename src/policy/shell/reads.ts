import { limits } from '../../protocol/limits.js';
import type { ShellWord } from './words.js';

/** All texts in the words of a command that may be a path: a word, the part after `=`, `:` or `@`, or a value attached to a flag. */
export function readsOf(words: readonly ShellWord[]): string[] {
  return words.slice(1).flatMap(({ guess }) => {
    const text = guess;
    if (text === '' || text.includes('\n')) return [];
    const found = [text, ...splitAfter(text, '='), ...splitAfter(text, ':'), ...splitAfter(text, '@')];
    if (/^-[^-]./.test(text)) found.push(text.slice(2), text.slice(3));
    if (text.includes(',')) found.push(...text.split(','));
    return found
      .flatMap((one) => [one, ...(one.startsWith('@') || one.startsWith('<') ? [one.slice(1)] : [])])
      .filter((one) => one !== '' && !/^--?\w*$/.test(one));
  });
}

function splitAfter(text: string, mark: string): string[] {
  const pieces = text.split(mark);
  if (pieces.length === 1) return [];
  const firsts = pieces.slice(1, limits.shellReadsMax).map((_, i) => pieces.slice(i + 1).join(mark));
  return [...pieces, ...firsts];
}

import type { ShellWord } from './shell-words.js';

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
  return text.split(mark).flatMap((piece, i, all) => (i === 0 && all.length > 1 ? [piece] : i > 0 ? [piece, all.slice(i).join(mark)] : []));
}

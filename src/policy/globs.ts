import { limits } from '../protocol/limits.js';

const special = /[.+^${}()|[\]\\/]/;

/**
 * A glob as a test over whole texts: `*` is anything but a slash, `**` anything, `?` one character. Everything else means itself.
 * With `slashes: false` there are no directories, and `*` is anything.
 */
export function createGlob(glob: string, { slashes }: { slashes: boolean }): (text: string) => boolean {
  const some = slashes ? '[^/]*' : '[^]*';
  let source = '';
  for (let i = 0; i < glob.length; i++) {
    const character = glob[i] ?? '';
    if (character === '*' && glob[i + 1] === '*') {
      // `a/**/b` is also `a/b`.
      const isFolder = slashes && glob[i + 2] === '/' && (i === 0 || glob[i - 1] === '/');
      source += isFolder ? '(?:[^]*/)?' : '[^]*';
      i += isFolder ? 2 : 1;
    } else if (character === '*') source += some;
    else if (character === '?') source += slashes ? '[^/]' : '[^]';
    else source += special.test(character) ? `\\${character}` : character;
  }
  const pattern = new RegExp(`^${source}$`, 'u');
  return (text) => text.length <= limits.judgedTextCharsMax && pattern.test(text);
}

/** Whether a text is a glob and not just a name. */
export function isGlob(text: string): boolean {
  return /[*?]/.test(text);
}

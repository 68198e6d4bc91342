import { limits } from '../protocol/limits.js';

/** A glob over whole texts. It takes no more steps than the length of the glob times that of the text. */
export interface Glob {
  matches(text: string): boolean;
  /** Whether a path, or a directory that it is in, matches. */
  holds(path: string): boolean;
}

/** `some`: anything but a slash. `all`: anything. `folders`: nothing, or anything that ends in a slash. `one`: a character, but a slash. */
type Token = { literal: string } | 'some' | 'all' | 'folders' | 'one' | 'any';

/**
 * `*` is anything but a slash, `**` anything, `?` one character. Everything else means itself.
 * With `slashes: false` there are no directories, and `*` is anything.
 */
export function createGlob(glob: string, { slashes }: { slashes: boolean }): Glob {
  const tokens = readGlob(glob, slashes);
  const ends = (text: string): Uint8Array => (text.length <= limits.judgedTextCharsMax ? endsOf(tokens, text) : new Uint8Array());
  return {
    matches: (text) => ends(text)[text.length] === 1,
    holds: (path) => ends(path).some((isEnd, i) => isEnd === 1 && (i === path.length || path[i] === '/')),
  };
}

function readGlob(glob: string, slashes: boolean): Token[] {
  const tokens: Token[] = [];
  for (let i = 0; i < glob.length; i++) {
    const character = glob[i] ?? '';
    const last = tokens.at(-1);
    if (character === '*' && glob[i + 1] === '*') {
      // `a/**/b` is also `a/b`.
      const isFolder = slashes && glob[i + 2] === '/' && (i === 0 || glob[i - 1] === '/');
      if (!isFolder && last !== 'all') tokens.push('all');
      if (isFolder && last !== 'folders') tokens.push('folders');
      i += isFolder ? 2 : 1;
    } else if (character === '*') {
      if (last !== 'all') tokens.push(slashes ? 'some' : 'all');
    } else if (character === '?') tokens.push(slashes ? 'one' : 'any');
    else if (typeof last === 'object') last.literal += character;
    else tokens.push({ literal: character });
  }
  return tokens;
}

/** Where in the text the tokens can end, one after the other: a 1 for each place. */
function endsOf(tokens: readonly Token[], text: string): Uint8Array {
  let ends: Uint8Array = new Uint8Array(text.length + 1);
  ends[0] = 1;
  for (const token of tokens) {
    const next = new Uint8Array(text.length + 1);
    const first = ends.indexOf(1);
    if (first < 0) return next;
    let hasBegun = false;
    for (let i = first; i <= text.length; i++) {
      const isEnd = ends[i] === 1;
      if (typeof token === 'object') {
        if (isEnd && text.startsWith(token.literal, i)) next[i + token.literal.length] = 1;
      } else if (token === 'one' || token === 'any') {
        if (isEnd && i < text.length && (token === 'any' || text[i] !== '/')) next[i + widthAt(text, i)] = 1;
      } else {
        const isSlash = i > 0 && text[i - 1] === '/';
        if (token === 'some' && isSlash) hasBegun = false;
        if (isEnd || (hasBegun && (token !== 'folders' || isSlash))) next[i] = 1;
        hasBegun ||= isEnd;
      }
    }
    ends = next;
  }
  return ends;
}

/** A character may be two units. */
function widthAt(text: string, i: number): number {
  return (text.codePointAt(i) ?? 0) > 0xffff ? 2 : 1;
}

/** Whether a text is a glob and not just a name. */
export function isGlob(text: string): boolean {
  return /[*?]/.test(text);
}

import { limits } from '../protocol/limits.js';

/** A compiled glob over whole texts. Matching takes at most glob length × text length steps. */
export interface Glob {
  matches(text: string): boolean;
  /** Whether a path or one of its parent directories matches. */
  matchesOrContains(path: string): boolean;
}

/** `some`: any characters but a slash. `all`: any characters. `folders`: nothing, or a path that ends in a slash. `one`: a character but a slash. */
type Token = { literal: string } | 'some' | 'all' | 'folders' | 'one' | 'any';

/**
 * Compiles a glob: `*` is anything but a slash, `**` anything, `?` one character, everything else is literal.
 * With `slashes: false` a slash is an ordinary character, and `*` is anything.
 */
export function createGlob(glob: string, { slashes }: { slashes: boolean }): Glob {
  const tokens = tokenize(glob, slashes);
  const ends = (text: string): Uint8Array => (text.length <= limits.judgedTextCharsMax ? endPositions(tokens, text) : new Uint8Array());
  return {
    matches: (text) => ends(text)[text.length] === 1,
    matchesOrContains: (path) => ends(path).some((isEnd, i) => isEnd === 1 && (i === path.length || path[i] === '/')),
  };
}

function tokenize(glob: string, slashes: boolean): Token[] {
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

/** The offsets of the text at which the tokens can end, as a bitmap: a set-based match without backtracking. */
function endPositions(tokens: readonly Token[], text: string): Uint8Array {
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

/** The length of a character in UTF-16 code units. */
function widthAt(text: string, i: number): number {
  return (text.codePointAt(i) ?? 0) > 0xffff ? 2 : 1;
}

/** Whether a text has wildcards. */
export function isGlob(text: string): boolean {
  return /[*?]/.test(text);
}

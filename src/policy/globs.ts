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
  if (!slashes) return createTextGlob(tokens);
  const ends = (text: string): Uint8Array => (text.length <= limits.judgedTextCharsMax ? endPositions(tokens, text) : new Uint8Array());
  return {
    matches: (text) => ends(text)[text.length] === 1,
    matchesOrContains: (path) => ends(path).some((isEnd, i) => isEnd === 1 && (i === path.length || path[i] === '/')),
  };
}

/** A glob without folders: the pieces between its stars are searched for from left to right, each at its first place. */
function createTextGlob(tokens: readonly Token[]): Glob {
  const pieces: Token[][] = [[]];
  for (const token of tokens) {
    if (token === 'all') pieces.push([]);
    else pieces.at(-1)?.push(token);
  }
  const [head = [], ...others] = pieces;
  const tail = others.pop();

  /** Where a piece ends that begins at `from`; -1 when it does not match there. */
  function endAt(piece: readonly Token[], text: string, from: number): number {
    let at = from;
    for (const token of piece) {
      if (typeof token === 'object') {
        if (!text.startsWith(token.literal, at)) return -1;
        at += token.literal.length;
      } else if (at < text.length) at += widthAt(text, at);
      else return -1;
    }
    return at;
  }

  function findEnd(piece: readonly Token[], text: string, from: number): number {
    const [first] = piece;
    for (let at = from; at <= text.length; at++) {
      if (typeof first === 'object') at = text.indexOf(first.literal, at);
      if (at < 0) return -1;
      const end = endAt(piece, text, at);
      if (end >= 0) return end;
    }
    return -1;
  }

  /** The last piece ends with the text. Wide characters make its beginning uncertain, so that each is tried. */
  function isTail(piece: readonly Token[], text: string, from: number): boolean {
    const units = piece.reduce((sum, token) => sum + (typeof token === 'object' ? token.literal.length : 2), 0);
    for (let at = Math.max(from, text.length - units); at <= text.length; at++) if (endAt(piece, text, at) === text.length) return true;
    return false;
  }

  function matches(text: string): boolean {
    if (text.length > limits.judgedTextCharsMax) return false;
    let at = endAt(head, text, 0);
    if (tail === undefined || at < 0) return at === text.length;
    for (const piece of others) {
      at = findEnd(piece, text, at);
      if (at < 0) return false;
    }
    return isTail(tail, text, at);
  }

  return {
    matches,
    matchesOrContains(path) {
      for (let end = path.indexOf('/'); end >= 0; end = path.indexOf('/', end + 1)) if (matches(path.slice(0, end))) return true;
      return matches(path);
    },
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

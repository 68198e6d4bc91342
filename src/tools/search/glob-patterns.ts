import { limits } from '../../protocol/limits.js';

type Token =
  { kind: 'one'; character: string } | { kind: 'any' } | { kind: 'star' } | { kind: 'set'; negated: boolean; ranges: [string, string][] };
/** A name without wildcards is compared as a literal, as most names are. */
type Segment = 'globstar' | { literal: string | undefined; tokens: Token[]; begin: string | undefined; end: string | undefined };

/** A compiled glob over relative paths. Matching takes at most pattern length × path length steps. */
export interface Glob {
  matches(path: string): boolean;
  /** Whether a path below a directory could match: prunes the walk. */
  mayMatchBelow(directory: string): boolean;
}

/** Compiles a glob with `*`, `?`, `[a-z]`, `**` and `{a,b}`. A string says why the pattern is invalid. */
export function compileGlob(pattern: string): Glob | string {
  const alternatives = expandBraces(pattern);
  if (alternatives === undefined) return `has more than ${limits.globAlternativesMax} alternatives in braces`;
  if (alternatives.some((alternative) => alternative.split('/').includes('..'))) return 'leaves its directory with ..';
  const paths = alternatives.map(compilePath);
  return {
    matches(path) {
      const names = path.split('/');
      return paths.some((segments) => matchPath(segments, names));
    },
    mayMatchBelow(directory) {
      const names = directory === '' ? [] : directory.split('/');
      return paths.some((segments) => mayContinue(segments, names));
    },
  };
}

/** Compiles a pattern without braces. A trailing `**` matches everything below, not the directory itself. */
export function compilePath(pattern: string): Segment[] {
  const segments = pattern
    .split('/')
    .filter((name) => name !== '' && name !== '.')
    .map((name): Segment => (name === '**' ? 'globstar' : compileName(name)));
  return segments.at(-1) === 'globstar' ? [...segments, compileName('*')] : segments;
}

export function matchPath(segments: readonly Segment[], names: readonly string[]): boolean {
  return matchAll(segments, names, (segment) => segment === 'globstar', matchName);
}

function matchName(segment: Segment, name: string): boolean {
  if (segment === 'globstar') return true;
  const { literal, begin, end, tokens } = segment;
  if (literal !== undefined) return literal === name;
  if ((begin !== undefined && !name.startsWith(begin)) || (end !== undefined && !name.endsWith(end))) return false;
  return matchAll(tokens, /[\ud800-\udbff]/.test(name) ? Array.from(name) : name, ({ kind }) => kind === 'star', matchCharacter);
}

function matchCharacter(token: Token, character: string): boolean {
  switch (token.kind) {
    case 'one':
      return token.character === character;
    case 'set':
      return token.ranges.some(([from, to]) => from <= character && character <= to) !== token.negated;
    case 'any':
    case 'star':
      return true;
  }
}

/** Greedy matching that backtracks to the last star only, so that the time is never exponential. */
function matchAll<P, T>(
  pattern: readonly P[],
  items: ArrayLike<T>,
  isStar: (part: P) => boolean,
  fits: (part: P, item: T) => boolean,
): boolean {
  let [at, i, star, retry] = [0, 0, -1, 0];
  while (i < items.length) {
    const part = pattern[at];
    if (part !== undefined && isStar(part)) {
      star = at++;
      retry = i;
    } else if (part !== undefined && fits(part, items[i] as T)) {
      at++;
      i++;
    } else if (star !== -1) {
      at = star + 1;
      i = ++retry;
    } else return false;
  }
  return pattern.slice(at).every(isStar);
}

function mayContinue(segments: readonly Segment[], names: readonly string[]): boolean {
  let positions = new Set([0]);
  for (const name of names) {
    const next = new Set<number>();
    for (const position of skipGlobstars(segments, positions)) {
      const segment = segments[position];
      if (segment === undefined) continue;
      if (segment === 'globstar') next.add(position);
      else if (matchName(segment, name)) next.add(position + 1);
    }
    positions = next;
  }
  return [...positions].some((position) => position < segments.length);
}

/** Adds the positions behind each `**`, which may match zero directories. */
function skipGlobstars(segments: readonly Segment[], positions: ReadonlySet<number>): Set<number> {
  const all = new Set(positions);
  for (const position of all) if (segments[position] === 'globstar') all.add(position + 1);
  return all;
}

function compileName(name: string): Segment {
  const tokens = compileTokens(Array.from(name));
  const plain = (token: Token | undefined): string | undefined => (token?.kind === 'one' ? token.character : undefined);
  const isLiteral = tokens.every(({ kind }) => kind === 'one');
  const literal = isLiteral ? tokens.map((token) => plain(token) ?? '').join('') : undefined;
  return { literal, tokens, begin: plain(tokens[0]), end: plain(tokens.at(-1)) };
}

function compileTokens(characters: readonly string[]): Token[] {
  const tokens: Token[] = [];
  for (let i = 0; i < characters.length; i++) {
    const character = characters[i] ?? '';
    if (character === '*') {
      if (tokens.at(-1)?.kind !== 'star') tokens.push({ kind: 'star' });
    } else if (character === '?') tokens.push({ kind: 'any' });
    else if (character === '\\' && i + 1 < characters.length) tokens.push({ kind: 'one', character: characters[++i] ?? '' });
    else if (character === '[') {
      const set = compileSet(characters, i);
      tokens.push(set?.token ?? { kind: 'one', character });
      i = set?.end ?? i;
    } else tokens.push({ kind: 'one', character });
  }
  return tokens;
}

function compileSet(characters: readonly string[], start: number): { token: Token; end: number } | undefined {
  let at = start + 1;
  const negated = characters[at] === '!' || characters[at] === '^';
  if (negated) at++;
  const ranges: [string, string][] = [];
  for (let first = true; at < characters.length; first = false) {
    if (characters[at] === ']' && !first) return { token: { kind: 'set', negated, ranges }, end: at };
    if (characters[at] === '\\') at++;
    const from = characters[at] ?? '';
    const isRange = characters[at + 1] === '-' && characters[at + 2] !== undefined && characters[at + 2] !== ']';
    ranges.push([from, isRange ? (characters[at + 2] ?? from) : from]);
    at += isRange ? 3 : 1;
  }
  return undefined;
}

/** Undefined when there would be more than `globAlternativesMax` alternatives. */
function expandBraces(pattern: string): string[] | undefined {
  const done: string[] = [];
  const open = [pattern];
  while (open.length > 0) {
    const next = open.pop() ?? '';
    const group = findGroup(next);
    if (group === undefined) done.push(next);
    else for (const part of group.parts) open.push(group.before + part + group.after);
    if (open.length + done.length > limits.globAlternativesMax) return undefined;
  }
  return done.reverse();
}

interface Group {
  before: string;
  parts: string[];
  after: string;
}

/** Finds the first brace group `{…,…}`. Braces without a comma or an end are literal characters. */
function findGroup(pattern: string): Group | undefined {
  const opened: { at: number; commas: number[] }[] = [];
  let found: { at: number; end: number; commas: number[] } | undefined;
  for (let i = 0; i < pattern.length; i++) {
    const character = pattern[i];
    if (character === '\\') i++;
    else if (character === '{') opened.push({ at: i, commas: [] });
    else if (character === ',') opened.at(-1)?.commas.push(i);
    else if (character === '}') {
      const group = opened.pop();
      // An inner group ends first; the outermost complete group is taken.
      if (group && group.commas.length > 0 && (found === undefined || group.at < found.at)) found = { ...group, end: i };
      if (opened.length === 0 && found !== undefined) break;
    }
  }
  if (found === undefined) return undefined;
  const bounds = [found.at, ...found.commas, found.end];
  const parts = bounds.slice(1).map((end, i) => pattern.slice((bounds[i] ?? 0) + 1, end));
  return { before: pattern.slice(0, found.at), parts, after: pattern.slice(found.end + 1) };
}

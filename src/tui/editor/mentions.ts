import { limits } from '../../protocol/limits.js';

/** Lines of a file, counted from 1. */
export interface LineRange {
  readonly first: number;
  readonly last: number;
}

/** A path that a text mentions: `@src/a.ts`, `@"with spaces.md"`, `@src/a.ts#L10-L20`. */
export interface Mention {
  readonly path: string;
  readonly lines?: LineRange;
  /** Of the whole mention in the text, in UTF-16 units. */
  readonly start: number;
  readonly end: number;
}

/** A mention as it is written, perhaps not to its end. */
export interface MentionSyntax {
  readonly isQuoted: boolean;
  readonly path: string;
  /** Where the path is written, quotes included. */
  readonly pathStart: number;
  readonly pathEnd: number;
  /** The end of the lines behind it. */
  readonly end: number;
  readonly range: string;
}

const beforeMention = /[\s([{<"'`]/;
const openRange = /^#(?:L(?:\d+(?:-(?:L?\d*)?)?)?)?/;
const wholeRange = /^#L(\d+)(?:-L?(\d+))?$/;
const tuning = { rangeUnits: 32 } as const;
const openers: Partial<Record<string, string>> = { ')': '(', ']': '[', '}': '{', '>': '<' };

/** The mentions of a text, in order. */
export function mentionsIn(text: string): Mention[] {
  const found: Mention[] = [];
  for (let at = text.indexOf('@'); at !== -1; at = text.indexOf('@', at + 1)) {
    const syntax = readMention(text, at);
    if (!syntax || syntax.path === '') continue;
    const lines = readRange(syntax.range);
    found.push({ path: syntax.path, ...(lines ? { lines } : {}), start: at, end: lines ? syntax.end : syntax.pathEnd });
    at = syntax.end - 1;
  }
  return found;
}

/** The mention that begins with the `@` at a place; undefined when the `@` is inside of a word. A path goes on at least to `least`. */
export function readMention(text: string, at: number, least = 0): MentionSyntax | undefined {
  if (text[at] !== '@' || (at > 0 && !beforeMention.test(text.charAt(at - 1)) && !isPlaceholder(text, at - 1))) return undefined;
  return text[at + 1] === '"' ? readQuoted(text, at + 1) : readBare(text, at + 1, least);
}

function readQuoted(text: string, quoteAt: number): MentionSyntax {
  let path = '';
  let at = quoteAt + 1;
  while (at < text.length && text[at] !== '"' && text[at] !== '\n' && at - quoteAt <= limits.pathBytesMax) {
    if (text[at] === '\\' && at + 1 < text.length) at++;
    path += text.charAt(at++);
  }
  const pathEnd = text[at] === '"' ? at + 1 : at;
  const range = text[at] === '"' ? (openRange.exec(text.slice(pathEnd, pathEnd + tuning.rangeUnits))?.[0] ?? '') : '';
  return { isQuoted: true, path, pathStart: quoteAt, pathEnd, end: pathEnd + range.length, range };
}

function readBare(text: string, pathStart: number, least: number): MentionSyntax | undefined {
  let end = pathStart;
  while (end < text.length && !/[\s"]/.test(text.charAt(end)) && !isPlaceholder(text, end)) {
    if (++end - pathStart > limits.pathBytesMax) return undefined;
  }
  const word = text.slice(pathStart, Math.max(least, pathStart + trimEnd(text.slice(pathStart, end)).length));
  const hash = word.lastIndexOf('#');
  const range = hash !== -1 && openRange.exec(word.slice(hash))?.[0] === word.slice(hash) ? word.slice(hash) : '';
  const path = word.slice(0, word.length - range.length);
  return { isQuoted: false, path, pathStart, pathEnd: pathStart + path.length, end: pathStart + word.length, range };
}

/** Without the punctuation of the sentence that a path stands in. */
function trimEnd(word: string): string {
  let end = word.length;
  while (end > 0 && isPunctuation(word.slice(0, end))) end--;
  return word.slice(0, end);
}

/** Whether the last character is not of the path: a full stop, or a bracket that was opened before the path. */
function isPunctuation(word: string): boolean {
  const last = word.charAt(word.length - 1);
  const opener = openers[last];
  return opener === undefined ? /[.,;:!?'`]/.test(last) : word.split(opener).length < word.split(last).length;
}

function readRange(range: string): LineRange | undefined {
  const [, first, last = first] = wholeRange.exec(range) ?? [];
  return first === undefined ? undefined : { first: Number(first), last: Number(last) };
}

/** A high surrogate alone stands for a placeholder. */
function isPlaceholder(text: string, at: number): boolean {
  const code = text.codePointAt(at) ?? 0;
  return code >= 0xd800 && code <= 0xdbff;
}

/** A path as it is written behind an `@`, with quotes where it needs them; `isOpen` leaves them open for more of the path. */
export function writePath(path: string, isOpen = false): string {
  const isBare = path !== '' && !/[\s"\\]/.test(path) && trimEnd(path) === path && !/#(L[\dL-]*)?$/.test(path);
  return isBare ? path : `"${path.replaceAll(/["\\]/g, '\\$&')}${isOpen ? '' : '"'}`;
}

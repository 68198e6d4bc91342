import { readAddress, readBareAddress } from './link-address.js';
import type { Span } from '../rows/row.js';

/** A piece of text, or a run of delimiters or a bracket that may still turn out to be text. */
interface Node {
  text: string;
  tone?: 'code' | 'link';
  /** Of a run of `*`, `_` or `~`: how many of its characters are unused. */
  run?: Run;
}

interface Run {
  node: number;
  character: string;
  left: number;
  length: number;
  opens: boolean;
  closes: boolean;
}

interface Range {
  from: number;
  to: number;
  style: 'bold' | 'italic' | 'strike' | 'link';
}

interface Bracket {
  node: number;
  /** The delimiter runs before the bracket: those after it belong to the text of the link. */
  runs: number;
  start: number;
}

/** So many runs of delimiters can be open at once; nobody nests more of them. */
const tuning = { openRunsMax: 32 } as const;

const special = /[\\`<*_~[\]&\n]|!\[|https?:\/\/|www\.[a-z0-9]/giu;
const escapable = /[!-/:-@[-`{-~]/;
const lineBreakTag = /<br\s*\/?>/iy;
const addressTag = /<([a-z][a-z0-9+.-]{1,31}:[^\s<>]*)>/iy;
const tag = /<\/?[a-z][^<>\n]*>/iy;
const entities: Partial<Record<string, string>> = { '&lt;': '<', '&gt;': '>', '&amp;': '&', '&quot;': '"', '&#39;': "'", '&nbsp;': ' ' };
const entity = /&(?:lt|gt|amp|quot|#39|nbsp);/y;
const punctuation = /[\p{P}\p{S}]/u;
/** Beside which a delimiter may stand after punctuation: also letters of scripts that are written without spaces. */
const boundary = /[\s\p{P}\p{S}\p{scx=Han}\p{scx=Hira}\p{scx=Kana}\p{scx=Hang}]/u;

/** Emphasis, code, links and breaks of a text as spans. Takes linear time for any text; what is not Markdown stays as it was written. */
export function renderInline(text: string, style: Omit<Span, 'text'> = {}): Span[] {
  const nodes: Node[] = [];
  const ranges: Range[] = [];
  const runs: Run[] = [];
  const brackets: Bracket[] = [];
  const closings = createBacktickIndex(text);
  let at = 0;

  function add(node: Node): void {
    nodes.push(node);
  }

  function match(pattern: RegExp): RegExpExecArray | null {
    pattern.lastIndex = at;
    return pattern.exec(text);
  }

  function readBackticks(): void {
    const length = runLength(text, at);
    const end = closings(at, length);
    if (end === undefined) {
      add({ text: text.slice(at, at + length) });
      at += length;
      return;
    }
    const inner = text.slice(at + length, end).replaceAll('\n', ' ');
    const isPadded = inner.startsWith(' ') && inner.endsWith(' ') && inner.trim() !== '';
    add({ text: isPadded ? inner.slice(1, -1) : inner, tone: 'code' });
    at = end + length;
  }

  function readAngle(): void {
    const address = match(addressTag)?.[1];
    const whole = match(lineBreakTag)?.[0] ?? match(tag)?.[0];
    if (address !== undefined) {
      add({ text: address, tone: 'link' });
      at += address.length + 2;
    } else {
      add({ text: whole === undefined ? '<' : match(lineBreakTag) ? '\n' : whole });
      at += whole?.length ?? 1;
    }
  }

  function readDelimiters(character: string): void {
    const length = runLength(text, at);
    const before = at === 0 ? ' ' : text.charAt(at - 1);
    const after = text.charAt(at + length) || ' ';
    const node = nodes.length;
    add({ text: character.repeat(length) });
    at += length;
    if (character === '~' && length !== 2) return;
    const opensHere = !isSpace(after) && (!punctuation.test(after) || boundary.test(before));
    const closesHere = !isSpace(before) && (!punctuation.test(before) || boundary.test(after));
    const isWordwise = character === '_';
    const run = {
      node,
      character,
      left: length,
      length,
      opens: opensHere && (!isWordwise || !closesHere || punctuation.test(before)),
      closes: closesHere && (!isWordwise || !opensHere || punctuation.test(after)),
    };
    if (run.opens || run.closes) runs.push(run);
  }

  function readClosingBracket(): void {
    const opened = brackets.pop();
    const address = opened && text.charAt(at + 1) === '(' ? readAddress(text, at + 1) : undefined;
    at++;
    if (!opened || !address) return add({ text: ']' });
    matchRuns(runs.splice(opened.runs), nodes, ranges);
    const label = text.slice(opened.start, at - 1);
    const node = nodes[opened.node];
    const isImage = node?.text === '![';
    if (node) node.text = isImage && label !== '' ? 'image: ' : '';
    ranges.push({ from: opened.node, to: nodes.length, style: 'link' });
    at = address.end;
    if (label !== address.href) add({ text: label === '' ? address.href : ` (${address.href})`, tone: 'link' });
    // A link holds no link.
    if (!isImage) brackets.length = 0;
  }

  while (at < text.length) {
    special.lastIndex = at;
    const found = special.exec(text);
    const start = found?.index ?? text.length;
    if (start > at) add({ text: text.slice(at, start) });
    at = start;
    if (!found) break;
    const [token] = found;
    const character = token.charAt(0);
    if (character === '\\') {
      const next = text.charAt(at + 1);
      add({ text: escapable.test(next) ? next : next === '\n' ? '' : '\\' });
      at += escapable.test(next) ? 2 : 1;
    } else if (character === '`') readBackticks();
    else if (character === '<') readAngle();
    else if (character === '*' || character === '_' || character === '~') readDelimiters(character);
    else if (character === '[' || token === '![') {
      brackets.push({ node: nodes.length, runs: runs.length, start: at + token.length });
      add({ text: token });
      at += token.length;
    } else if (character === ']') readClosingBracket();
    else if (character === '&') {
      const name = match(entity)?.[0] ?? '';
      add({ text: entities[name] ?? '&' });
      at += Math.max(1, name.length);
    } else if (character === '\n') {
      const last = nodes.at(-1);
      if (last && last.tone === undefined) last.text = last.text.replace(/[ \t]+$/, '');
      add({ text: '\n' });
      at++;
      while (text.charAt(at) === ' ' || text.charAt(at) === '\t') at++;
    } else {
      const address = readBareAddress(text, at);
      add(address === '' ? { text: token } : { text: address, tone: 'link' });
      at += address.length || token.length;
    }
  }
  matchRuns(runs, nodes, ranges);
  return toSpans(nodes, ranges, style);
}

/** Pairs the runs of delimiters, each closing one with the nearest that opens. */
function matchRuns(runs: readonly Run[], nodes: Node[], ranges: Range[]): void {
  /** Runs that may still open, of each character, innermost last. */
  const open: Run[] = [];
  for (const run of runs) {
    while (run.closes && run.left > 0) {
      const index = open.findLastIndex((one) => one.character === run.character && canPair(one, run));
      const opener = open[index];
      if (!opener) break;
      const used = Math.min(2, opener.left, run.left);
      opener.left -= used;
      run.left -= used;
      ranges.push({ from: opener.node, to: run.node, style: run.character === '~' ? 'strike' : used === 2 ? 'bold' : 'italic' });
      open.length = opener.left > 0 ? index + 1 : index;
    }
    if (run.opens && run.left > 0) open.push(run);
    if (open.length > tuning.openRunsMax) open.shift();
  }
  for (const { node, character, left } of runs) {
    const one = nodes[node];
    if (one) one.text = character.repeat(left);
  }
}

/** The rule of CommonMark that keeps `*a**b*` from pairing one of two stars. */
function canPair(opener: Run, closer: Run): boolean {
  if (!opener.closes && !closer.opens) return true;
  return (opener.length + closer.length) % 3 !== 0 || (opener.length % 3 === 0 && closer.length % 3 === 0);
}

function toSpans(nodes: readonly Node[], ranges: readonly Range[], base: Omit<Span, 'text'>): Span[] {
  const starts = new Map<number, Range[]>();
  const ends = new Map<number, Range[]>();
  for (const range of ranges) {
    append(starts, range.from, range);
    append(ends, range.to, range);
  }
  const depth = { bold: 0, italic: 0, strike: 0, link: 0 };
  const spans: Span[] = [];
  for (const [index, { text, tone }] of nodes.entries()) {
    for (const { style } of ends.get(index) ?? []) depth[style]--;
    const shown = tone ?? (depth.link > 0 ? ('link' as const) : undefined);
    if (text !== '')
      appendSpan(spans, {
        ...base,
        text,
        ...(shown && { tone: shown }),
        ...(depth.bold > 0 && { bold: true }),
        ...(depth.italic > 0 && { italic: true }),
        ...(depth.strike > 0 && { strike: true }),
      });
    for (const { style } of starts.get(index) ?? []) depth[style]++;
  }
  return spans;
}

function appendSpan(spans: Span[], next: Span): void {
  const last = spans.at(-1);
  const isSame = last?.tone === next.tone && last?.bold === next.bold && last?.italic === next.italic && last?.strike === next.strike;
  if (last && isSame) spans[spans.length - 1] = { ...last, text: last.text + next.text };
  else spans.push(next);
}

/** Finds the run of backticks that closes one of the same length; runs are looked up in order, so that all lookups are linear together. */
function createBacktickIndex(text: string): (from: number, length: number) => number | undefined {
  let places: Map<number, number[]> | undefined;
  return (from, length) => {
    if (!places) {
      places = new Map();
      for (const { 0: run, index } of text.matchAll(/`+/g)) append(places, run.length, index);
      for (const indexes of places.values()) indexes.reverse();
    }
    const indexes = places.get(length) ?? [];
    while ((indexes.at(-1) ?? Infinity) <= from) indexes.pop();
    return indexes.at(-1);
  };
}

function append<T>(lists: Map<number, T[]>, key: number, item: T): void {
  const list = lists.get(key);
  if (list) list.push(item);
  else lists.set(key, [item]);
}

function runLength(text: string, at: number): number {
  let end = at + 1;
  while (text.charAt(end) === text.charAt(at)) end++;
  return end - at;
}

function isSpace(character: string): boolean {
  return /\s/u.test(character);
}

import type { Span, Tone } from '../rows/row.js';
import { languages, type Block, type Language } from './languages.js';

export interface HighlightedLine {
  readonly spans: readonly Span[];
  /** The comment or string that the next line goes on with, by its place in the language; -1 for none. */
  readonly open: number;
}

export const noOpenBlock = -1;

/** Longer lines are data or were generated; they stay plain. */
const layout = { colouredLineUnitsMax: 2_000 } as const;

interface Scanner {
  blocks: readonly Block[];
  /** One expression for all rules: group `b0` is a block, `r0` a rule, `w` a word. */
  pattern: RegExp;
  tones: readonly Tone[];
  keywords: ReadonlySet<string>;
  ignoresCase: boolean;
  hasCalls: boolean;
}

const scanners = new Map<string, Scanner>();

/** Colours a line of code, given the block that the line before it left open. A language that is not known stays plain. */
export function highlightLine(text: string, language: string, open = noOpenBlock): HighlightedLine {
  const scanner = findScanner(language);
  if (!scanner || text.length > layout.colouredLineUnitsMax) return { spans: text === '' ? [] : [{ text }], open };
  const spans: Span[] = [];
  let at = 0;
  let inside = open;

  function add(end: number, tone?: Tone): void {
    if (end > at) spans.push(tone === undefined ? { text: text.slice(at, end) } : { text: text.slice(at, end), tone });
    at = end;
  }

  while (at < text.length) {
    const block = scanner.blocks[inside];
    if (block) {
      const end = findClose(text, at, block);
      add(end ?? text.length, block.tone);
      if (end !== undefined) inside = noOpenBlock;
      continue;
    }
    scanner.pattern.lastIndex = at;
    const found = scanner.pattern.exec(text);
    if (!found) {
      add(text.length);
      break;
    }
    const [piece] = found;
    const { name, index } = groupOf(found);
    add(found.index);
    const end = found.index + piece.length;
    if (name === 'b') {
      const opened = scanner.blocks[index];
      const close = opened ? findClose(text, end, opened) : undefined;
      add(close ?? text.length, opened?.tone);
      inside = close === undefined ? index : noOpenBlock;
    } else if (name === 'r') add(end, scanner.tones[index]);
    else add(end, wordTone(piece, text.charAt(end), scanner));
  }
  return { spans, open: inside };
}

function wordTone(word: string, next: string, { keywords, ignoresCase, hasCalls }: Scanner): Tone | undefined {
  if (keywords.has(ignoresCase ? word.toLowerCase() : word)) return 'keyword';
  return hasCalls && next === '(' ? 'name' : undefined;
}

/** The end of an open block, after its closing sign. */
function findClose(text: string, from: number, { close, escapes = false }: Block): number | undefined {
  for (let at = from; ;) {
    const end = text.indexOf(close, at);
    if (end === -1) return undefined;
    if (!escapes || !isEscaped(text, end, from)) return end + close.length;
    at = end + 1;
  }
}

function isEscaped(text: string, at: number, from: number): boolean {
  let before = at;
  while (before > from && text.charAt(before - 1) === '\\') before--;
  return (at - before) % 2 === 1;
}

function groupOf({ groups = {} }: RegExpExecArray): { name: string; index: number } {
  const name = Object.keys(groups).find((key) => groups[key] !== undefined) ?? 'w';
  return { name: name.charAt(0), index: Number(name.slice(1)) };
}

function findScanner(name: string): Scanner | undefined {
  const language = languages.find(({ names }) => names.includes(name));
  if (!language) return undefined;
  const key = language.names[0] ?? '';
  const scanner = scanners.get(key) ?? toScanner(language);
  scanners.set(key, scanner);
  return scanner;
}

function toScanner({ blocks = [], rules, keywords = '', ignoresCase = false, hasCalls = false }: Language): Scanner {
  const sources = [
    ...blocks.map(({ open }, at) => `(?<b${at}>${open.replaceAll(/[\\^$.*+?()[\]{}|/]/g, String.raw`\$&`)})`),
    ...rules.map(([, source], at) => `(?<r${at}>${source})`),
    String.raw`(?<w>[\p{L}_$][\p{L}\p{N}_$]*)`,
  ];
  return {
    blocks,
    pattern: new RegExp(sources.join('|'), 'giu'),
    tones: rules.map(([tone]) => tone),
    keywords: new Set(keywords.split(' ')),
    ignoresCase,
    hasCalls,
  };
}

import { printable } from '../../view/printable.js';
import { graphemesOf } from '../kit/graphemes.js';
import { drawnText, textWidth } from '../rows/cells.js';

/** How much of a run of joining characters is segmented at first, and from which length on its borders are remembered. */
const tuning = { runUnits: 64, longRunUnits: 512 } as const;

const highSurrogates = { first: 0xd800, last: 0xdbff } as const;

/**
 * What is known of each code point: 0 nothing yet, 1 that it may join its neighbours, and from 2 that it is a grapheme by itself among others
 * of its kind, with its width added. Between two of these is always a border, so that the segmenter is asked for the rest only.
 */
const kinds = new Uint8Array(0x11_0000);
const joining = 1;
const separate = 2;

/** A high surrogate without its other half: no well-formed text has one, so that it can stand for a placeholder. */
export function isToken(code: number): boolean {
  return code >= highSurrogates.first && code <= highSurrogates.last;
}

function kindOf(code: number): number {
  const known = kinds[code] ?? joining;
  if (known !== 0) return known;
  const kind = isToken(code) ? separate : measure(String.fromCodePoint(code));
  kinds[code] = kind;
  return kind;
}

function measure(character: string): number {
  const stands = printable(character) === character && graphemesOf(`a${character}${character}a`).length === 4;
  const width = textWidth(character);
  return stands && width > 0 ? separate + width : joining;
}

function codeBefore(text: string, at: number): number {
  const unit = text.charCodeAt(at - 1);
  const isLow = unit >= 0xdc00 && unit <= 0xdfff;
  return isLow && at >= 2 ? (text.codePointAt(at - 2) ?? unit) : unit;
}

/** Whether there is a border for certain; false may mean either. */
function isSafe(text: string, at: number): boolean {
  if (at <= 0 || at >= text.length) return true;
  const before = codeBefore(text, at);
  const after = text.codePointAt(at) ?? 0;
  if (isToken(before)) return after < 0xdc00 || after > 0xdfff;
  if (isToken(after)) return true;
  return kindOf(before) >= separate && kindOf(after) >= separate;
}

function unitsOf(code: number): number {
  return code > 0xffff ? 2 : 1;
}

/** The first graphemes from a border on: up to a certain border, or so many that the last of them has surely ended. */
function graphemesFrom(text: string, from: number): string[] {
  let end = from;
  for (let enough = from + tuning.runUnits; ; enough += enough - from) {
    do end += unitsOf(text.codePointAt(end) ?? 0);
    while (!isSafe(text, end) && end < enough);
    const graphemes = graphemesOf(text.slice(from, end));
    if (isSafe(text, end)) return graphemes;
    if (graphemes.length > 1) return graphemes.slice(0, -1);
  }
}

/** The next border after one. */
export function nextBorder(text: string, at: number): number {
  if (at >= text.length) return text.length;
  const end = at + unitsOf(text.codePointAt(at) ?? 0);
  return isSafe(text, end) ? end : at + (graphemesFrom(text, at)[0]?.length ?? 1);
}

/** The border before another one. */
export function previousBorder(text: string, at: number): number {
  if (at <= 0) return 0;
  const nearest = at - unitsOf(codeBefore(text, at));
  if (isSafe(text, nearest)) return nearest;
  if (longRun?.text !== text || at <= longRun.from || at > longRun.end) {
    const from = safeBefore(text, at);
    if (at - from < tuning.longRunUnits) return at - (graphemesOf(text.slice(from, at)).at(-1)?.length ?? 1);
    const borders = [from];
    for (let border = from; border < at;) {
      for (const { length } of graphemesFrom(text, border)) borders.push((border += length));
    }
    longRun = { text, from, end: at, borders };
  }
  return lastBelow(longRun.borders, at);
}

/** The borders of the long run that was stepped through last: without them, each step back would start where the run does. */
let longRun: { text: string; from: number; end: number; borders: readonly number[] } | undefined;

function lastBelow(borders: readonly number[], at: number): number {
  let low = 0;
  let high = borders.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if ((borders[middle] ?? 0) < at) low = middle;
    else high = middle - 1;
  }
  return borders[low] ?? 0;
}

/** The first border that is not before a place. */
export function borderFrom(text: string, at: number): number {
  if (isSafe(text, at)) return Math.max(0, Math.min(at, text.length));
  let border = safeBefore(text, at);
  while (border < at) border = nextBorder(text, border);
  return border;
}

function safeBefore(text: string, at: number): number {
  let from = at;
  do from -= unitsOf(codeBefore(text, from));
  while (!isSafe(text, from));
  return from;
}

/** The graphemes of a line, one after the other, with the columns that they take. */
export interface CellScanner {
  /** Goes to the next grapheme; false at the end. */
  next(): boolean;
  start: number;
  end: number;
  width: number;
}

/** Scans a line from a border on. `tokenWidth` says how wide a placeholder is. */
export function scanCells(text: string, from: number, tokenWidth: (character: string) => number): CellScanner {
  let waiting: string[] = [];
  let taken = 0;
  const cells: CellScanner = {
    start: from,
    end: from,
    width: 0,
    next() {
      if (cells.end >= text.length) return false;
      cells.start = cells.end;
      if (taken >= waiting.length) {
        const code = text.codePointAt(cells.start) ?? 0;
        const end = cells.start + unitsOf(code);
        const kind = kindOf(code);
        if (kind >= separate && (end >= text.length || isToken(code) || kindOf(text.codePointAt(end) ?? 0) >= separate)) {
          cells.end = end;
          cells.width = isToken(code) ? tokenWidth(text.charAt(cells.start)) : kind - separate;
          return true;
        }
        waiting = graphemesFrom(text, cells.start);
        taken = 0;
      }
      const grapheme = waiting[taken++] ?? '';
      cells.end = cells.start + grapheme.length;
      cells.width = drawnWidth(grapheme);
      return true;
    },
  };
  return cells;
}

function drawnWidth(grapheme: string): number {
  return textWidth(printable(grapheme));
}

/** A grapheme as it is drawn: sanitized, tabs as spaces. */
export function drawnGrapheme(grapheme: string): string {
  return drawnText(printable(grapheme));
}

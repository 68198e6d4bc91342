import { marks } from '../rows/marks.js';
import type { LinePiece } from './line-pieces.js';
import {
  dedent,
  htmlEndAfter,
  indentOf,
  isClosingFence,
  isHeading,
  isHtml,
  isListMarker,
  isTableDelimiter,
  readFence,
  readItemFence,
  type Fence,
} from './markdown-lines.js';

/**
 * A part of a Markdown text that is read by itself: one or a few top-level blocks, or a piece of one that is too long to be read again and
 * again while it grows.
 */
export interface MarkdownPart {
  /** `blocks` is read as Markdown, `line` is text inside a paragraph, `text` is shown as it is. */
  readonly kind: 'blocks' | 'line' | 'text' | 'code';
  readonly lines: readonly string[];
  /** A blank line stands before it. */
  readonly isApart: boolean;
  /** It goes on in the line in which the part before it ended: the white space between both. */
  readonly continues?: string;
  /** Columns of indentation that its lines have lost: it goes on inside an item of a list. */
  readonly indent: number;
  /** Of code. */
  readonly language?: string;
  /** Of code: not the first part of its block. */
  readonly isLater?: boolean;
  /** The first two lines are the head of a table whose first rows are in the part before. */
  readonly repeatsHead?: boolean;
}

export interface BlockSplitter {
  /** Takes a line, and returns the parts that it completes. */
  push(line: LinePiece): MarkdownPart[];
  /** The parts after those, if the text ended with this line; changes nothing. */
  rest(line: LinePiece | undefined): MarkdownPart[];
}

/**
 * Lengths from which a block is split, in UTF-16 units: a list between two items, or else wherever a line ends. The head of a long table is
 * repeated. A long line of code is cut, as in a wrapped row.
 */
const tuning = {
  paragraphUnits: 2_048,
  itemsUnits: 1_024,
  listUnits: 4_096,
  tableUnits: 4_096,
  codeUnits: 1_024,
  codeLineUnits: 10_000,
  blankLines: 100,
  /** Deeper, a fence is code. */
  fenceIndent: 4,
} as const;

interface OpenPart {
  lines: string[];
  units: number;
  isApart: boolean;
  /** Blank lines at its end. */
  blanks: number;
  /** A list may be open, which goes on after a blank line. */
  hasList: boolean;
  hasHtml: boolean;
  htmlEnd: RegExp | undefined;
  /** Code inside an item. */
  itemFence: Fence | undefined;
  tableHead: readonly [string, string] | undefined;
  repeatsHead: boolean;
}

interface State {
  part: OpenPart;
  indent: number;
  fence: Fence | undefined;
  isLater: boolean;
  /** Units of the line of code so far. */
  lineUnits: number;
}

/** Splits Markdown into parts while it arrives. Where it splits depends on the lines alone. */
export function createBlockSplitter(): BlockSplitter {
  const state: State = { part: emptyPart(false), indent: 0, fence: undefined, isLater: false, lineUnits: 0 };
  return {
    push(line) {
      const parts: MarkdownPart[] = [];
      takeLine(state, line, parts);
      return parts;
    },
    rest(line) {
      const parts: MarkdownPart[] = [];
      const copy = { ...state, part: { ...state.part, lines: [...state.part.lines] } };
      if (line?.continues === undefined && line && isUnfinishedRow(copy, line.text)) {
        closePart(copy, parts);
        parts.push({ kind: 'text', lines: [line.text], isApart: false, indent: copy.indent });
        return parts;
      }
      if (line) takeLine(copy, line, parts);
      closePart(copy, parts);
      return parts;
    },
  };
}

function emptyPart(isApart: boolean): OpenPart {
  return {
    lines: [],
    units: 0,
    isApart,
    blanks: 0,
    hasList: false,
    hasHtml: false,
    htmlEnd: undefined,
    itemFence: undefined,
    tableHead: undefined,
    repeatsHead: false,
  };
}

function closePart(state: State, parts: MarkdownPart[]): void {
  const { part, indent, fence, isLater } = state;
  const { lines, blanks, isApart, repeatsHead } = part;
  if (fence) {
    if (lines.length > 0 || !isLater)
      parts.push({ kind: 'code', lines, isApart, indent, language: fence.language, ...(isLater && { isLater }) });
    state.isLater = true;
    state.part = emptyPart(false);
    return;
  }
  if (blanks < lines.length) {
    parts.push({ kind: 'blocks', lines: lines.slice(0, lines.length - blanks), isApart, indent, ...(repeatsHead && { repeatsHead }) });
    state.part = emptyPart(blanks > 0);
  } else state.part = emptyPart(isApart || blanks > 0);
}

function takeLine(state: State, line: LinePiece, parts: MarkdownPart[]): void {
  if (line.continues !== undefined) takeLinePiece(state, line.text, line.continues, parts);
  else if (state.fence) takeCode(state, state.fence, line.text, parts);
  else takeText(state, line.text, parts);
}

/** What goes on in a line that was too long. */
function takeLinePiece(state: State, text: string, continues: string, parts: MarkdownPart[]): void {
  const { fence, indent } = state;
  closePart(state, parts);
  if (!fence) {
    parts.push({ kind: 'line', lines: [text], isApart: false, continues, indent });
    return;
  }
  const left = tuning.codeLineUnits - state.lineUnits;
  state.lineUnits += text.length;
  if (left <= 0) return;
  const shown = text.length > left ? `${text.slice(0, left)}${marks.ellipsis}` : text;
  parts.push({ kind: 'code', lines: [shown], isApart: false, continues, indent, language: '', isLater: true });
}

function takeCode(state: State, fence: Fence, line: string, parts: MarkdownPart[]): void {
  const text = dedent(line, state.indent);
  if (indentOf(text) < tuning.fenceIndent && isClosingFence(text, fence)) {
    closePart(state, parts);
    state.fence = undefined;
    return;
  }
  if (state.part.units > tuning.codeUnits) closePart(state, parts);
  addLine(state.part, dedent(text, fence.indent));
  state.lineUnits = text.length;
}

function takeText(state: State, line: string, parts: MarkdownPart[]): void {
  if (line.trim() === '') return addBlank(state.part);
  const outer = indentOf(line);
  if (outer < state.indent) {
    closePart(state, parts);
    state.indent = outer < 2 ? 0 : outer;
  }
  const text = dedent(line, state.indent);
  const indent = indentOf(text);
  const isMarker = isListMarker(text);
  endItemFence(state.part, text, indent, isMarker);
  const fence = state.part.htmlEnd || state.part.itemFence ? undefined : readFence(text);
  if (fence && !(state.part.hasList && indent >= 2)) {
    closePart(state, parts);
    state.fence = fence;
    state.isLater = false;
    return;
  }
  if (isBlockStart(state.part, text, indent, isMarker) || isListFull(state.part, indent, isMarker)) closePart(state, parts);
  if (isFull(state.part)) splitPart(state, line, indent, parts);
  if (state.fence) return takeCode(state, state.fence, line, parts);
  const own = dedent(line, state.indent);
  noteLine(state.part, own);
  addLine(state.part, own);
  if (state.part.hasList && !state.part.itemFence) state.part.itemFence = fence ?? readItemFence(own);
  if (isHeading(own) && !state.part.hasHtml) closePart(state, parts);
}

function endItemFence(part: OpenPart, text: string, indent: number, isMarker: boolean): void {
  const { itemFence } = part;
  // The end of an item ends the code in it.
  if (itemFence && (isClosingFence(text, itemFence) || (isMarker && indent < 2))) part.itemFence = undefined;
}

/** A line that begins a new top-level block for certain. */
function isBlockStart(part: OpenPart, text: string, indent: number, isMarker: boolean): boolean {
  if (part.htmlEnd) return false;
  if (isHeading(text) && !part.hasHtml) return true;
  return part.blanks > 0 && indent === 0 && !(part.hasList && isMarker);
}

function isListFull({ hasList, units }: OpenPart, indent: number, isMarker: boolean): boolean {
  return hasList && isMarker && indent < 2 && units > tuning.itemsUnits;
}

function isFull({ units, hasList, tableHead, hasHtml }: OpenPart): boolean {
  return units > (tableHead ? tuning.tableUnits : hasList || hasHtml ? tuning.listUnits : tuning.paragraphUnits);
}

/** Splits a block that has no better place for it. */
function splitPart(state: State, line: string, indent: number, parts: MarkdownPart[]): void {
  const { hasList, itemFence, tableHead } = state.part;
  closePart(state, parts);
  if (hasList && indent >= 2) state.indent += indent;
  if (hasList && itemFence) {
    state.fence = { ...itemFence, indent: 0 };
    state.isLater = true;
  } else if (tableHead && line.includes('|')) {
    state.part.repeatsHead = true;
    state.part.tableHead = tableHead;
    for (const head of tableHead) addLine(state.part, head);
  }
}

/** Remembers what the line means for those after it. */
function noteLine(part: OpenPart, text: string): void {
  if (isListMarker(text)) part.hasList = true;
  if (part.htmlEnd) {
    if (part.htmlEnd.test(text)) part.htmlEnd = undefined;
    return;
  }
  if (isHtml(text)) {
    part.hasHtml = true;
    if (!part.hasList) part.htmlEnd = htmlEndAfter(text);
  }
  const before = part.lines.at(-1) ?? '';
  if (!part.tableHead && before.includes('|') && isTableDelimiter(text)) part.tableHead = [before, text];
}

function addBlank(part: OpenPart): void {
  if (part.lines.length === 0) part.isApart = true;
  else if (part.blanks < tuning.blankLines) {
    part.lines.push('');
    part.units++;
    part.blanks++;
  }
}

function addLine(part: OpenPart, text: string): void {
  part.lines.push(text);
  part.units += text.length + 1;
  part.blanks = 0;
}

/** The last row of a table while it is being written: in the table, it would move all columns with each character. */
function isUnfinishedRow({ part: { tableHead, blanks }, fence }: State, text: string): boolean {
  if (!tableHead || blanks > 0 || fence || !text.includes('|')) return false;
  const isClosed = tableHead[0].trimEnd().endsWith('|');
  return isClosed ? !text.trimEnd().endsWith('|') : text.split('|').length < tableHead[0].split('|').length;
}

import { setImmediate as nextTurn } from 'node:timers/promises';
import { limits } from '../../protocol/limits.js';
import { similarLines } from './similar-lines.js';
import { counted } from './file-paths.js';

export interface TextEdit {
  old_text: string;
  new_text: string;
  replace_all?: boolean | undefined;
}

export interface EditedText {
  text: string;
  replaced: number;
}

/**
 * Applies edits in order, all or none; a string says which edit does not fit. Line endings are compared as LF, and CRLF stays CRLF in the
 * file.
 */
export async function applyEdits(text: string, edits: readonly TextEdit[]): Promise<EditedText | string> {
  let edited: EditedText = { text, replaced: 0 };
  for (const [i, edit] of edits.entries()) {
    const next = applyEdit(edited.text, edit);
    const which = edits.length === 1 ? '' : `Edit ${i + 1} of ${edits.length}: `;
    if (typeof next === 'string') return `${which}${next}${edits.length === 1 ? '' : ' Nothing was changed.'}`;
    edited = { text: next.text, replaced: edited.replaced + next.replaced };
    if (edits.length > 1) await nextTurn();
  }
  return edited;
}

function applyEdit(text: string, edit: TextEdit): EditedText | string {
  const normalized = normalizeLineEnds(text);
  const oldText = toLf(edit.old_text);
  const newText = toLf(edit.new_text);
  if (oldText === '') return 'old_text is empty.';
  const found = findOccurrences(normalized.text, oldText, edit.replace_all === true);
  if (found.count === 0) return notFound(normalized.text, oldText);
  if (found.count > 1 && edit.replace_all !== true) return notUnique(normalized.text, found);
  if (oldText === newText) return { text, replaced: 0 };
  const same = commonAffixes(oldText, newText);
  const middle = newText.slice(same.begin, newText.length - same.end);
  const pieces: string[] = [];
  let done = 0;
  for (const at of found.offsets) {
    const from = normalized.toFile(at + same.begin);
    const to = normalized.toFile(at + oldText.length - same.end);
    pieces.push(text.slice(done, from), middle.replaceAll('\n', normalized.lineEndAt(at, at + oldText.length)));
    done = to;
  }
  return { text: pieces.join('') + text.slice(done), replaced: found.offsets.length };
}

interface Occurrences {
  /** Overlapping occurrences count, unless all are to be replaced. */
  count: number;
  offsets: number[];
}

function findOccurrences(text: string, wanted: string, all: boolean): Occurrences {
  const offsets: number[] = [];
  let count = 0;
  // Overlapping occurrences are ambiguous; replace_all takes them without overlap.
  for (let at = text.indexOf(wanted); at !== -1; at = text.indexOf(wanted, at + (all ? wanted.length : 1))) {
    count++;
    if (all || offsets.length < limits.editPlacesNamedMax) offsets.push(at);
  }
  return { count, offsets };
}

function notUnique(text: string, { count, offsets }: Occurrences): string {
  const lines = offsets.map((at) => lineOf(text, at));
  const named = lines.join(', ') + (count > lines.length ? ' …' : '');
  return `old_text is there ${count} times, at lines ${named}. Add lines around it until it is unique, or use replace_all.`;
}

function lineOf(text: string, at: number): number {
  let line = 1;
  for (let end = text.indexOf('\n'); end !== -1 && end < at; end = text.indexOf('\n', end + 1)) line++;
  return line;
}

function notFound(text: string, oldText: string): string {
  const isNumbered = /^\s*\d+\t/.test(oldText);
  const hint = isNumbered ? ' Leave out the line numbers and tabs that read puts in front.' : '';
  const alike = similarLines(text, oldText);
  if (alike.length === 0) return `old_text was not found.${hint} It must be exactly what is in the file.`;
  const lines = alike.map(({ number, text: line }) => `${number}\t${line}`).join('\n');
  return `old_text was not found.${hint} It must be exactly what is in the file; ${counted(alike.length, 'line')} of the file that look like it:\n${lines}\n`;
}

/** Lengths of the common prefix and suffix of two texts. Both stay untouched in the file, with their line endings. */
function commonAffixes(one: string, other: string): { begin: number; end: number } {
  const max = Math.min(one.length, other.length);
  let begin = 0;
  while (begin < max && one[begin] === other[begin]) begin++;
  let end = 0;
  while (end < max - begin && one[one.length - 1 - end] === other[other.length - 1 - end]) end++;
  return { begin, end };
}

function toLf(text: string): string {
  return text.replaceAll('\r\n', '\n');
}

/** A text with LF line endings, and the mapping of its offsets back to the file, which may have CRLF. */
function normalizeLineEnds(fileText: string) {
  const text = toLf(fileText);
  /** Offsets, in the normalized text, of line endings that are CRLF in the file. */
  const crlfOffsets: number[] = [];
  if (text.length < fileText.length) {
    for (let at = fileText.indexOf('\r\n'); at !== -1; at = fileText.indexOf('\r\n', at + 2)) crlfOffsets.push(at - crlfOffsets.length);
  }

  /** How many CRLF line endings are before an offset (binary search). */
  function crlfBefore(offset: number): number {
    let [low, high] = [0, crlfOffsets.length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((crlfOffsets[middle] ?? 0) < offset) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  const isCrlf = (offset: number): boolean => crlfOffsets[crlfBefore(offset)] === offset;

  return {
    text,
    toFile: (offset: number): number => offset + crlfBefore(offset),
    /** The line ending for new lines between two offsets: that of the first line there, or else of the line above. */
    lineEndAt(from: number, to: number): string {
      if (crlfOffsets.length === 0) return '\n';
      const inside = text.indexOf('\n', from);
      if (inside !== -1 && inside < to) return isCrlf(inside) ? '\r\n' : '\n';
      const near = inside === -1 ? text.lastIndexOf('\n', from) : inside;
      return near === -1 || isCrlf(near) ? '\r\n' : '\n';
    },
  };
}

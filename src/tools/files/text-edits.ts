import { setImmediate as nextTurn } from 'node:timers/promises';
import { similarLines } from './similar-lines.js';
import { counted } from './file-paths.js';

const placesNamedMax = 10;

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
 * Applies edits one after the other, each to what the former left; a string says which one does not fit, and then none holds.
 * Line ends are matched as `\n` and stay what they are.
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
  const plain = createPlainText(text);
  const oldText = withoutReturns(edit.old_text);
  const newText = withoutReturns(edit.new_text);
  if (oldText === '') return 'old_text is empty.';
  const found = find(plain.text, oldText, edit.replace_all === true);
  if (found.count === 0) return notFound(plain.text, oldText);
  if (found.count > 1 && edit.replace_all !== true) return notUnique(plain.text, found);
  if (oldText === newText) return { text, replaced: 0 };
  const same = sameEnds(oldText, newText);
  const middle = newText.slice(same.begin, newText.length - same.end);
  const pieces: string[] = [];
  let done = 0;
  for (const at of found.places) {
    const from = plain.toFile(at + same.begin);
    const to = plain.toFile(at + oldText.length - same.end);
    pieces.push(text.slice(done, from), middle.replaceAll('\n', plain.lineEndAt(at, at + oldText.length)));
    done = to;
  }
  return { text: pieces.join('') + text.slice(done), replaced: found.places.length };
}

interface Found {
  /** How often it is there, as far as that matters. */
  count: number;
  places: number[];
}

function find(text: string, wanted: string, all: boolean): Found {
  const places: number[] = [];
  let count = 0;
  // Two that overlap are two to choose from; replacing all takes one after the other.
  for (let at = text.indexOf(wanted); at !== -1; at = text.indexOf(wanted, at + (all ? wanted.length : 1))) {
    count++;
    if (all || places.length < placesNamedMax) places.push(at);
  }
  return { count, places };
}

function notUnique(text: string, { count, places }: Found): string {
  const lines = places.map((at) => lineOf(text, at));
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

/** How much of two texts is the same at both ends. What is the same is not touched, not even its line ends. */
function sameEnds(one: string, other: string): { begin: number; end: number } {
  const max = Math.min(one.length, other.length);
  let begin = 0;
  while (begin < max && one[begin] === other[begin]) begin++;
  let end = 0;
  while (end < max - begin && one[one.length - 1 - end] === other[other.length - 1 - end]) end++;
  return { begin, end };
}

function withoutReturns(text: string): string {
  return text.replaceAll('\r\n', '\n');
}

/** A text with `\n` as its only line end, and the way back. */
function createPlainText(fileText: string) {
  const text = withoutReturns(fileText);
  /** Where line ends are, in the plain text, that have two characters in the file. */
  const long: number[] = [];
  if (text.length < fileText.length) {
    for (let at = fileText.indexOf('\r\n'); at !== -1; at = fileText.indexOf('\r\n', at + 2)) long.push(at - long.length);
  }

  /** How many of the long line ends are before a place. */
  function longBefore(place: number): number {
    let [low, high] = [0, long.length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((long[middle] ?? 0) < place) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  const isLong = (place: number): boolean => long[longBefore(place)] === place;

  return {
    text,
    toFile: (place: number): number => place + longBefore(place),
    /** The line end that new lines between two places get: that of the first line there, or else of the line above. */
    lineEndAt(from: number, to: number): string {
      if (long.length === 0) return '\n';
      const inside = text.indexOf('\n', from);
      if (inside !== -1 && inside < to) return isLong(inside) ? '\r\n' : '\n';
      const near = inside === -1 ? text.lastIndexOf('\n', from) : inside;
      return near === -1 || isLong(near) ? '\r\n' : '\n';
    },
  };
}

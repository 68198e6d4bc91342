import { isToken, nextBorder, previousBorder } from './borders.js';
import type { Document } from './document.js';
import { samePosition, startPosition, type Position } from './text-buffer.js';

type Lines = Pick<Document, 'lineText' | 'end'>;

const wordCharacter = /[\p{L}\p{N}\p{M}_]/u;

export function left(text: Lines, { line, unit }: Position): Position {
  if (unit > 0) return { line, unit: previousBorder(text.lineText(line), unit) };
  return line > 0 ? { line: line - 1, unit: text.lineText(line - 1).length } : startPosition;
}

export function right(text: Lines, { line, unit }: Position): Position {
  const whole = text.lineText(line);
  if (unit < whole.length) return { line, unit: nextBorder(whole, unit) };
  return line < text.end().line ? { line: line + 1, unit: 0 } : { line, unit };
}

/** What a cursor steps over: a grapheme, or a line end. */
function stepOf(text: Lines, from: Position, to: Position): 'placeholder' | 'word' | 'space' | 'other' {
  const grapheme = from.line === to.line ? text.lineText(from.line).slice(from.unit, to.unit) : '\n';
  if (grapheme.length === 1 && isToken(grapheme.charCodeAt(0))) return 'placeholder';
  if (/^\s/.test(grapheme)) return 'space';
  return wordCharacter.test(grapheme) ? 'word' : 'other';
}

/** The end of the word at the cursor, or of the next one. A placeholder is a word. */
export function wordRight(text: Lines, cursor: Position): Position {
  let at = cursor;
  let isInWord = false;
  for (;;) {
    const next = right(text, at);
    if (samePosition(next, at)) return at;
    const step = stepOf(text, at, next);
    if (isInWord && step !== 'word') return at;
    at = next;
    if (step === 'placeholder') return at;
    isInWord = step === 'word';
  }
}

/** The beginning of the word before the cursor. */
export function wordLeft(text: Lines, cursor: Position): Position {
  let at = cursor;
  let isInWord = false;
  for (;;) {
    const next = left(text, at);
    if (samePosition(next, at)) return at;
    const step = stepOf(text, next, at);
    if (isInWord && step !== 'word') return at;
    at = next;
    if (step === 'placeholder') return at;
    isInWord = step === 'word';
  }
}

/** The beginning of what stands before the cursor up to a space; at the beginning of a line, the end of the line before it. */
export function spaceLeft(text: Lines, cursor: Position): Position {
  if (cursor.unit === 0) return left(text, cursor);
  let at = cursor;
  let isInWord = false;
  while (at.unit > 0) {
    const next = left(text, at);
    const step = stepOf(text, next, at);
    if (isInWord && (step === 'space' || step === 'placeholder')) return at;
    at = next;
    if (step === 'placeholder') return at;
    isInWord = step !== 'space';
  }
  return at;
}

export function lineStart({ line }: Position): Position {
  return { line, unit: 0 };
}

export function lineEnd(text: Lines, { line }: Position): Position {
  return { line, unit: text.lineText(line).length };
}

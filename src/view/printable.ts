import { replaceHidden, replaceHiddenButJoiners } from '../protocol/sanitize.js';

/** Out of place, joiners do nothing; soft hyphens are part of honest text, which looks nearly the same without them. */
const dropped = new Set(['\u200c', '\u200d', '\u00ad']);

/**
 * Text from a model, a tool or a person as a terminal may have it: nothing in it moves the cursor, sets a title, reorders or hides.
 * It works character by character, so a sequence that is split over two texts is as harmless as a whole one.
 */
export function printable(text: string): string {
  return replaceHiddenButJoiners(text.replaceAll('\r\n', '\n'), showCharacter);
}

function showCharacter(character: string): string {
  if (dropped.has(character)) return '';
  const code = character.codePointAt(0) ?? 0;
  // Unicode has a picture for each of these.
  if (code < 0x20) return String.fromCharCode(0x2400 + code);
  if (code === 0x7f) return '\u2421';
  return `<U+${code.toString(16).toUpperCase().padStart(4, '0')}>`;
}

/** The same on one line. */
export function printableLine(text: string): string {
  return printable(text.replaceAll(/\s+/gu, ' ').trim());
}

/** JSON that means exactly the value, and is as harmless to a terminal as the rest: what cannot be shown is escaped. */
export function printableJson(value: unknown): string {
  return replaceHidden(JSON.stringify(value), (character) =>
    character.split('').reduce((escaped, unit) => `${escaped}\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`, ''),
  );
}

export interface PrintableStream {
  push(piece: string): string;
  /** What was held back. */
  end(): string;
}

/** What a selector or a joiner that follows is judged by. */
const judgedBy = /(?:\p{Extended_Pictographic}(?:\ufe0f|\p{Emoji_Modifier})?|[\p{L}\p{M}])$/u;

/**
 * The same for text that comes in pieces: a carriage return waits for the line end that may follow it, half a character for its other half,
 * and a joiner for what it joins.
 */
export function createPrintableStream(): PrintableStream {
  let held = '';
  /** The end of the piece before. It is shown already. */
  let before = '';

  function show(text: string): string {
    if (text === '') return '';
    const whole = before + text;
    const shown = printable(whole).slice(printable(before).length);
    before = judgedBy.exec(whole)?.[0] ?? '';
    return shown;
  }

  return {
    push(piece) {
      const text = held + piece;
      held = /[\u200c\u200d]?[\r\ud800-\udbff]?$/.exec(text)?.[0] ?? '';
      return show(text.slice(0, text.length - held.length));
    },
    end() {
      const rest = show(held);
      held = '';
      return rest;
    },
  };
}

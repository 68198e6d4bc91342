import { replaceHidden, replaceHiddenButJoiners } from '../protocol/sanitize.js';

/** Invisible characters that are dropped without a trace: misplaced joiners and soft hyphens, which occur in honest text. */
const invisibleDropped = new Set(['\u200c', '\u200d', '\u00ad']);

/**
 * Sanitizes untrusted text for a terminal: no escape sequences, no bidirectional overrides, no hidden characters. Works character by character,
 * so that an escape sequence split over two texts is harmless as well.
 */
export function printable(text: string): string {
  return replaceHiddenButJoiners(text.replaceAll('\r\n', '\n'), showCharacter);
}

function showCharacter(character: string): string {
  if (invisibleDropped.has(character)) return '';
  const code = character.codePointAt(0) ?? 0;
  // Unicode has a control picture for each of these.
  if (code < 0x20) return String.fromCharCode(0x2400 + code);
  if (code === 0x7f) return '\u2421';
  return `<U+${code.toString(16).toUpperCase().padStart(4, '0')}>`;
}

/** Sanitizes a text to one line. */
export function printableLine(text: string): string {
  return printable(text.replaceAll(/\s+/gu, ' ').trim());
}

/** JSON of a value that is safe for a terminal: hidden characters are escaped, so that the value is unchanged. */
export function printableJson(value: unknown): string {
  return replaceHidden(JSON.stringify(value), (character) =>
    character.split('').reduce((escaped, unit) => `${escaped}\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`, ''),
  );
}

export interface PrintableStream {
  push(piece: string): string;
  /** Flushes the buffered characters. */
  end(): string;
}

/** The preceding characters that decide whether a variation selector or joiner is kept. */
const joinerContext = /(?:\p{Extended_Pictographic}(?:\ufe0f|\p{Emoji_Modifier})?|[\p{L}\p{M}])$/u;

/** Sanitizes streamed text: a carriage return, half a surrogate pair and a joiner are buffered until the next chunk. */
export function createPrintableStream(): PrintableStream {
  let pending = '';
  /** The end of the previous chunk, which was emitted already. */
  let before = '';

  function show(text: string): string {
    if (text === '') return '';
    const whole = before + text;
    const shown = printable(whole).slice(printable(before).length);
    before = joinerContext.exec(whole)?.[0] ?? '';
    return shown;
  }

  return {
    push(piece) {
      const text = pending + piece;
      pending = /[\u200c\u200d]?[\r\ud800-\udbff]?$/.exec(text)?.[0] ?? '';
      return show(text.slice(0, text.length - pending.length));
    },
    end() {
      const rest = show(pending);
      pending = '';
      return rest;
    },
  };
}

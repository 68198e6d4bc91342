/** Control and format characters, separators of lines, and whatever else takes no room: terminals act on them, or people cannot see them. */
const unprintable = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/gu;
/** Line ends, tabs, and the two that choose between text and emoji. */
const kept = new Set(['\n', '\t', '\ufe0e', '\ufe0f']);
/** Joiners and soft hyphens are part of honest text; without them it looks nearly the same. */
const dropped = new Set(['\u200c', '\u200d', '\u00ad']);

/**
 * Text from a model, a tool or a person as a terminal may have it: nothing in it moves the cursor, sets a title, reorders or hides.
 * It works character by character, so a sequence that is split over two texts is as harmless as a whole one.
 */
export function printable(text: string): string {
  return text.replaceAll('\r\n', '\n').replace(unprintable, showCharacter);
}

function showCharacter(character: string): string {
  if (kept.has(character)) return character;
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
  return JSON.stringify(value).replace(unprintable, (character) =>
    kept.has(character)
      ? character
      : character.split('').reduce((escaped, unit) => `${escaped}\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`, ''),
  );
}

export interface PrintableStream {
  push(piece: string): string;
  /** What was held back. */
  end(): string;
}

/** The same for text that comes in pieces: a carriage return waits for the line end that may follow it. */
export function createPrintableStream(): PrintableStream {
  let held = '';
  return {
    push(piece) {
      const text = held + piece;
      held = text.endsWith('\r') ? '\r' : '';
      return printable(held === '' ? text : text.slice(0, -1));
    },
    end() {
      const rest = printable(held);
      held = '';
      return rest;
    },
  };
}

import { printable } from '../../view/printable.js';
import { toAscii } from './ascii.js';
import { drawnText } from './cells.js';
import type { Look } from './look.js';
import { clipSpans, type Row, type Span } from './row.js';
import { sgrOf } from './theme.js';

/** Underlined, reversed and struck through: styles in which a space is seen. */
const showsSpaces = /(?:^|;)[479](?:;|$)/;

interface StyledText {
  readonly text: string;
  readonly sgr: string;
}

/**
 * A row as bytes for the terminal, at most `columns` wide, without spaces at its end that nobody sees. This is the only way of text to the
 * screen: whatever a span holds, no control character, escape sequence or bidirectional override of it gets through.
 */
export function encodeRow({ spans }: Row, columns: number, { theme, isAscii }: Look): string {
  const drawn = spans.map((part) => ({ ...part, text: drawSpan(part, isAscii) }));
  const parts = clipSpans(drawn, columns, '').map((part) => ({ text: part.text, sgr: sgrOf(theme, part) }));
  let encoded = '';
  let current = '';
  for (const { text, sgr } of withoutBlankEnd(parts)) {
    if (sgr !== current) {
      encoded += sgr === '' ? '\x1b[m' : current === '' ? `\x1b[${sgr}m` : `\x1b[0;${sgr}m`;
      current = sgr;
    }
    encoded += text;
  }
  return current === '' ? encoded : `${encoded}\x1b[m`;
}

function drawSpan({ text, exact }: Span, isAscii: boolean): string {
  const drawn = drawnText(printable(text));
  return isAscii ? toAscii(drawn, { exact }) : drawn;
}

function withoutBlankEnd(parts: readonly StyledText[]): readonly StyledText[] {
  const last = parts.findLastIndex(({ text, sgr }) => /[^ ]/.test(text) || (text !== '' && showsSpaces.test(sgr)));
  const end = parts[last];
  if (!end) return [];
  return [...parts.slice(0, last), showsSpaces.test(end.sgr) ? end : { ...end, text: end.text.replace(/ +$/, '') }];
}

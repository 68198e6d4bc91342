import { printable } from '../../view/printable.js';
import { drawnText } from './cells.js';
import { fitRow, type Row } from './row.js';
import { sgrOf, type Theme } from './theme.js';

/**
 * A row as bytes for the terminal, at most `columns` wide. This is the only way of text to the screen: whatever a span holds, no control
 * character, escape sequence or bidirectional override of it gets through.
 */
export function encodeRow(row: Row, columns: number, theme: Theme): string {
  const cleaned = { ...row, spans: row.spans.map((part) => ({ ...part, text: drawnText(printable(part.text)) })) };
  let encoded = '';
  let current = '';
  for (const part of fitRow(cleaned, columns, '').spans) {
    const sgr = sgrOf(theme, part);
    if (sgr !== current) {
      encoded += sgr === '' ? '\x1b[m' : current === '' ? `\x1b[${sgr}m` : `\x1b[0;${sgr}m`;
      current = sgr;
    }
    encoded += part.text;
  }
  return current === '' ? encoded : `${encoded}\x1b[m`;
}

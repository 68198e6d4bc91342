import { printableLine } from '../../view/printable.js';
import { clipSpans, row, span, type Row } from '../rows/row.js';

/** Lines that tools keep on the screen, such as the list of what is to be done. */
export function widgetRows(widgets: Readonly<Record<string, readonly string[]>>, columns: number, rowsMax: number): Row[] {
  const rows = Object.values(widgets).flatMap((lines) =>
    lines.map((line) => row(...clipSpans([span('▏ ', 'border'), ...todoSpans(line)], columns))),
  );
  return rows.length <= rowsMax ? rows : [...rows.slice(0, rowsMax - 1), row(span(`▏ … ${rows.length - rowsMax + 1} more`, 'muted'))];
}

function todoSpans(line: string): ReturnType<typeof span>[] {
  const text = printableLine(line);
  if (text.startsWith('[x] ')) return [span('✓ ', 'good'), span(text.slice(4), { tone: 'muted', strike: true })];
  if (text.startsWith('[>] ')) return [span('▸ ', 'accent'), span(text.slice(4), { bold: true })];
  if (text.startsWith('[ ] ')) return [span('○ '), span(text.slice(4))];
  return [span(text)];
}

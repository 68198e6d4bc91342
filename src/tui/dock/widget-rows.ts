import { printableLine } from '../../view/printable.js';
import { marks } from '../rows/marks.js';
import { clipSpans, row, span, type Row } from '../rows/row.js';

/** Lines that tools keep on the screen, such as the list of what is to be done. */
export function widgetRows(widgets: Readonly<Record<string, readonly string[]>>, columns: number, rowsMax: number): Row[] {
  const rows = Object.values(widgets).flatMap((lines) =>
    lines.map((line) => row(...clipSpans([span(`${marks.widgetBar} `, 'border'), ...todoSpans(line)], columns))),
  );
  return rows.length <= rowsMax
    ? rows
    : [...rows.slice(0, rowsMax - 1), row(span(`${marks.widgetBar} ${marks.ellipsis} ${rows.length - rowsMax + 1} more`, 'muted'))];
}

function todoSpans(line: string): ReturnType<typeof span>[] {
  const text = printableLine(line);
  if (text.startsWith('[x] ')) return [span(`${marks.ok} `, 'good'), span(text.slice(4), { tone: 'muted', strike: true })];
  if (text.startsWith('[>] ')) return [span(`${marks.chosen} `, 'accent'), span(text.slice(4), { bold: true })];
  if (text.startsWith('[ ] ')) return [span(`${marks.waiting} `), span(text.slice(4))];
  return [span(text)];
}

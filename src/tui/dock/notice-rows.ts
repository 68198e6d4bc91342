import { clipSpans, row, rowText, span, type Row } from '../rows/row.js';
import { wrapSpans } from '../rows/wrap.js';

const layout = { noticesMax: 2, rowsEachMax: 3 } as const;

/** The newest notices, wrapped, with what is left out of a long one marked. */
export function noticeRows(notices: readonly { text: string; level: 'info' | 'alarm' }[], columns: number): Row[] {
  return notices.slice(-layout.noticesMax).flatMap(({ text, level }) => {
    const tone = level === 'alarm' ? 'bad' : 'muted';
    const rows = wrapSpans([span(text, tone)], columns, { first: [span('· ', tone)], rest: [span('  ')] });
    const last = rows[layout.rowsEachMax - 1];
    if (rows.length <= layout.rowsEachMax || !last) return rows;
    return [...rows.slice(0, layout.rowsEachMax - 1), row(...clipSpans([span(`${rowText(last)} …`, tone)], columns))];
  });
}

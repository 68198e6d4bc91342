import { marks } from '../rows/marks.js';
import { clipSpans, row, span, type Row } from '../rows/row.js';
import { wrapSpans } from '../rows/wrap.js';

/** The title of an overlay and what it is about, in at most so many rows; what is left out is counted. */
export function leadRows(title: string, message: string, columns: number, rowsMax: number): Row[] {
  const all = [
    ...wrapSpans([span(` ${title} `, { reverse: true, bold: true })], columns),
    ...(message === '' ? [] : wrapSpans([span(message)], columns)),
  ];
  if (all.length <= rowsMax) return all;
  if (rowsMax <= 1) return [row(...clipSpans([span(` ${title} `, { reverse: true, bold: true })], columns))];
  const kept = Math.max(0, rowsMax - 1);
  return [...all.slice(0, kept), row(span(`${marks.ellipsis} ${all.length - kept} more rows`, 'warn'))];
}

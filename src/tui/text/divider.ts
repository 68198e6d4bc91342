import { marks } from '../rows/marks.js';
import { clipSpans, span, spansWidth, type Row } from '../rows/row.js';
import { printableLine } from '../../view/printable.js';

const layout = { leftColumns: 2 } as const;

/** A horizontal line across the screen with a text in it. */
export function renderDivider(text: string, columns: number): Row {
  const title = printableLine(text);
  const line = (length: number) => span(marks.line.repeat(Math.max(0, length)), 'border');
  if (title === '') return { spans: [line(columns)], gutter: columns };
  const label = clipSpans([span(` ${title} `, 'muted')], columns - 2 * layout.leftColumns);
  const spans = [line(layout.leftColumns), ...label];
  return {
    spans: clipSpans([...spans, line(columns - spansWidth(spans))], columns, ''),
    gutter: Math.min(columns, layout.leftColumns + 1),
  };
}

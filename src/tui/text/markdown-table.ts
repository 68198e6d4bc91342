import type { Tokens } from 'marked';
import { marks } from '../rows/marks.js';
import { clipSpans, span, spansWidth, type Row, type Span } from '../rows/row.js';
import { wrapSpans } from '../rows/wrap.js';
import { renderInline } from './markdown-inline.js';

/** A column is never narrower than `cellColumns`, unless all of its cells are. */
const layout = { cellColumns: 8, separatorColumns: 3 } as const;

type Cells = readonly (readonly Span[])[];

/** A table as rows: columns share the width, cells are wrapped. One that has too many columns becomes lines of `head: cell`. */
export function layoutTable(table: Tokens.Table, columns: number, lead: readonly Span[], repeatsHead = false): Row[] {
  const head = table.header.map(({ text }) => renderInline(text, { bold: true }));
  const body = table.rows.map((row) => row.map(({ text }) => renderInline(text)));
  const widths = shareWidth(
    head.map((cell, at) => Math.max(1, ...[cell, ...body.map((row) => row[at] ?? [])].map(lineWidth))),
    columns - spansWidth(lead) - layout.separatorColumns * (head.length - 1),
  );
  if (!widths) return layoutRecords(head, body, columns, lead);
  const aligned = (row: Cells): Row[] => layoutRow(row, widths, table.align, lead);
  const headRows = [...aligned(head), ruleRow(widths, lead)];
  return [
    ...headRows.map((one, at) => (repeatsHead || at === headRows.length - 1 ? { ...one, gutter: columns } : one)),
    ...body.flatMap(aligned),
  ];
}

/** Widths of columns that fit together: wide ones give way first. Undefined when even that leaves too little. */
function shareWidth(wanted: readonly number[], room: number): number[] | undefined {
  const least = wanted.reduce((sum, width) => sum + Math.min(width, layout.cellColumns), 0);
  if (least > room) return undefined;
  let most = Math.max(...wanted);
  while (wanted.reduce((sum, width) => sum + Math.min(width, most), 0) > room) most--;
  let spare = room - wanted.reduce((sum, width) => sum + Math.min(width, most), 0);
  return wanted.map((width) => {
    const extra = width > most && spare > 0 ? 1 : 0;
    spare -= extra;
    return Math.min(width, most) + extra;
  });
}

/** The widest line of a cell, up to a width that no screen has. */
function lineWidth(cell: readonly Span[]): number {
  let widest = 0;
  let width = 0;
  for (const { text } of cell) {
    for (const [at, line] of text.split('\n').entries()) {
      width = (at === 0 ? width : 0) + spansWidth([{ text: line }]);
      widest = Math.max(widest, width);
    }
  }
  return Math.min(widest, tuning.widthMax);
}

const tuning = { widthMax: 1_000 } as const;

function layoutRow(row: Cells, widths: readonly number[], align: Tokens.Table['align'], lead: readonly Span[]): Row[] {
  const cells = widths.map((width, at) => wrapSpans(row[at] ?? [], width).map(({ spans }) => clipSpans(spans, width, '')));
  const height = Math.max(1, ...cells.map((lines) => lines.length));
  return Array.from({ length: height }, (_, line) => ({
    spans: [
      ...lead,
      ...widths.flatMap((width, at) => [
        ...(at === 0 ? [] : [span(` ${marks.column} `, 'border')]),
        ...alignSpans(cells[at]?.[line] ?? [], width, align[at] ?? null, at === widths.length - 1),
      ]),
    ],
    gutter: spansWidth(lead),
  }));
}

function alignSpans(spans: readonly Span[], width: number, align: Tokens.Table['align'][number], isLast: boolean): Span[] {
  const missing = width - spansWidth(spans);
  const left = align === 'right' ? missing : align === 'center' ? Math.floor(missing / 2) : 0;
  return [span(' '.repeat(left)), ...spans, span(isLast ? '' : ' '.repeat(missing - left))].filter(({ text }) => text !== '');
}

function ruleRow(widths: readonly number[], lead: readonly Span[]): Row {
  const crossing = `${marks.line}${marks.crossing}${marks.line}`;
  return { spans: [...lead, span(widths.map((width) => marks.line.repeat(width)).join(crossing), 'border')] };
}

function layoutRecords(head: Cells, body: readonly Cells[], columns: number, lead: readonly Span[]): Row[] {
  const records = body.length === 0 ? [head.map(() => [])] : body;
  const rule = wrapSpans([span(marks.line.repeat(Math.max(1, columns - spansWidth(lead))), 'border')], columns, { first: lead });
  return records.flatMap((row, at) => [
    ...(at === 0 ? [] : rule.slice(0, 1).map((one) => ({ ...one, gutter: columns }))),
    ...head.flatMap((name, column) =>
      wrapSpans([...name, span(': '), ...(row[column] ?? [])], columns, { first: lead, rest: [...lead, span('  ')] }),
    ),
  ]);
}

import { marks } from '../rows/marks.js';
import { emptyRow, row, span, spansWidth, type Row } from '../rows/row.js';
import { wrapSpans } from '../rows/wrap.js';
import { renderDivider } from '../text/divider.js';
import { renderMarkdown } from '../text/markdown.js';
import { renderToolBlock } from '../text/tool-block.js';
import type { Entry } from './entries.js';
import type { Folds } from './folds.js';

interface Cached {
  columns: number;
  folded: boolean;
  rows: readonly Row[];
}

const layout = { takenMark: `${marks.ok}${marks.ok}`, userGutter: '❯ ', indent: '  ', thinkingGutter: '┊ ' } as const;

export interface EntryRows {
  rowsOf(entry: Entry): readonly Row[];
}

/** Rows of entries at a width, cached by entry, width and fold. */
export function createEntryRenderer(folds: Folds, columns: () => number): EntryRows {
  const cache = new WeakMap<Entry, Cached>();
  return {
    rowsOf(entry) {
      const width = columns();
      const folded = folds.isFolded(entry);
      const known = cache.get(entry);
      if (known?.columns === width && known.folded === folded) return known.rows;
      const rows = render(entry, width, folded);
      cache.set(entry, { columns: width, folded, rows });
      return rows;
    },
  };
}

function render(entry: Entry, columns: number, folded: boolean): readonly Row[] {
  switch (entry.kind) {
    case 'user':
      return [emptyRow, ...userRows(entry.text, columns)];
    case 'answer':
      return [emptyRow, ...renderMarkdown(entry.text, columns)];
    case 'thinking':
      return [emptyRow, ...thinkingRows(renderMarkdown(entry.text, columns - layout.thinkingGutter.length), folded)];
    case 'stream': {
      const gutter = entry.isThinking ? layout.thinkingGutter.length : 0;
      const rows = entry.stream.rows(columns - gutter);
      return [emptyRow, ...(entry.isThinking ? thinkingRows(rows, folded) : rows)];
    }
    case 'tool':
      return renderToolBlock({ ...entry.tool, folded }, columns);
    case 'summary': {
      const head = renderDivider(entry.headline, columns);
      return folded ? [emptyRow, head] : [emptyRow, head, ...renderMarkdown(entry.text, columns)];
    }
    case 'event': {
      const head = row(span(`${entry.headline}: this berth does not know it`, { tone: 'muted', italic: true }));
      return folded ? [emptyRow, head] : [emptyRow, head, ...wrapSpans([span(entry.text, 'muted')], columns, { anywhere: true })];
    }
    case 'note':
      return [emptyRow, ...wrapSpans([span(entry.text, entry.level === 'alarm' ? 'bad' : 'muted')], columns)];
  }
}

/** What a person sent. That it is in the transcript means that the model has it, which its mark says. */
function userRows(text: string, columns: number): Row[] {
  const [first = emptyRow, ...rest] = wrapSpans(
    [span(text.trimEnd(), { tone: 'user', bold: true })],
    columns - layout.takenMark.length - 1,
    {
      first: [span(layout.userGutter, 'user')],
      rest: [span(layout.indent)],
    },
  );
  const room = columns - spansWidth(first.spans) - layout.takenMark.length;
  if (room < 1) return [first, ...rest];
  const mark = [span(' '.repeat(room)), span(layout.takenMark, 'muted')];
  return [{ ...first, spans: [...first.spans, ...mark], trailing: room + layout.takenMark.length }, ...rest];
}

/** Dimmed, with a gutter; folded to one line. */
function thinkingRows(rows: readonly Row[], folded: boolean): Row[] {
  const gutter = span(layout.thinkingGutter, 'muted');
  if (folded)
    return [row(gutter, span(`thought, ${rows.length} ${rows.length === 1 ? 'line' : 'lines'}`, { tone: 'muted', italic: true }))];
  return rows.map(({ spans, gutter: inner = 0, ...rest }) => ({
    ...rest,
    spans: [gutter, ...spans.map((part) => ({ ...part, tone: 'muted' as const, italic: true }))],
    gutter: inner + layout.thinkingGutter.length,
  }));
}

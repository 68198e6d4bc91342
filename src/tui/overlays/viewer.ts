import { row, rowText, span, spansWidth, spreadRow, type Row } from '../rows/row.js';
import { createLineField } from './line-field.js';
import type { Overlay } from './overlay.js';

export interface ViewerOptions {
  title: string;
  rows(columns: number): readonly Row[];
  /** More keys. */
  keys?: readonly { key: string; label: string; run(): void }[];
  close(): void;
  /** Stays at the end while rows are added, until somebody scrolls up. */
  follows?: boolean;
  onClosed?(): void;
}

/** Rows to be read: scrolled, searched with `/`. */
export function createViewer({ title, rows: rowsAt, keys: more = [], close, follows = false, onClosed }: ViewerOptions): Overlay {
  let top = 0;
  let isFollowing = follows;
  let pageRows = 1;
  let total = 0;
  let isTyping = false;
  let shown: readonly Row[] = [];
  const field = createLineField();

  function scroll(by: number): void {
    top = Math.max(0, Math.min(total - pageRows, top + by));
    isFollowing = follows && top >= total - pageRows;
  }

  function find(direction: 1 | -1): void {
    const wanted = field.text().toLowerCase();
    if (wanted === '') return;
    for (let at = top + direction; at >= 0 && at < shown.length; at += direction) {
      const line = shown[at];
      if (!line || !rowText(line).toLowerCase().includes(wanted)) continue;
      top = Math.max(0, Math.min(total - 1, at));
      return;
    }
  }

  const keys: Partial<Record<string, () => void>> = {
    up: () => scroll(-1),
    down: () => scroll(1),
    pageUp: () => scroll(-pageRows),
    pageDown: () => scroll(pageRows),
    home: () => (top = 0),
    end: () => scroll(total),
    enter: close,
  };
  const letters: Partial<Record<string, () => void>> = {
    k: () => scroll(-1),
    j: () => scroll(1),
    ' ': () => scroll(pageRows),
    b: () => scroll(-pageRows),
    g: () => (top = 0),
    G: () => scroll(total),
    n: () => find(1),
    N: () => find(-1),
    q: close,
    '/'() {
      isTyping = true;
      field.setText('');
    },
  };

  return {
    frame(columns, rows) {
      shown = rowsAt(columns);
      total = shown.length;
      pageRows = Math.max(1, rows - 3);
      top = isFollowing ? Math.max(0, total - pageRows) : Math.max(0, Math.min(top, total - pageRows));
      const place =
        total <= pageRows ? `${total} ${total === 1 ? 'line' : 'lines'}` : `${top + 1}–${Math.min(total, top + pageRows)} of ${total}`;
      const typed = field.spans(columns - spansWidth([span(title)]) - 5 - place.length);
      const lead = [span(` ${title} `, { reverse: true, bold: true }), span(isTyping || field.text() !== '' ? ' /' : '')];
      const head = spreadRow([...lead, ...typed.spans], [span(` ${place} `, 'muted')], columns);
      const wanted = field.text().toLowerCase();
      const body = shown
        .slice(top, top + pageRows)
        .map((line) => (wanted !== '' && rowText(line).toLowerCase().includes(wanted) ? marked(line) : line));
      while (body.length < pageRows) body.push(row());
      const foot = ['Esc close', ...more.map(({ key, label }) => `${key} ${label}`), '/ n N search', '↑↓ PgUp PgDn scroll'];
      return {
        rows: [head, row(span('─'.repeat(columns), 'border')), ...body, row(span(` ${foot.join(' · ')}`, 'muted'))],
        cursor: isTyping ? { row: 0, column: spansWidth(lead) + typed.cursor } : null,
      };
    },
    onKey(key) {
      if (isTyping) {
        if (key === 'enter') {
          isTyping = false;
          find(1);
        } else field.onKey(key);
        return;
      }
      keys[key]?.();
    },
    onText(text) {
      if (isTyping) {
        field.type(text);
        return;
      }
      const own = more.find(({ key }) => key === text);
      if (own) own.run();
      else letters[text]?.();
    },
    onPaste(text) {
      if (isTyping) field.type(text);
    },
    onWheel: scroll,
    ...(onClosed ? { onClosed } : {}),
  };
}

function marked({ spans, ...rest }: Row): Row {
  return { ...rest, spans: spans.map((part) => ({ ...part, reverse: true })) };
}

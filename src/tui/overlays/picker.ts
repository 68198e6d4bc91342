import { fuzzyFilter } from '../editor/completion/fuzzy.js';
import { clipSpans, fitRow, row, span, spansWidth, spreadRow, type Row, type Span, type Tone } from '../rows/row.js';
import { keyLabel } from '../keys/key-map.js';
import { createLineField } from './line-field.js';
import type { Overlay } from './overlay.js';

export interface PickerItem {
  readonly id: string;
  readonly label: string;
  /** At the right. */
  readonly detail?: string;
  readonly tone?: Tone;
  /** Also searched for, but not shown. */
  readonly keywords?: string;
  /** Found by something else than its label: shown whatever the filter is. */
  readonly isPinned?: boolean;
}

export interface PickerOptions {
  title: string;
  items(): readonly PickerItem[];
  onPick(item: PickerItem): void;
  /** Any number may be chosen. */
  multi?: { onPick(items: readonly PickerItem[]): void };
  /** More keys, each with what it does to the item under the cursor. */
  keys?: readonly { key: string; label: string; run(item: PickerItem): void }[];
  /** What is to be seen of an item before it is picked. */
  preview?(item: PickerItem, columns: number, rows: number): readonly Row[];
  /** The filter has changed: items may come from elsewhere. */
  onFilter?(text: string): void;
  onClosed?(): void;
  /** The item that the cursor begins at; the first when absent. */
  startAt?: string | undefined;
  /** What to say when there is nothing. */
  empty?: string;
}

export interface Picker extends Overlay {
  filter(): string;
}

const layout = { previewColumnsMin: 100, chromeRows: 3, detailShareMin: 0.25 } as const;

/** A list that is filtered by typing. */
export function createPicker(options: PickerOptions): Picker {
  const field = createLineField();
  const chosen = new Set<string>();
  let at = Math.max(
    0,
    options.items().findIndex(({ id }) => id === options.startAt),
  );
  let pageRows = 1;

  function matches(): PickerItem[] {
    const items = options.items();
    const query = field.text().trim();
    if (query === '') return [...items];
    const found = fuzzyFilter(
      items.filter(({ isPinned }) => !isPinned),
      query,
      ({ label, keywords = '', detail = '' }) => `${label} ${detail} ${keywords}`,
    ).map(({ item }) => item);
    return [...found, ...items.filter(({ isPinned }) => isPinned)];
  }

  function move(by: number): void {
    const { length } = matches();
    at = Math.max(0, Math.min(length - 1, at + by));
  }

  function pick(): void {
    const found = matches();
    const item = found[at];
    if (options.multi) {
      const all = options.items().filter(({ id }) => chosen.has(id));
      options.multi.onPick(all.length === 0 && item ? [item] : all);
    } else if (item) options.onPick(item);
  }

  function refilter(): void {
    at = 0;
    options.onFilter?.(field.text());
  }

  const keys: Partial<Record<string, () => void>> = {
    up: () => move(-1),
    'ctrl+k': () => move(-1),
    down: () => move(1),
    'ctrl+j': () => move(1),
    'ctrl+n': () => move(1),
    pageUp: () => move(-pageRows),
    pageDown: () => move(pageRows),
    home: () => (at = 0),
    end: () => move(Number.MAX_SAFE_INTEGER),
    enter: pick,
    tab() {
      const item = matches()[at];
      if (!options.multi || !item) return;
      if (!chosen.delete(item.id)) chosen.add(item.id);
      move(1);
    },
  };

  function itemRow({ id, label, detail = '', tone }: PickerItem, isCurrent: boolean, columns: number): Row {
    const mark = options.multi ? (chosen.has(id) ? '[x] ' : '[ ] ') : '';
    const style = { ...(tone ? { tone } : {}), ...(isCurrent ? { reverse: true } : {}) };
    const lead = [span(isCurrent ? '▸ ' : '  ', 'accent'), span(`${mark}${label}`, style)];
    // What something is called matters more than what is said of it.
    const room = Math.max(columns - spansWidth(lead) - 2, Math.floor(columns * layout.detailShareMin));
    return spreadRow(lead, detail === '' ? [] : [...clipSpans([span(detail, 'muted')], room), span(' ')], columns);
  }

  return {
    filter: () => field.text(),
    frame(columns, rows) {
      const found = matches();
      at = Math.max(0, Math.min(at, found.length - 1));
      const current = found[at];
      const isWide = options.preview !== undefined && columns >= layout.previewColumnsMin;
      const listColumns = isWide ? Math.floor(columns / 2) : columns;
      pageRows = Math.max(1, rows - layout.chromeRows);
      const first = Math.max(0, Math.min(at - Math.floor(pageRows / 2), found.length - pageRows));
      const typed = field.spans();
      const lead: Span[] = [span(` ${options.title} `, { reverse: true, bold: true }), span(' ')];
      const leadWidth = options.title.length + 3;
      const head = spreadRow([...lead, ...typed.spans], [span(` ${found.length} `, 'muted')], columns);
      const list = found.slice(first, first + pageRows).map((item, index) => itemRow(item, first + index === at, listColumns));
      if (found.length === 0) list.push(row(span(`  ${options.empty ?? 'nothing matches'}`, 'muted')));
      while (list.length < pageRows) list.push(row());
      const preview = isWide && current ? (options.preview?.(current, columns - listColumns - 2, pageRows) ?? []) : [];
      const body = isWide
        ? list.map((line, index) => ({
            spans: [
              ...fitRow(line, listColumns).spans,
              span('│ ', 'border'),
              ...clipSpans(preview[index]?.spans ?? [], columns - listColumns - 2),
            ],
          }))
        : list;
      const more = (options.keys ?? []).map(({ key, label }) => `${keyLabel(key)} ${label}`);
      const foot = row(span(` ${['Enter choose', ...(options.multi ? ['Tab mark'] : []), ...more, 'Esc close'].join(' · ')}`, 'muted'));
      return {
        rows: [head, row(span('─'.repeat(columns), 'border')), ...body, foot],
        cursor: { row: 0, column: leadWidth + typed.cursor },
      };
    },
    onKey(key) {
      const own = options.keys?.find((one) => one.key === key);
      const item = matches()[at];
      if (own && item) own.run(item);
      else if (keys[key]) keys[key]();
      else if (field.onKey(key)) refilter();
    },
    onText(text) {
      field.type(text);
      refilter();
    },
    onPaste(text) {
      field.type(text);
      refilter();
    },
    onClick(clicked) {
      const found = matches();
      const first = Math.max(0, Math.min(at - Math.floor(pageRows / 2), found.length - pageRows));
      const index = first + clicked - 2;
      if (clicked < 2 || index >= found.length) return;
      if (index === at) pick();
      else at = index;
    },
    onWheel: (by) => move(by),
    ...(options.onClosed ? { onClosed: options.onClosed } : {}),
  };
}

import { fuzzyFilter } from '../editor/completion/fuzzy.js';
import { keyLabel } from '../keys/key-map.js';
import { marks, separator } from '../rows/marks.js';
import { clipSpans, fitRow, row, span, spansWidth, spreadRow, type Row, type Tone } from '../rows/row.js';
import { wrapSpans } from '../rows/wrap.js';
import type { Cursor } from '../screen/frame.js';
import { leadRows } from './lead-rows.js';
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
  /** The heading that it stands below while nothing is typed. */
  readonly group?: string;
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
  /** Every item is shown whole, in as many rows as it needs; otherwise only the one under the cursor is. */
  wraps?: boolean;
}

export interface Picker extends Overlay {
  filter(): string;
}

const layout = {
  previewColumnsMin: 100,
  filterColumnsMin: 16,
  titleShare: 3,
  detailShareMin: 0.25,
  wrapRowsMin: 3,
  indent: '    ',
} as const;

/** A row of the list: of an item by its place among those that are found, or a heading. */
interface Line {
  readonly index: number | undefined;
  readonly row: () => Row;
}

/** A list that is filtered by typing. */
export function createPicker(options: PickerOptions): Picker {
  const field = createLineField();
  const chosen = new Set<string>();
  let at = Math.max(
    0,
    options.items().findIndex(({ id }) => id === options.startAt),
  );
  let pageRows = 1;
  let headHeight = 2;
  let shown: readonly Line[] = [];

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

  /** The title and what is typed: in one row, or below a title that needs more. */
  function headRows(count: number, columns: number, rowsMax: number): { head: Row[]; cursor: Cursor } {
    const total = [span(` ${count} `, 'muted')];
    const title = [span(` ${options.title} `, { reverse: true, bold: true }), span(' ')];
    const room = columns - spansWidth(title) - spansWidth(total) - 1;
    const isBelow = room < layout.filterColumnsMin;
    const lead = isBelow ? leadRows(options.title, '', columns, rowsMax) : [];
    const before = isBelow ? [span('> ', 'accent')] : title;
    const typed = field.spans(columns - spansWidth(before) - spansWidth(total) - 1);
    const cursor = { row: lead.length, column: spansWidth(before) + typed.cursor };
    return { head: [...lead, spreadRow([...before, ...typed.spans], total, columns)], cursor };
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

  /** An item that does not fit into one row has as many as it needs, if it may. */
  function itemRows({ id, label, detail = '', tone }: PickerItem, isCurrent: boolean, columns: number): Row[] {
    const mark = options.multi ? (chosen.has(id) ? '[x] ' : '[ ] ') : '';
    const style = { ...(tone ? { tone } : {}), ...(isCurrent ? { reverse: true } : {}) };
    const cursor = span(isCurrent ? `${marks.chosen} ` : '  ', 'accent');
    const name = span(`${mark}${label}`, style);
    const width = spansWidth([cursor, name]);
    if (width + spansWidth([span(detail)]) + 2 <= columns || !(isCurrent || options.wraps) || pageRows < layout.wrapRowsMin) {
      // What something is called matters more than what is said of it.
      const room = Math.max(columns - width - 2, Math.floor(columns * layout.detailShareMin));
      return [spreadRow([cursor, name], detail === '' ? [] : [...clipSpans([span(detail, 'muted')], room), span(' ')], columns)];
    }
    const indent = [span(layout.indent)];
    const below = detail === '' ? [] : wrapSpans([span(detail, 'muted')], columns, { first: indent, rest: indent });
    return [...wrapSpans([name], columns, { first: [cursor], rest: [span('  ')] }), ...below];
  }

  /** The rows of the list; those that are not on the screen are not laid out. */
  function lay(found: readonly PickerItem[], columns: number): Line[] {
    const isGrouped = field.text().trim() === '';
    return found.flatMap((item, index): Line[] => {
      const { group } = item;
      const isNew = isGrouped && group !== undefined && group !== found[index - 1]?.group;
      const heading: Line[] = isNew
        ? [
            ...(index === 0 ? [] : [{ index: undefined, row: () => row() }]),
            { index: undefined, row: () => row(span(` ${group}`, 'heading')) },
          ]
        : [];
      if (index !== at && !options.wraps) return [...heading, { index, row: () => itemRows(item, false, columns)[0] ?? row() }];
      return [...heading, ...itemRows(item, index === at, columns).map((one) => ({ index, row: () => one }))];
    });
  }

  return {
    filter: () => field.text(),
    frame(columns, rows) {
      const found = matches();
      at = Math.max(0, Math.min(at, found.length - 1));
      const current = found[at];
      const isWide = options.preview !== undefined && columns >= layout.previewColumnsMin;
      const listColumns = isWide ? Math.floor(columns / 2) : columns;
      const { head, cursor } = headRows(found.length, columns, Math.max(1, Math.floor(rows / layout.titleShare)));
      headHeight = head.length + 1;
      pageRows = Math.max(1, rows - headHeight - 1);
      const lines = lay(found, listColumns);
      const [from, to] = [lines.findIndex(({ index }) => index === at), lines.findLastIndex(({ index }) => index === at)];
      const centred = Math.max(0, Math.min(from - Math.floor((pageRows - (to - from)) / 2), lines.length - pageRows));
      shown = lines.slice(Math.min(from < 0 ? 0 : from, centred)).slice(0, pageRows);
      const list = shown.map((line) => line.row());
      if (to - from >= pageRows) list[pageRows - 1] = row(span(`  ${marks.ellipsis} ${to - from - pageRows + 2} more rows`, 'warn'));
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
      const hints = ['Enter choose', 'Esc close', ...(options.multi ? ['Tab mark'] : []), ...more].join(separator);
      const foot = row(...clipSpans([span(` ${hints}`, 'muted')], columns));
      return { rows: [...head, row(span('─'.repeat(columns), 'border')), ...body, foot], cursor };
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
      const index = shown[clicked - headHeight]?.index;
      if (index === undefined) return;
      if (index === at) pick();
      else at = index;
    },
    onWheel: (by) => move(by),
    ...(options.onClosed ? { onClosed: options.onClosed } : {}),
  };
}

import { printableLine } from '../../view/printable.js';
import type { Editor } from '../editor/editor.js';
import { marks, separator } from '../rows/marks.js';
import { row, span, spreadRow, type Row } from '../rows/row.js';

const layout = { rowsMax: 7 } as const;

/** What can be completed at the cursor, or what a search of the history has found. */
export function completionRows(editor: Editor, columns: number): Row[] {
  const searching = editor.search.state();
  if (searching) {
    const found = searching.matches.length === 0 ? 'no match' : `${searching.selected + 1} of ${searching.matches.length}`;
    return [
      row(
        span('history: ', 'accent'),
        span(printableLine(searching.query)),
        span(`  ${[found, 'Ctrl-R older', 'Enter takes it', 'Esc back'].join(separator)}`, 'muted'),
      ),
    ];
  }
  const shown = editor.completion.shown(layout.rowsMax);
  if (!shown) return [];
  return shown.items.map(({ text, detail = '' }, index) => {
    const isSelected = index === shown.selected;
    return spreadRow(
      [span(isSelected ? `${marks.chosen} ` : '  ', 'accent'), span(printableLine(text), isSelected ? { reverse: true } : {})],
      [span(` ${printableLine(detail)} `, 'muted')],
      columns,
    );
  });
}

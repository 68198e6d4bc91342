import { textWidth } from '../../../src/tui/rows/cells.js';
import { rowText, type Row } from '../../../src/tui/rows/row.js';

/** What somebody gets who selects and copies all of these rows. */
export function copiedText(rows: readonly Row[]): string {
  return rows.map((one, at) => `${at === 0 ? '' : (one.continues ?? '\n')}${withoutGutter(one).trimEnd()}`).join('');
}

function withoutGutter(one: Row): string {
  let column = 0;
  let text = '';
  for (const character of rowText(one)) {
    if (column >= (one.gutter ?? 0)) text += character;
    column += textWidth(character);
  }
  return text;
}

import { getSegmenter, visibleWidth } from '@earendil-works/pi-tui/dist/utils.js';

const plainAscii = /^[\x20-\x7e]*$/;

/** The columns that a sanitized text without escape sequences takes in a terminal. */
export function widthOf(text: string): number {
  return plainAscii.test(text) ? text.length : visibleWidth(text);
}

/** The grapheme clusters of a text: what a cursor steps over and a terminal never breaks. */
export function graphemesOf(text: string): string[] {
  return plainAscii.test(text) ? text.split('') : Array.from(getSegmenter().segment(text), ({ segment }) => segment);
}

/** The longest beginning of a text that takes at most `columns` columns. */
export function headOf(text: string, columns: number): string {
  if (plainAscii.test(text)) return text.slice(0, Math.max(0, columns));
  let head = '';
  let width = 0;
  for (const grapheme of graphemesOf(text)) {
    width += widthOf(grapheme);
    if (width > columns) break;
    head += grapheme;
  }
  return head;
}

const wide =
  /[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff01-\uff60\uffe0-\uffe6\u{20000}-\u{3fffd}]|\p{Emoji_Presentation}/u;
/** Regional indicators: two of them make a flag emoji, two columns wide. */
const halfFlag = /^[\u{1f1e6}-\u{1f1ff}]$/u;
const narrowest = /^(?:[\p{Mn}\p{Me}]|\u200c|\u200d|\ufe0e|\ufe0f)$/u;
const plain = /^[ -~]*$/;

/** The display width of a printable text in terminal columns. */
export function columnsOf(text: string): number {
  if (plain.test(text)) return text.length;
  let columns = 0;
  for (const character of text) columns += widthOf(character);
  return columns;
}

function widthOf(character: string): 0 | 1 | 2 {
  if (narrowest.test(character)) return 0;
  return wide.test(character) && !halfFlag.test(character) ? 2 : 1;
}

/** Truncates a line to a display width, with `…`. */
export function clipColumns(text: string, columnsMax: number): string {
  if (columnsOf(text) <= columnsMax) return text;
  let clipped = '';
  let columns = 0;
  for (const character of text) {
    columns += columnsOf(character);
    if (columns > columnsMax - 1) break;
    clipped += character;
  }
  return columnsMax > 0 ? `${clipped}…` : '';
}

function padColumns(text: string, columns: number): string {
  return text + ' '.repeat(Math.max(0, columns - columnsOf(text)));
}

/** Aligns rows of cells as a table; the last column is not padded. */
export function alignColumns(rows: readonly (readonly string[])[]): string[] {
  const widths: number[] = [];
  for (const row of rows) for (const [at, cell] of row.entries()) widths[at] = Math.max(widths[at] ?? 0, columnsOf(cell));
  return rows.map((row) => row.map((cell, at) => (at === row.length - 1 ? cell : padColumns(cell, widths[at] ?? 0))).join('  '));
}

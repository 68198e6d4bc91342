/** ANSI styles; plain text without a terminal. */
export interface Style {
  dim(text: string): string;
  bold(text: string): string;
  red(text: string): string;
  green(text: string): string;
}

export function createStyle(coloured: boolean): Style {
  const paint = (on: number, off: number) => (text: string) => (coloured && text !== '' ? `\u001b[${on}m${text}\u001b[${off}m` : text);
  return { dim: paint(2, 22), bold: paint(1, 22), red: paint(31, 39), green: paint(32, 39) };
}

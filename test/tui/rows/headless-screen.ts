import headless from '@xterm/headless';

/** What a terminal makes of bytes: its lines, and those among them that a longer one ran over into. */
export interface Screen {
  lines: string[];
  wrapped: number;
  /** Lines that the cursor went down. */
  height: number;
}

const most = 5_000;

/** Shows rows of bytes below each other in a terminal of so many columns, which knows nothing of how we measure. */
export async function showRows(rows: readonly string[], columns: number): Promise<Screen> {
  const terminal = new headless.Terminal({ cols: columns, rows: 2, scrollback: most, allowProposedApi: true });
  await new Promise<void>((done) => terminal.write(rows.join('\r\n'), done));
  const { active } = terminal.buffer;
  const height = active.baseY + active.cursorY + 1;
  const shown = Array.from({ length: height }, (_, at) => active.getLine(at)!);
  const lines = shown.map((line) => line.translateToString(true));
  const wrapped = shown.filter(({ isWrapped }) => isWrapped).length;
  terminal.dispose();
  return { lines, wrapped, height };
}

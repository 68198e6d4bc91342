import headless from '@xterm/headless';
import { expect, test } from 'vitest';
import { chooseLook } from '../../../src/tui/rows/look.js';
import { row, span, type Row } from '../../../src/tui/rows/row.js';
import { createFramePainter } from '../../../src/tui/screen/frame.js';
import { enterSequence } from '../../../src/tui/screen/terminal-modes.js';
import { restoreSequence } from '../../../src/view/terminal/restore-sequence.js';

const columns = 20;
const height = 3;
const dark = chooseLook({ env: {}, background: 'dark' });

function createScreen() {
  const terminal = new headless.Terminal({ cols: columns, rows: height, allowProposedApi: true });
  const written: string[] = [];
  const painter = createFramePainter((text) => written.push(text));
  return {
    terminal,
    paint: (rows: readonly Row[], look = dark) => painter.paint({ rows, cursor: null }, columns, height, look),
    forget: () => painter.forget(),
    /** What was written since the last call. */
    written: () => written.splice(0),
    async show(text: string): Promise<string[]> {
      await new Promise<void>((done) => terminal.write(text, done));
      const { active } = terminal.buffer;
      return Array.from({ length: height }, (_, at) => active.getLine(active.viewportY + at)!.translateToString(true));
    },
  };
}

test('a row is cleared, so that a shorter one leaves no remains and needs no padding', async () => {
  const screen = createScreen();
  screen.paint([row('a long row of text'), row('second')]);
  await screen.show(screen.written().join(''));
  screen.paint([row('short'), row('second')]);
  const written = screen.written();
  expect(written).toEqual(['\u001b[?2026h\u001b[?25l\u001b[1;1H\u001b[2Kshort\u001b[?25l\u001b[?2026l']);
  expect(await screen.show(written.join(''))).toEqual(['short', 'second', '']);
});

test('a frame that looks the same is not written again, whatever rows it is made of', () => {
  const screen = createScreen();
  screen.paint([row('a'), row(span('b', 'accent'))]);
  screen.written();
  screen.paint([row('a '), row(span('b', 'accent'), '  ')]);
  expect(screen.written()).toEqual([]);
  screen.forget();
  screen.paint([row('a'), row(span('b', 'accent'))]);
  expect(screen.written().join('').split('\u001b[2K')).toHaveLength(1 + height);
});

test('another look paints what looks different, and nothing else', () => {
  const screen = createScreen();
  const rows = [row('plain'), row(span('tone', 'accent')), row('… ✓')];
  screen.paint(rows);
  screen.written();
  screen.paint(rows, chooseLook({ env: {}, background: 'dark' }));
  expect(screen.written()).toEqual([]);
  screen.paint(rows, chooseLook({ env: {}, background: 'light' }));
  expect(screen.written().join('')).toContain('\u001b[?25l\u001b[2;1H\u001b[2K\u001b[34mtone\u001b[m\u001b[?25l');
  screen.paint(rows, chooseLook({ env: { LANG: 'C' }, background: 'light' }));
  expect(screen.written().join('')).toContain('\u001b[?25l\u001b[3;1H\u001b[2K~ +\u001b[?25l');
});

test('a row that the terminal takes for wider than the screen breaks no other row, and leaving restores wrapping', async () => {
  const screen = createScreen();
  await screen.show(enterSequence);
  expect(screen.terminal.modes.wraparoundMode).toBe(false);
  const wider = `\u001b[1;1H${'x'.repeat(columns + 5)}\u001b[2;1Hsecond`;
  expect(await screen.show(wider)).toEqual(['x'.repeat(columns), 'second', '']);
  await screen.show(restoreSequence);
  expect(screen.terminal.modes.wraparoundMode).toBe(true);
});

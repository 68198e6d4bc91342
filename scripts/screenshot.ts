import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { spawn } from '@lydell/node-pty';
import xterm from '@xterm/headless';
import { program, startDaemon } from '../test/support/daemon.js';

/** Draws the screen of a real session, as a terminal emulator has it, to docs/tui.svg. Run after a build: npm run screenshot. */
const target = fileURLToPath(new URL('../docs/tui.svg', import.meta.url));
const layout = { columns: 100, rows: 40, cellWidth: 8.4, cellHeight: 18, margin: 12 } as const;
const waitMsMax = 30_000;

type Line = NonNullable<ReturnType<xterm.Terminal['buffer']['active']['getLine']>>;
type Cell = NonNullable<ReturnType<Line['getCell']>>;

/** The 16 colours of ANSI on a dark page. */
const palette = [
  ...['#2b303b', '#e06c75', '#98c379', '#e5c07b', '#61afef', '#c678dd', '#56b6c2', '#d7dae0'],
  ...['#5c6370', '#f0808a', '#b5e09a', '#f5d79b', '#85c5ff', '#dba0ee', '#7fd5df', '#ffffff'],
];
const page = { background: '#1d2026', foreground: '#d7dae0' } as const;

interface Piece {
  text: string;
  column: number;
  style: string;
  background: string | undefined;
}

function colourOf(number: number, isDefault: boolean, fallback: string): string {
  return isDefault ? fallback : (palette[number] ?? fallback);
}

function styleOf(cell: Cell): Pick<Piece, 'style' | 'background'> {
  const foreground = colourOf(cell.getFgColor(), cell.isFgDefault(), page.foreground);
  const background = colourOf(cell.getBgColor(), cell.isBgDefault(), page.background);
  const isInverse = cell.isInverse() !== 0;
  const fill = isInverse ? background : foreground;
  const words = [
    `fill="${fill}"`,
    ...(cell.isBold() ? ['font-weight="bold"'] : []),
    ...(cell.isItalic() ? ['font-style="italic"'] : []),
    ...(cell.isDim() ? ['opacity="0.6"'] : []),
    ...(cell.isUnderline() ? ['text-decoration="underline"'] : []),
  ];
  return { style: words.join(' '), background: isInverse ? foreground : cell.isBgDefault() ? undefined : background };
}

/** A row as pieces of one style. */
function piecesOf(line: Line): Piece[] {
  const pieces: Piece[] = [];
  for (let column = 0; column < layout.columns; column++) {
    const cell = line.getCell(column);
    if (!cell || cell.getWidth() === 0) continue;
    const { style, background } = styleOf(cell);
    const last = pieces.at(-1);
    const text = cell.getChars() || ' ';
    if (last?.style === style && last.background === background) last.text += text;
    else pieces.push({ text, column, style, background });
  }
  return pieces.filter(({ text, background }) => text.trim() !== '' || background !== undefined);
}

function escape(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

function toSvg(lines: readonly Line[]): string {
  const { cellWidth, cellHeight, margin } = layout;
  const width = Math.ceil(layout.columns * cellWidth + 2 * margin);
  const height = layout.rows * cellHeight + 2 * margin;
  const drawn = lines.flatMap((line, row) =>
    piecesOf(line).flatMap(({ text, column, style, background }) => {
      const x = (margin + column * cellWidth).toFixed(1);
      const y = margin + row * cellHeight;
      const columns = text.length;
      const length = (columns * cellWidth).toFixed(1);
      const box =
        background === undefined ? [] : [`<rect x="${x}" y="${y}" width="${length}" height="${cellHeight}" fill="${background}"/>`];
      return [...box, `<text x="${x}" y="${y + 13}" textLength="${length}" xml:space="preserve" ${style}>${escape(text)}</text>`];
    }),
  );
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img">`,
    '<title>A berth session in a terminal</title>',
    `<rect width="100%" height="100%" rx="8" fill="${page.background}"/>`,
    '<g font-family="ui-monospace, SFMono-Regular, Menlo, Consolas, monospace" font-size="14">',
    ...drawn,
    '</g></svg>\n',
  ].join('\n');
}

await using daemon = await startDaemon();
const home = join(daemon.root, 'home');
const cwd = join(home, 'project');
mkdirSync(cwd);
const berth = await daemon.connect();
const made = await berth.call('new_session', { cwd, title: 'greetings' });
if (!made.ok) throw new Error(made.error.message);
const terminal = new xterm.Terminal({ cols: layout.columns, rows: layout.rows, allowProposedApi: true });
const env = { ...daemon.env, TERM: 'xterm-256color', LANG: 'C.UTF-8' };
const pty = spawn(process.execPath, [program, 'attach', made.payload.session_id], { cols: layout.columns, rows: layout.rows, cwd, env });
let wake: () => void = () => undefined;
pty.onData((data) => terminal.write(data, () => wake()));
terminal.onData((answer) => pty.write(answer));

function lines(): Line[] {
  const { active } = terminal.buffer;
  return Array.from({ length: layout.rows }, (_, at) => active.getLine(active.viewportY + at)).filter((line) => line !== undefined);
}

async function until(sign: string): Promise<void> {
  const late = AbortSignal.timeout(waitMsMax);
  late.addEventListener('abort', () => wake());
  while (!lines().some((line) => line.translateToString().includes(sign))) {
    if (late.aborted) throw new Error(`no “${sign}” on the screen`);
    await new Promise<void>((resolve) => (wake = resolve));
  }
}

/** A paste and Enter. */
function pasted(text: string): string {
  return `\x1b[200~${text}\x1b[201~\r`;
}

/** Sends a text, and waits for the end of its run. */
async function send(text: string, sign: string): Promise<void> {
  pty.write(pasted(text));
  await until(sign);
  await until('ask for something');
}

try {
  await until('ask for something');
  pty.write(pasted('write def greet(name):\n    return "ahoy " + name to greet.py'));
  await until('Allow once');
  pty.write('\x0f');
  await until('Esc back to the editor');
  pty.write('a');
  await until('Created greet.py');
  await send('say Two things are **left**:\n- `greet(42)` fails: a number is no text\n- a comma after *ahoy*', 'Two things are left');
  pty.write(pasted('edit greet.py: "ahoy " + name -> f"ahoy, {name}!"'));
  await until('Deny with a reason');
  const svg = toSvg(lines());
  writeFileSync(target, svg);
  process.stdout.write(`${target}: ${svg.length} characters\n`);
} finally {
  pty.kill('SIGKILL');
  berth.close();
}

import { spawn } from '@lydell/node-pty';
import xterm from '@xterm/headless';
import { program } from '../support/daemon.js';

export interface PtySetup {
  args?: readonly string[];
  cwd: string;
  env: Record<string, string>;
  columns?: number;
  rows?: number;
  /** What is run instead of berth, such as a shell that starts it. */
  program?: { file: string; args: readonly string[] };
}

/** A cell as it is drawn. Colours are numbers of the palette; undefined is the default one. */
export interface StyledCell {
  text: string;
  /** 0 for the second half of a wide character. */
  width: number;
  foreground: number | undefined;
  background: number | undefined;
  bold: boolean;
  dim: boolean;
  italic: boolean;
  underline: boolean;
  strike: boolean;
  reverse: boolean;
}

/** `berth` in a real pseudo-terminal, and a terminal emulator that shows what it draws. */
export interface PtyScreen extends AsyncDisposable {
  readonly pid: number;
  /** Bytes as a keyboard sends them. */
  send(bytes: string | Buffer): void;
  /** The screen, a string a row, without the blanks at the right. */
  rows(): string[];
  text(): string;
  cells(): StyledCell[][];
  title(): string;
  /** Resolves with the screen once it fits, looking again when it or one of the others changes; rejects with the screen when it does not in time. */
  until(fits: string | RegExp | ((text: string) => boolean), what?: string, others?: readonly PtyScreen[]): Promise<string>;
  /** Calls back when something was written. Returns how to stop that. */
  onShown(listener: () => void): () => void;
  /** Everything that was written to the terminal. */
  bytes(): string;
  cursor(): { row: number; column: number };
  isAlternate(): boolean;
  /** The modes that the emulator knows of, by name, with their values. */
  modes(): Record<string, unknown>;
  resize(columns: number, rows: number): void;
  kill(signal: NodeJS.Signals): void;
  exited(): Promise<{ exitCode: number; signal: number | undefined }>;
}

const patienceMs = 45_000;

export function openPty({ args = [], cwd, env, columns = 100, rows = 30, program: other }: PtySetup): PtyScreen {
  const terminal = new xterm.Terminal({ cols: columns, rows, allowProposedApi: true, scrollback: 1_000 });
  const { file, args: given } = other ?? { file: process.execPath, args: [program, ...args] };
  const pty = spawn(file, [...given], {
    name: env.TERM ?? 'xterm-256color',
    cols: columns,
    rows,
    cwd,
    env: { LANG: 'C.UTF-8', ...env },
  });
  let written = '';
  let title = '';
  terminal.onTitleChange((text) => (title = text));
  const listeners = new Set<() => void>();
  let ended: { exitCode: number; signal: number | undefined } | undefined;
  const wake = (): void => listeners.forEach((listener) => listener());
  const onShown = (listener: () => void): (() => void) => {
    listeners.add(listener);
    return () => void listeners.delete(listener);
  };
  pty.onData((data) => {
    written += data;
    terminal.write(data, wake);
  });
  // The emulator answers what it is asked, as a terminal does.
  terminal.onData((answer) => pty.write(answer));
  const exit = new Promise<{ exitCode: number; signal: number | undefined }>((resolve) =>
    pty.onExit(({ exitCode, signal }) => {
      ended = { exitCode, signal };
      resolve(ended);
      wake();
    }),
  );

  function readRows(): string[] {
    const { active } = terminal.buffer;
    return Array.from(
      { length: terminal.rows },
      (_, at) =>
        active
          .getLine(active.viewportY + at)
          ?.translateToString(true)
          .trimEnd() ?? '',
    );
  }

  return {
    pid: pty.pid,
    // The library takes bytes as well as text; its types do not say so.
    send: (bytes) => pty.write(bytes as string),
    rows: readRows,
    text: () => readRows().join('\n'),
    cells: () => readCells(terminal),
    title: () => title,
    async until(fits, what = String(fits), others = []) {
      const isFit =
        typeof fits === 'function' ? fits : (text: string) => (typeof fits === 'string' ? text.includes(fits) : fits.test(text));
      let isLate = false;
      let isChanged: () => void = () => undefined;
      const wakeUp = (): void => isChanged();
      const late = setTimeout(() => {
        isLate = true;
        wakeUp();
      }, patienceMs);
      const unwatch = [onShown, ...others.map((other) => other.onShown)].map((watch) => watch(wakeUp));
      try {
        for (;;) {
          const text = readRows().join('\n');
          if (isFit(text)) return text;
          if (ended || isLate) throw new Error(`${ended ? `ended (${ended.exitCode}) ` : ''}without ${what} on the screen:\n${text}`);
          await new Promise<void>((resolve) => (isChanged = resolve));
        }
      } finally {
        clearTimeout(late);
        for (const stop of unwatch) stop();
      }
    },
    onShown,
    bytes: () => written,
    cursor: () => ({ row: terminal.buffer.active.cursorY, column: terminal.buffer.active.cursorX }),
    isAlternate: () => terminal.buffer.active.type === 'alternate',
    modes: () => ({ ...terminal.modes }),
    resize(nextColumns, nextRows) {
      terminal.resize(nextColumns, nextRows);
      pty.resize(nextColumns, nextRows);
    },
    kill: (signal) => pty.kill(signal),
    async exited() {
      const how = await exit;
      // The emulator has shown everything that was written.
      await new Promise<void>((resolve) => terminal.write('', resolve));
      return how;
    },
    async [Symbol.asyncDispose]() {
      if (!ended) pty.kill('SIGKILL');
      await exit;
      terminal.dispose();
    },
  };
}

function readCells(terminal: InstanceType<typeof xterm.Terminal>): StyledCell[][] {
  const { active } = terminal.buffer;
  return Array.from({ length: terminal.rows }, (_, row) => {
    const line = active.getLine(active.viewportY + row);
    return Array.from({ length: terminal.cols }, (__, column): StyledCell => {
      const cell = line?.getCell(column);
      return {
        text: cell?.getChars() ?? '',
        width: cell?.getWidth() ?? 1,
        foreground: cell && !cell.isFgDefault() ? cell.getFgColor() : undefined,
        background: cell && !cell.isBgDefault() ? cell.getBgColor() : undefined,
        bold: Boolean(cell?.isBold()),
        dim: Boolean(cell?.isDim()),
        italic: Boolean(cell?.isItalic()),
        underline: Boolean(cell?.isUnderline()),
        strike: Boolean(cell?.isStrikethrough()),
        reverse: Boolean(cell?.isInverse()),
      };
    });
  });
}

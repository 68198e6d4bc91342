import { clearScreenDown, createInterface, cursorTo, emitKeypressEvents, moveCursor } from 'node:readline';
import { limits } from '../../protocol/limits.js';
import { columnsOf } from './columns.js';
import { createTypedHistory } from './typed-history.js';
import { feedKeys } from './typed-keys.js';

/** A terminal on which text arrives while a person types: the two never mix. */
export interface Terminal {
  write(text: string): void;
  /** While text is expected, the prompt is there only when something is typed. */
  expectText(expected: boolean): void;
  close(): void;
}

interface Deps {
  input: NodeJS.ReadStream;
  output: NodeJS.WriteStream;
  /** What a line that is begun now is about. */
  subject(): string | undefined;
  /** A line, and what it was about when its first character was typed. */
  onLine(line: string, about: string | undefined): void;
  onLeave(): void;
}

const prompt = '> ';
const pasteOn = '\u001b[?2004h';
const pasteOff = '\u001b[?2004l';

export function openTerminal({ input, output, subject, onLine, onLeave }: Deps): Terminal {
  // A reader that does this itself puts characters that come at once at the end of its line, wherever the cursor is.
  emitKeypressEvents(input);
  const reader = createInterface({ input, output, terminal: true, prompt, historySize: limits.typedHistoryMax });
  const history = createTypedHistory(reader, limits.typedHistoryMax);
  let visible = false;
  let expecting = true;
  let atStart = true;
  /** The prompt broke a line off; the end of that line, should it come next, is there already. */
  let brokeLine = false;
  let held = '';
  let pasting = false;
  /** Lines of a paste that wait for the person to press enter, and how many rows above the prompt show them. */
  let pasted: string[] = [];
  let pastedRows = 0;
  let about: string | undefined;
  let closed = false;

  function put(text: string): void {
    if (text === '') return;
    output.write(brokeLine && text.startsWith('\n') ? text.slice(1) : text);
    brokeLine = false;
    atStart = text.endsWith('\n');
  }

  function show(): void {
    if (visible || closed) return;
    if (!atStart) {
      put('\n');
      brokeLine = true;
    }
    visible = true;
    reader.prompt(true);
  }

  function eraseRows(rows: number): void {
    moveCursor(output, 0, -rows);
    cursorTo(output, 0);
    clearScreenDown(output);
  }

  function hide(): void {
    if (!visible) return;
    eraseRows(reader.getCursorPos().rows);
    visible = false;
    release();
  }

  function release(): void {
    put(held);
    held = '';
  }

  /** Whole lines go above the prompt. */
  function writeAbove(): void {
    const end = held.length > limits.heldLineCharsMax ? held.length : held.lastIndexOf('\n') + 1;
    if (end === 0) return;
    const { rows } = reader.getCursorPos();
    eraseRows(rows);
    put(held.slice(0, end));
    if (!atStart) put('\n');
    held = held.slice(end);
    pastedRows = 0;
    // The reader goes up again by as many rows as it believes to be below the first.
    output.write('\n'.repeat(rows));
    reader.prompt(true);
  }

  function rowsOf(line: string): number {
    return Math.floor(columnsOf(prompt + line) / Math.max(1, output.columns)) + 1;
  }

  /** The session says what was sent, so what was typed goes away. */
  function submit(line: string): void {
    if (pasting) {
      pasted.push(line);
      pastedRows += rowsOf(line);
      reader.prompt();
      return;
    }
    eraseRows(rowsOf(line) + pastedRows);
    const text = history.toText([...pasted, line].join('\n'));
    clear(text);
    onLine(text, about);
    if (!expecting) show();
  }

  /** What was typed is over and its rows are erased; the up arrow has it. */
  function clear(text: string): void {
    pasted = [];
    pastedRows = 0;
    visible = false;
    atStart = true;
    release();
    history.remember(text);
  }

  /** Ctrl-C leaves, but takes nothing along that is half typed: that only goes out of the way. */
  function interrupt(): void {
    if (reader.line === '' && pasted.length === 0) return onLeave();
    const text = history.toText([...pasted, reader.line].join('\n'));
    reader.write(null, { ctrl: true, name: 'e' });
    reader.write(null, { ctrl: true, name: 'u' });
    eraseRows(pastedRows);
    clear(text);
    if (!expecting) show();
  }

  /** What is right of the cursor comes after the last line of a paste. */
  function paste(text: string): void {
    const lines = text.split(/\r\n|\r|\n/);
    const last = lines.pop() ?? '';
    if (lines.length > 0) {
      const rest = reader.line.slice(reader.cursor);
      reader.write(null, { ctrl: true, name: 'k' });
      pasting = true;
      for (const line of lines) reader.write(`${line}\n`);
      pasting = false;
      reader.write(rest);
      reader.write(null, { name: 'home' });
    }
    reader.write(last);
  }

  function isTyping(): boolean {
    return reader.line !== '' || pasted.length > 0 || keys.isWaiting();
  }

  reader.on('line', submit);
  // Back from ctrl-Z: readline has paused itself, and only a prompt makes it listen again.
  reader.on('SIGCONT', () => {
    visible = true;
    reader.prompt(true);
  });
  reader.on('SIGINT', interrupt);
  reader.on('close', () => {
    if (!closed) onLeave();
  });
  const keys = feedKeys({
    input,
    reader,
    onKey({ ctrl }) {
      if (!isTyping()) about = subject();
      if (!ctrl) show();
    },
    onPaste: paste,
    onTyped() {
      history.look();
      if (expecting && !isTyping()) hide();
    },
  });
  output.write(pasteOn);

  return {
    write(text) {
      if (visible) {
        held += text;
        writeAbove();
      } else put(text);
    },
    expectText(expected) {
      expecting = expected;
      if (!expected) show();
      else if (!isTyping()) hide();
    },
    close() {
      if (closed) return;
      hide();
      closed = true;
      output.write(pasteOff);
      reader.close();
      input.destroy();
    },
  };
}

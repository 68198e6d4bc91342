import { clearScreenDown, createInterface, cursorTo, emitKeypressEvents, moveCursor } from 'node:readline';
import { limits } from '../../protocol/limits.js';
import { columnsOf } from './columns.js';
import { createTypedHistory } from './typed-history.js';
import { feedKeys } from './typed-keys.js';

/** A terminal that keeps arriving output and the typed line apart. */
export interface Terminal {
  write(text: string): void;
  /** While output is expected, the prompt is shown only when something is typed. */
  expectText(expected: boolean): void;
  close(): void;
}

interface Deps {
  input: NodeJS.ReadStream;
  output: NodeJS.WriteStream;
  /** The id of the question that a line begun now would answer. */
  subject(): string | undefined;
  /** A typed line, and the subject at its first character. */
  onLine(line: string, about: string | undefined): void;
  onLeave(): void;
}

const prompt = '> ';
const pasteOn = '\u001b[?2004h';
const pasteOff = '\u001b[?2004l';

export function openTerminal({ input, output, subject, onLine, onLeave }: Deps): Terminal {
  // readline's own keypress handling would put characters of one read at the end of the line, not at the cursor.
  emitKeypressEvents(input);
  const reader = createInterface({ input, output, terminal: true, prompt, historySize: limits.typedHistoryMax });
  const history = createTypedHistory(reader, limits.typedHistoryMax);
  let visible = false;
  let expecting = true;
  let atStart = true;
  /** The prompt interrupted a line, so that the line ending of that line, if it comes next, is skipped. */
  let brokeLine = false;
  let pendingText = '';
  let pasting = false;
  /** Lines of a paste that wait for enter, and how many rows above the prompt they take. */
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
    put(pendingText);
    pendingText = '';
  }

  /** Writes complete lines above the prompt. */
  function writeAbove(): void {
    const end = pendingText.length > limits.heldLineCharsMax ? pendingText.length : pendingText.lastIndexOf('\n') + 1;
    if (end === 0) return;
    const { rows } = reader.getCursorPos();
    eraseRows(rows);
    put(pendingText.slice(0, end));
    if (!atStart) put('\n');
    pendingText = pendingText.slice(end);
    pastedRows = 0;
    // readline moves up again by the rows that it believes to be below the first.
    output.write('\n'.repeat(rows));
    reader.prompt(true);
  }

  function rowsOf(line: string): number {
    return Math.floor(columnsOf(prompt + line) / Math.max(1, output.columns)) + 1;
  }

  /** Submits a line, and erases it: the session prints what was sent. */
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

  /** Clears the typed text and adds it to the history. */
  function clear(text: string): void {
    pasted = [];
    pastedRows = 0;
    visible = false;
    atStart = true;
    release();
    history.remember(text);
  }

  /** Ctrl-C clears a half-typed line; on an empty line it leaves. */
  function interrupt(): void {
    if (reader.line === '' && pasted.length === 0) return onLeave();
    const text = history.toText([...pasted, reader.line].join('\n'));
    reader.write(null, { ctrl: true, name: 'e' });
    reader.write(null, { ctrl: true, name: 'u' });
    eraseRows(pastedRows);
    clear(text);
    if (!expecting) show();
  }

  /** Inserts a paste; the text right of the cursor comes after its last line. */
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
  // After ctrl-Z (SIGCONT) readline is paused until the next prompt.
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
      history.noteRecall();
      if (expecting && !isTyping()) hide();
    },
  });
  output.write(pasteOn);

  return {
    write(text) {
      if (visible) {
        pendingText += text;
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

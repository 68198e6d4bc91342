import { writeSync } from 'node:fs';
import { restoreSequence } from '../../view/terminal/restore-sequence.js';
import { createTerminalInput, type TerminalInput, type TerminalInputReader } from '../kit/terminal-input.js';
import { enterSequence, restoreTitle, saveTitle } from './terminal-modes.js';

export interface Terminal {
  columns(): number;
  rows(): number;
  write(text: string): void;
  /** Gives the terminal back to the shell until `resume`: for an external editor, or Ctrl-Z. */
  suspend(): void;
  isSuspended(): boolean;
  /** Takes the terminal, also when it was not given back: another program may have changed it while this one was stopped. */
  resume(): void;
  /** Restores the terminal, once. */
  close(): void;
}

export interface TerminalEvents {
  onInput(input: TerminalInput): void;
  onResize(): void;
  /** The terminal is gone: the other end of the line was closed. */
  onGone(): void;
}

interface Streams {
  stdin: typeof process.stdin;
  stdout: typeof process.stdout;
}

const fallback = { columns: 80, rows: 24 } as const;

/** Takes over the terminal: raw mode and the alternate screen. Whatever ends the process gives it back as it was. */
export function openTerminal({ stdin, stdout }: Streams, { onInput, onResize, onGone }: TerminalEvents): Terminal {
  let reader: TerminalInputReader | undefined;
  let isOurs = false;

  /** Synchronous for terminals, so that a slow one slows its frames down and buffers nothing. */
  function put(text: string): void {
    if (isOurs) stdout.write(text);
  }

  /** The last words of the process, whatever ends it. */
  function putLast(text: string): void {
    try {
      writeSync(stdout.fd, text);
    } catch (error) {
      const { code = '' } = error as NodeJS.ErrnoException;
      // Nobody is left to read it, or reads it at the moment.
      if (!['EIO', 'EPIPE', 'EAGAIN', 'EBADF', 'ENXIO'].includes(code)) throw error;
    }
  }

  function onData(bytes: Buffer): void {
    reader?.push(bytes);
  }

  function take(): void {
    isOurs = true;
    reader = createTerminalInput(onInput);
    stdin.setRawMode(true);
    stdin.on('data', onData);
    stdin.resume();
    put(saveTitle + enterSequence);
  }

  function restore(): void {
    if (!isOurs) return;
    isOurs = false;
    putLast(restoreSequence + restoreTitle);
    reader?.close();
    reader = undefined;
    stdin.off('data', onData);
    stdin.pause();
    if (!stdin.destroyed) stdin.setRawMode(false);
  }

  stdin.on('end', onGone);
  stdin.on('error', onGone);
  stdout.on('error', onGone);
  stdout.on('resize', onResize);
  process.on('exit', restore);
  // What is told of an error that nobody catches is told on the screen of the shell.
  process.on('uncaughtExceptionMonitor', restore);
  take();
  return {
    columns: () => stdout.columns || fallback.columns,
    rows: () => stdout.rows || fallback.rows,
    write: put,
    suspend: restore,
    isSuspended: () => !isOurs,
    resume() {
      restore();
      take();
    },
    close() {
      restore();
      process.off('exit', restore);
      process.off('uncaughtExceptionMonitor', restore);
      stdout.off('resize', onResize);
      stdin.off('end', onGone);
      stdin.off('error', onGone);
      stdout.off('error', onGone);
    },
  };
}

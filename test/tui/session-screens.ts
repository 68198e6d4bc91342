import { setTimeout as delay } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import type { CommandInput } from '../../src/protocol/commands/commands.js';
import type { TestDaemon } from '../support/daemon.js';
import { openPty, type PtyScreen, type PtySetup } from './pty-screen.js';

/** What keys send. */
export const keys = {
  enter: '\r',
  tab: '\t',
  escape: '\x1b',
  up: '\x1b[A',
  down: '\x1b[B',
  right: '\x1b[C',
  left: '\x1b[D',
  shiftUp: '\x1b[1;2A',
  shiftTab: '\x1b[Z',
  pageUp: '\x1b[5~',
  pageDown: '\x1b[6~',
  delete: '\x1b[3~',
  altA: '\x1ba',
  altN: '\x1bn',
  ctrl: (letter: string): string => String.fromCharCode(letter.toUpperCase().charCodeAt(0) - 64),
} as const;

/** How a terminal sends a paste. */
export function pasted(text: string): string {
  return `\x1b[200~${text}\x1b[201~`;
}

/** Mouse actions at a cell, counted from 0. */
export const mouse = {
  press: (row: number, column: number): string => `\x1b[<0;${column + 1};${row + 1}M`,
  drag: (row: number, column: number): string => `\x1b[<32;${column + 1};${row + 1}M`,
  release: (row: number, column: number): string => `\x1b[<0;${column + 1};${row + 1}m`,
  wheelUp: '\x1b[<64;10;5M',
  wheelDown: '\x1b[<65;10;5M',
} as const;

export async function newSession(daemon: TestDaemon, fields: CommandInput<'new_session'> = {}): Promise<string> {
  const berth = await daemon.connect();
  const made = await berth.call('new_session', { cwd: daemon.workdir, ...fields });
  berth.close();
  if (!made.ok) throw new Error(made.error.message);
  return made.payload.session_id;
}

export function attach({ workdir: cwd, env }: TestDaemon, session: string, more: Partial<PtySetup> = {}): PtyScreen {
  return openPty({ args: ['attach', session], cwd, ...more, env: { ...env, ...more.env } });
}

/** A screen that is ready to be typed at. */
export async function openScreen(daemon: TestDaemon, session: string, more: Partial<PtySetup> = {}): Promise<PtyScreen> {
  const screen = attach(daemon, session, more);
  await screen.until(/^[❯>·] ?/m, 'an editor');
  return screen;
}

export const idleHint = 'ask for something';
export const runningHint = 'steer the run';

/** The rows between the header and the line above the editor, without notices, and without the marks that only the sender of a text sees. */
export function transcriptOf(rows: readonly string[]): string[] {
  const end = rows.findIndex((row) => row.startsWith('──'));
  return rows
    .slice(1, end)
    .filter((row) => !row.startsWith('· '))
    .map((row) => row.replace(/ +✓✓?$/, ''));
}

/** The text in the editor, without its prompt. */
export function editorOf(rows: readonly string[]): string {
  const from = rows.findIndex((row) => row.startsWith('──'));
  return rows
    .slice(from + 1, -1)
    .map((row) => row.slice(2))
    .join('\n');
}

/** Notices take so many rows of the transcript at most, at its top. */
const noticeRowsMax = 4;

/** Waits until both show the same transcript, row for row. */
export async function untilSame(screen: PtyScreen, other: PtyScreen): Promise<void> {
  await screen.until(
    () => {
      const [mine, theirs] = [shownOf(screen), shownOf(other)];
      const common = Math.min(mine.length, theirs.length);
      return (
        Math.abs(mine.length - theirs.length) <= noticeRowsMax &&
        common > 0 &&
        isDeepStrictEqual(mine.slice(-common), theirs.slice(-common))
      );
    },
    'the transcript of the other screen',
    [other],
  );
}

function shownOf(screen: PtyScreen): string[] {
  const rows = transcriptOf(screen.rows());
  return rows.slice(0, rows.findLastIndex((row) => row !== '') + 1);
}

/** For what is about the pause itself: somebody who reads, a link that is slow. */
export async function pauseFor(ms: number): Promise<void> {
  await delay(ms);
}

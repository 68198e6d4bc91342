import type { Berth } from '../../client/connect.js';
import { printableJson } from '../../view/printable.js';
import { exit, type ExitCode } from '../exit.js';
import { isColoured, outputColumns, writeOut } from '../terminal/standard-streams.js';
import { createStyle } from '../terminal/style.js';
import { followSessions } from './session-changes.js';
import { readSessions, type ListedSessions, type SessionFilter } from './session-rows.js';
import { openSessionScreen, screenLines } from './session-screen.js';

const leaveSignals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
const keys = { leave: ['\u0003', '\u0004', 'q', 'Q'], suspend: '\u001a' } as const;

/** Prints each session that is new, has changed or is gone as a line of JSON, until it is interrupted. */
export async function watchAsJson(berth: Berth, filter: SessionFilter, notice: (line: string) => void): Promise<ExitCode> {
  const leaving = untilLeft();
  let known = new Map<string, string>();
  await followSessions({
    berth,
    signal: leaving.signal,
    async onChange() {
      const { rows, asking } = await readSessions(berth, filter);
      const found = new Map(rows.map((row) => [row.session_id, printableJson({ ...row, asks: asking.has(row.session_id) })]));
      // Oldest change first, so that lines are in the order of time.
      for (const [id, line] of [...found].reverse()) {
        if (line === known.get(id)) continue;
        writeOut(`{"change":"${known.has(id) ? 'changed' : 'added'}",${line.slice(1)}\n`);
      }
      for (const id of known.keys()) if (!found.has(id)) writeOut(`${printableJson({ change: 'removed', session_id: id })}\n`);
      known = found;
    },
    onLost: () => notice('lost connection…'),
    onBack: () => notice('back'),
  });
  return exit.ok;
}

/** Keeps the list on the screen up to date until the person leaves. */
export async function watchOnScreen(berth: Berth, filter: SessionFilter): Promise<ExitCode> {
  const { stdin, stdout } = process;
  const style = createStyle(isColoured());
  const leaving = untilLeft();
  const screen = openSessionScreen(writeOut);
  let listed: ListedSessions | undefined;
  let isLost = false;

  function draw(): void {
    if (listed) screen.draw(screenLines(listed, { columns: outputColumns(), rows: stdout.rows }, style, Date.now(), isLost));
  }

  function setLost(lost: boolean): void {
    isLost = lost;
    draw();
  }

  function restore(): void {
    screen.close();
    if (stdin.isTTY) stdin.setRawMode(false);
  }

  function onKeys(typed: Buffer): void {
    const text = typed.toString();
    if (keys.leave.some((key) => text.includes(key))) leaving.abort();
    else if (text.includes(keys.suspend)) {
      screen.suspend();
      stdin.setRawMode(false);
      process.once('SIGCONT', () => {
        stdin.setRawMode(true);
        screen.resume();
      });
      process.kill(process.pid, 'SIGTSTP');
    }
  }

  process.once('exit', restore);
  // In the raw mode nothing that is typed is echoed into the list.
  stdin.setRawMode(true).on('data', onKeys);
  stdout.on('resize', draw);
  try {
    await followSessions({
      berth,
      signal: leaving.signal,
      async onChange() {
        listed = await readSessions(berth, filter);
        draw();
      },
      onLost: () => setLost(true),
      onBack: () => setLost(false),
    });
    return exit.ok;
  } finally {
    restore();
    stdin.destroy();
  }
}

function untilLeft(): AbortController {
  const leaving = new AbortController();
  for (const signal of leaveSignals) process.once(signal, () => leaving.abort());
  return leaving;
}

import { formatClock } from '../../view/durations.js';
import { activityMarks, activityOf } from '../../view/session-list.js';
import { clipColumns } from '../terminal/columns.js';
import type { Style } from '../terminal/style.js';
import type { ListedSessions } from './session-rows.js';
import { toSessionTable } from './session-table.js';

const escape = '\u001b';
const enter = `${escape}[?1049h${escape}[?25l`;
const restore = `${escape}[?25h${escape}[?1049l`;
const endFrame = `${escape}[J${escape}[?2026l`;

interface Size {
  columns: number;
  rows: number;
}

/** The list on a screen of its own. No line is longer than the screen, and there are no more than fit. */
export function screenLines({ rows, asking, hasMore }: ListedSessions, size: Size, style: Style, nowMs: number, isLost: boolean): string[] {
  const activities = rows.map((row) => activityOf(row, asking.has(row.session_id)));
  const count = (wanted: readonly string[]): number => activities.filter((activity) => wanted.includes(activity)).length;
  const counts: [number, string][] = [
    [count(['running', 'stopping']), 'running'],
    [count(['asks']), 'asking you'],
    [count(['failed', 'interrupted']), 'failed'],
  ];
  const summary = [
    `${rows.length}${hasMore ? ' newest' : ''} ${rows.length === 1 ? 'session' : 'sessions'}`,
    ...counts.flatMap(([number, what]) => (number === 0 ? [] : [`${number} ${what}`])),
    ...(isLost ? ['lost connection…'] : []),
  ].join(', ');
  const time = { head: 'CHANGED', of: (updatedMs: number) => formatClock(updatedMs, nowMs) };
  const [head = '', ...table] = rows.length === 0 ? [] : toSessionTable(rows, { asking, columns: size.columns - 2, time });
  const fitting = table.slice(0, Math.max(0, size.rows - 4));
  const lines = fitting.map((line, at) => {
    const activity = activities[at] ?? 'idle';
    const text = clipColumns(`${activityMarks[activity].padEnd(2)}${line}`, size.columns);
    if (activity === 'asks') return style.bold(text);
    if (activity === 'failed' || activity === 'interrupted') return style.red(text);
    return activity === 'running' || activity === 'stopping' ? style.green(text) : text;
  });
  const below = table.length > fitting.length || hasMore ? '… and more; ctrl-C leaves' : 'ctrl-C leaves';
  const clipped = (line: string): string => clipColumns(line, size.columns);
  return [
    style.bold(clipped(summary)),
    ...(rows.length === 0 ? [] : [style.dim(clipped(`  ${head}`))]),
    ...lines,
    style.dim(clipped(below)),
  ].slice(0, size.rows);
}

/** Draws lines on the alternate screen of a terminal, and only when they have changed. */
export interface SessionScreen {
  draw(lines: string[]): void;
  /** Gives the terminal to the shell for a while. */
  suspend(): void;
  /** Draws again. */
  resume(): void;
  /** Leaves the alternate screen. */
  close(): void;
}

export function openSessionScreen(write: (text: string) => void): SessionScreen {
  let drawn: string | undefined;
  let isOpen = true;
  write(enter);
  return {
    draw(lines) {
      const frame = `${escape}[?2026h${escape}[H${lines.map((line) => `${line}${escape}[K`).join('\r\n')}${endFrame}`;
      if (frame === drawn || !isOpen) return;
      drawn = frame;
      write(frame);
    },
    suspend: () => write(restore),
    resume: () => write(`${enter}${drawn ?? ''}`),
    close() {
      if (isOpen) write(restore);
      isOpen = false;
    },
  };
}

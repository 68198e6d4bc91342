import type { SessionListRow } from '../../protocol/views.js';
import { printableLine } from '../../view/printable.js';
import { describeActivity, sessionTitle } from '../../view/session-list.js';
import { shortIds } from '../../view/short-ids.js';
import { shortenHome } from '../home-path.js';
import { alignColumns, clipColumns, columnsOf } from '../terminal/columns.js';

const layout = {
  titleColumnsMax: 60,
  titleColumnsMin: 12,
  /** The column with the newest prompt is shown only if it has this width. */
  promptColumnsMin: 16,
  promptColumnsMax: 40,
} as const;

interface TableOptions {
  asking: ReadonlySet<string>;
  /** The width of the lines. */
  columns: number;
  /** The column that says when a session has changed. */
  time: { head: string; of(updatedMs: number): string };
  /** The machine of a session, for a column of its own. */
  hostOf?: ((row: SessionListRow) => string) | undefined;
}

/** The lines of a table of sessions, the head first. */
export function toSessionTable(rows: SessionListRow[], { asking, columns, time, hostOf }: TableOptions): string[] {
  const ids = shortIds(rows.map((row) => row.session_id));
  const before = rows.map((row) => [
    ...(hostOf ? [printableLine(hostOf(row))] : []),
    ids.get(row.session_id) ?? '',
    describeActivity(row, asking.has(row.session_id)),
    time.of(Date.parse(row.updated_at)),
    String(row.message_count),
  ]);
  const cwds = rows.map((row) => printableLine(shortenHome(row.cwd)));
  const [head = '', ...heads] = alignColumns([
    [...(hostOf ? ['HOST'] : []), 'ID', 'STATE', time.head, 'MSGS', ''],
    ...before.map((cells) => [...cells, '']),
  ]);
  const room = columns - head.length - 2 - Math.max(...cwds.map(columnsOf));
  const titleMax = Math.max(layout.titleColumnsMin, Math.min(layout.titleColumnsMax, room));
  const titles = rows.map((row) => clipColumns(printableLine(sessionTitle(row)), titleMax));
  const named = alignColumns([['TITLE', 'DIRECTORY', ''], ...titles.map((title, at) => [title, cwds[at] ?? '', ''])]);
  const lines = [head, ...heads].map((line, at) => line + (named[at] ?? ''));
  const left = Math.min(layout.promptColumnsMax, columns - Math.max(...lines.map(columnsOf)));
  if (left < layout.promptColumnsMin) return lines.map((line) => line.trimEnd());
  const prompts = rows.map((row) => (row.last_user_message === sessionTitle(row) ? '' : row.last_user_message));
  return lines.map((line, at) => (line + (at === 0 ? 'LAST PROMPT' : clipColumns(printableLine(prompts[at - 1] ?? ''), left))).trimEnd());
}

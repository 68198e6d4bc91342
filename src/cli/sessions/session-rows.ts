import type { Berth } from '../../client/connect.js';
import { listSessions } from '../../client/resolve.js';
import { limits } from '../../protocol/limits.js';
import type { SessionListRow } from '../../protocol/views.js';

/** Which sessions are listed. */
export interface SessionFilter {
  /** Only those of this directory. */
  cwd?: string;
  /** Archived ones: `too`, or `only` those. */
  archived?: 'too' | 'only' | undefined;
  rowsMax: number;
}

export interface ListedSessions {
  /** Newest first. */
  rows: SessionListRow[];
  /** Ids of sessions with an open request. */
  asking: ReadonlySet<string>;
  hasMore: boolean;
}

export async function readSessions(berth: Berth, { cwd, archived, rowsMax }: SessionFilter): Promise<ListedSessions> {
  const fits = { ...(cwd === undefined ? {} : { cwd }), ...(rowsMax < limits.pageRowsMax ? { limit: rowsMax + 1 } : {}) };
  const [open, shut, asked] = await Promise.all([
    archived === 'only' ? [] : listSessions(berth, fits),
    archived === undefined ? [] : listSessions(berth, { ...fits, archived: true }),
    berth.call('list_ui_requests'),
  ]);
  const found = [...open, ...shut].sort((a, b) => (a.updated_at < b.updated_at ? 1 : a.updated_at > b.updated_at ? -1 : 0));
  const asking = new Set(asked.ok ? asked.payload.requests.map((request) => request.session_id) : []);
  return { rows: found.slice(0, rowsMax), asking, hasMore: found.length > rowsMax };
}

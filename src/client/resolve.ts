import type { SessionListRow } from '../protocol/views.js';
import type { Berth } from './connect.js';

/** A session name that matches no session, or several. */
export class SessionUnclear extends Error {
  override name = 'SessionUnclear';
}

/** The newest session of the first directory that has one. */
export async function newestSession(berth: Berth, cwds: readonly string[]): Promise<SessionListRow | undefined> {
  for (const cwd of cwds) {
    const [newest] = await listSessions(berth, { cwd, limit: 1 });
    if (newest) return newest;
  }
  return undefined;
}

/**
 * Resolves the name of a session: `.` is the newest of `cwd`, anything else a unique prefix of an id (with or without
 * `ses_`), or a title. Archived sessions are found too.
 */
export async function resolveSession(berth: Berth, name: string, cwd: string): Promise<string> {
  if (name === '.') {
    const newest = await newestSession(berth, [cwd]);
    if (!newest) throw new SessionUnclear(`there is no session of ${cwd} yet; make one with berth new`);
    return newest.session_id;
  }
  const all = [...(await listSessions(berth, { query: name })), ...(await listSessions(berth, { query: name, archived: true }))];
  const byId = all.filter(({ session_id: id }) => id.startsWith(name) || id.startsWith(`ses_${name}`));
  const found = all.filter(({ session_id: id, title }) => id === name || title === name);
  const matches = found.length > 0 ? found : byId;
  if (matches.length === 1) return matches[0]?.session_id ?? '';
  if (matches.length === 0) throw new SessionUnclear(`there is no session ${name}; see berth ls`);
  const some = matches.slice(0, 5).map(({ session_id, title }) => `${session_id}${title === '' ? '' : ` (${title})`}`);
  throw new SessionUnclear(`${name} could be ${matches.length} sessions: ${some.join(', ')}; name one by its id`);
}

interface ListFilter {
  cwd?: string;
  query?: string;
  archived?: boolean;
  limit?: number;
}

/** All sessions that match a filter, read page by page. */
export async function listSessions(berth: Berth, filter: ListFilter): Promise<SessionListRow[]> {
  const rows: SessionListRow[] = [];
  let cursor: string | undefined;
  do {
    const reply = await berth.call('list_sessions', { ...filter, ...(cursor === undefined ? {} : { cursor }) });
    if (!reply.ok) throw new SessionUnclear(reply.error.message);
    rows.push(...reply.payload.sessions);
    cursor = reply.payload.cursor ?? undefined;
  } while (cursor !== undefined && (filter.limit === undefined || rows.length < filter.limit));
  return rows;
}

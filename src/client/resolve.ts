import { limits } from '../protocol/limits.js';
import type { SessionListRow } from '../protocol/views.js';
import { clipLine } from '../view/clip-text.js';
import { printableLine } from '../view/printable.js';
import { sessionTitle } from '../view/session-list.js';
import type { Berth } from './connect.js';

/** A session name that matches no session, or several. */
export class SessionUnclear extends Error {
  override name = 'SessionUnclear';
}

/** The newest session of the first directory that has one. One-off sessions, which nobody has gone on with, do not count. */
export async function newestSession(berth: Berth, cwds: readonly string[]): Promise<SessionListRow | undefined> {
  for (const cwd of cwds) {
    const [newest] = await listSessions(berth, { cwd, one_off: false, limit: 1 });
    if (newest) return newest;
  }
  return undefined;
}

/** Of a candidate for an unclear name. */
const layout = { candidatesMax: 5, candidateCharsMax: 60 } as const;

/**
 * Resolves the name of a session: `.` is the newest of `cwd`, anything else a unique prefix of an id (with or without
 * `ses_`), a title, or the beginning of what lists show as one. Archived sessions are found too.
 */
export async function resolveSession(berth: Berth, name: string, cwd: string): Promise<string> {
  if (name === '.') {
    const newest = await newestSession(berth, [cwd]);
    if (!newest) throw new SessionUnclear(`there is no session of ${cwd} yet; make one with berth new`);
    return newest.session_id;
  }
  const named = await findNamed(berth, name);
  const matches = named.length > 0 ? named : await findShown(berth, name);
  if (matches.length === 1) return matches[0]?.session_id ?? '';
  if (matches.length === 0) throw new SessionUnclear(`there is no session ${clipLine(name, layout.candidateCharsMax)}; see berth ls`);
  const some = matches.slice(0, layout.candidatesMax).map(describeCandidate);
  const more = matches.length > some.length ? ' …' : '';
  throw new SessionUnclear(`${name} could be ${matches.length} sessions: ${some.join(', ')}${more}; name one by its id`);
}

/** Whether a text is the name of exactly one session: its id, the beginning of that, or its title. What may as well be a message is no name. */
export async function isSessionName(berth: Berth, name: string): Promise<boolean> {
  return (await findNamed(berth, name)).length === 1;
}

/** The sessions with this id or title, or else those whose ids begin so. */
async function findNamed(berth: Berth, name: string): Promise<SessionListRow[]> {
  if (name.length > limits.searchQueryCharsMax) return [];
  const all = await listEverySession(berth, name);
  const found = all.filter(({ session_id: id, title }) => id === name || title === name);
  return found.length > 0 ? found : all.filter(({ session_id: id }) => id.startsWith(name) || id.startsWith(`ses_${name}`));
}

/** The sessions that lists call so, or else those whose names there begin so. A list may have cut a name, with an ellipsis at its end. */
async function findShown(berth: Berth, name: string): Promise<SessionListRow[]> {
  const typed = printableLine(name)
    .replace(/\u2026$/, '')
    .trimEnd();
  if (typed.length < limits.sessionPrefixCharsMin) return [];
  const all = await listEverySession(berth);
  const found = all.filter((row) => shownName(row) === typed);
  return found.length > 0 ? found : all.filter((row) => shownName(row).startsWith(typed));
}

/** Archived sessions come last. */
async function listEverySession(berth: Berth, query?: string): Promise<SessionListRow[]> {
  const fits = query === undefined ? {} : { query };
  return [...(await listSessions(berth, fits)), ...(await listSessions(berth, { ...fits, archived: true }))];
}

function shownName(row: SessionListRow): string {
  return printableLine(sessionTitle(row));
}

function describeCandidate(row: SessionListRow): string {
  const name = shownName(row);
  return `${row.session_id}${name === '' ? '' : ` (${clipLine(name, layout.candidateCharsMax)})`}`;
}

interface ListFilter {
  cwd?: string;
  query?: string;
  archived?: boolean;
  one_off?: boolean;
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

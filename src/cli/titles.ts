import type { Berth } from '../client/connect.js';
import { listSessions } from '../client/resolve.js';
import { limits } from '../protocol/limits.js';
import { shortId } from '../view/short-ids.js';
import { Refused, WrongUsage } from './exit.js';

/** Validates a title: `.` and texts like an id are refused, because elsewhere they name a session. */
export function readTitle(typed: string): string {
  const title = typed.trim();
  if (title === '.') throw new WrongUsage('. means the newest session of this directory; choose another title');
  if (title.startsWith('ses_')) throw new WrongUsage(`${title} looks like the id of a session; choose another title`);
  if (typed.length > limits.titleCharsMax) throw new WrongUsage(`a title has at most ${limits.titleCharsMax} characters`);
  return typed;
}

/** Refuses a title that is a prefix of another session's id, which would make the name ambiguous. */
export async function refuseIdAsTitle(berth: Berth, typed: string, own?: string): Promise<void> {
  const title = typed.trim();
  if (title.length < limits.sessionPrefixCharsMin) return;
  const all = [...(await listSessions(berth, { query: title })), ...(await listSessions(berth, { query: title, archived: true }))];
  const other = all.find(({ session_id: id }) => id !== own && id.startsWith(`ses_${title}`));
  if (other) throw new Refused(`${title} is the beginning of the id of session ${shortId(other.session_id)}; choose another title`);
}

import type { Berth } from '../client/connect.js';
import { newestSession, SessionUnclear } from '../client/resolve.js';
import { printableLine } from '../view/printable.js';
import { shortId } from '../view/short-ids.js';
import { currentDirectory, enclosingDirectories } from './directory.js';
import { shortenHome } from './home-path.js';
import { orRefused } from './refusals.js';

/** The newest session of a directory, or of the nearest ancestor that has any, which is then noticed. */
async function findNewest(berth: Berth, cwd: string, notice: (line: string) => void): Promise<string | undefined> {
  const found = await newestSession(berth, enclosingDirectories(cwd));
  if (found && found.cwd !== cwd) {
    const named = found.title === '' ? shortId(found.session_id) : `${printableLine(found.title)} (${shortId(found.session_id)})`;
    notice(`this directory has no session; using ${named} of ${printableLine(shortenHome(found.cwd))} (berth new makes one here)`);
  }
  return found?.session_id;
}

/** Resolves `.` to a session. */
export async function newestHere(berth: Berth, notice: (line: string) => void): Promise<string> {
  const cwd = currentDirectory();
  const found = await findNewest(berth, cwd, notice);
  if (found === undefined) throw new SessionUnclear(`there is no session of ${cwd} yet; make one with berth new`);
  return found;
}

/** Resolves `.` to a session, and creates one when there is none. */
export async function newestOrNew(berth: Berth, notice: (line: string) => void): Promise<string> {
  const cwd = currentDirectory();
  return (await findNewest(berth, cwd, notice)) ?? orRefused(await berth.call('new_session', { cwd })).session_id;
}

import type { Berth } from '../client/connect.js';
import { listSessions, newestSession, SessionUnclear } from '../client/resolve.js';
import { printableLine } from '../view/printable.js';
import { shortId } from '../view/short-ids.js';
import { currentDirectory, enclosingDirectories, newSessionDirectory } from './directory.js';
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

/** Resolves `.` to a session; on another machine to the newest of all. One of `berth run` does not count until somebody has gone on with it. */
export async function newestHere(berth: Berth, notice: (line: string) => void): Promise<string> {
  const found = await findNewestOf(berth, notice);
  if (found !== undefined) return found;
  const { host } = berth.transport;
  const where = host === undefined ? `of ${printableLine(currentDirectory())}` : `on ${host}`;
  const [oneOff] = await listSessions(berth, { ...(host === undefined ? { cwd: currentDirectory() } : {}), one_off: true, limit: 1 });
  throw new SessionUnclear(
    oneOff
      ? `there is no session ${where} but those of berth run, which . leaves aside; name one (the newest is ${shortId(oneOff.session_id)}), or make one with berth new`
      : `there is no session ${where} yet; make one with berth new`,
  );
}

/** Resolves `.` to a session, and creates one when there is none. */
export async function newestOrNew(berth: Berth, notice: (line: string) => void): Promise<string> {
  const found = await findNewestOf(berth, notice);
  return found ?? orRefused(await berth.call('new_session', { cwd: newSessionDirectory(berth) })).session_id;
}

/** Where a session lives means something only on the machine of this shell. */
async function findNewestOf(berth: Berth, notice: (line: string) => void): Promise<string | undefined> {
  if (berth.transport.host === undefined) return findNewest(berth, currentDirectory(), notice);
  const [newest] = await listSessions(berth, { one_off: false, limit: 1 });
  return newest?.session_id;
}

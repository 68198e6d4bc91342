import { connect, type Berth } from '../../../client/connect.js';
import { listSessions } from '../../../client/resolve.js';
import { version } from '../../../client/version.js';
import { limits } from '../../../protocol/limits.js';
import { modes } from '../../../view/modes.js';
import { printableLine } from '../../../view/printable.js';
import { toCard } from '../../../view/questions.js';
import { describeActivity, sessionTitle } from '../../../view/session-list.js';
import { shortIds } from '../../../view/short-ids.js';
import { exit } from '../../exit.js';
import { askedKinds, type AskedKind } from '../../help/completion-table.js';
import { orRefused } from '../../refusals.js';
import type { Subcommand } from '../../subcommand.js';
import { writeOut } from '../../terminal/standard-streams.js';

interface Args {
  words: string[];
}

type Candidate = [word: string, text: string];

const lists: Record<AskedKind, (typed: string, connected: () => Promise<Berth>) => Promise<Candidate[]>> = {
  mode: () => Promise.resolve(Object.entries(modes)),
  async session(typed, connected) {
    const berth = await connected();
    const [rows, asked] = await Promise.all([listSessions(berth, { limit: limits.listedSessionsDefault }), berth.call('list_ui_requests')]);
    const asking = new Set(orRefused(asked).requests.map(({ session_id }) => session_id));
    const ids = shortIds(rows.map(({ session_id }) => session_id));
    const byId = rows.map((row): Candidate => {
      const state = describeActivity(row, asking.has(row.session_id));
      return [ids.get(row.session_id) ?? '', [sessionTitle(row), state].filter((part) => part !== '').join(', ')];
    });
    // By its title only what begins with it: a list of both would have every session twice.
    const byTitle = rows.map((row): Candidate => [row.title, ids.get(row.session_id) ?? '']);
    return typed === '' ? byId : [...byId, ...byTitle.filter(([title]) => title !== '')];
  },
  async model(_typed, connected) {
    const { models } = orRefused(await (await connected()).call('list_models'));
    return models.map(({ model, title }): Candidate => [model, title]);
  },
  async request(_typed, connected) {
    const { requests } = orRefused(await (await connected()).call('list_ui_requests'));
    const ids = shortIds(requests.map(({ request_id }) => request_id));
    return requests.map((request): Candidate => [ids.get(request.request_id) ?? '', toCard(request).title]);
  },
};

/** Lists words for shell completions, each with a tab and what it is. Starts no daemon, waits only briefly, and prints no errors. */
export const complete: Subcommand = {
  usage: '__complete',
  hosts: 'ignored',
  summary: 'List words for completions.',
  async run({ words: [wanted, typed = ''] }: Args, { paths, host }) {
    setTimeout(() => process.exit(exit.ok), limits.completionMs);
    const kind = askedKinds.find((name) => name === wanted);
    if (kind === undefined) return exit.ok;
    // An ssh at every tab would be worse than no words.
    if (host !== undefined && kind !== 'mode') return exit.ok;
    const client = { name: 'shell completion', kind: 'cli', version };
    try {
      for (const [word, text] of await lists[kind](typed, () => connect({ paths, autostart: false, client }))) {
        if (word.startsWith(typed)) writeOut(`${printableLine(word)}\t${printableLine(text)}\n`);
      }
      return exit.ok;
    } catch {
      // Somebody is typing: a sentence in the middle of the line would be worse than no words.
      return exit.ok;
    }
  },
};

import type { Berth } from '../../../client/connect.js';
import { makeId } from '../../../protocol/ids.js';
import type { DraftView } from '../../../protocol/views.js';
import { printable, printableLine } from '../../../view/printable.js';
import { exit, Refused, WrongUsage } from '../../exit.js';
import { refuseLongText } from '../../input-text.js';
import { orRefused } from '../../refusals.js';
import type { Subcommand } from '../../subcommand.js';
import { isTerminal, writeOut } from '../../terminal/standard-streams.js';
import { hasInput, readStdin } from '../../terminal/stdin.js';

interface Args {
  session?: string;
  append?: boolean;
  clear?: boolean;
  json?: true;
}

export const draft: Subcommand = {
  usage: 'draft [session]',
  summary: 'Print what was begun to be written to a session; a text on standard input replaces it.',
  options: {
    '--append': 'put the text of standard input after it',
    '--clear': 'delete it',
    '--json': 'print the draft as JSON',
  },
  notes: [
    'It is the newest draft of all clients. One that somebody is writing on in an attached client is theirs: it can be printed, but a text on',
    'standard input becomes a draft beside it. The exit code is 1 when there is none.',
  ].join('\n'),
  examples: {
    'berth draft': 'what was begun in the newest session here',
    'git diff | berth draft --append': 'put a change after it, and go on writing in berth',
    'berth draft . < plan.md': 'begin with a file',
    'berth send . "$(berth draft)" && berth draft --clear': 'send it as it is',
  },
  async run({ session, append = false, clear = false, json }: Args, cli) {
    if (append && clear) throw new WrongUsage('--append and --clear exclude each other');
    const text = clear || !hasInput() ? '' : (await readStdin(cli.notice)).replace(/\n$/, '');
    if (append && text.trim() === '') throw new WrongUsage('there is no text on standard input to append');
    const berth = await cli.connect();
    const sessionId = await cli.resolve(berth, session);
    const newest = await readNewest(berth, sessionId);
    if (text.trim() !== '') {
      const whole = append && newest ? `${newest.text.replace(/\n$/, '')}\n${text}` : text;
      await store(berth, sessionId, newest, whole, cli.notice);
      return exit.ok;
    }
    if (!newest) throw new Refused('there is no draft', { code: 'no_draft' });
    if (clear) await remove(berth, sessionId, newest);
    else if (json) cli.printJson({ session_id: sessionId, ...newest });
    else writeOut(`${(isTerminal() ? printable(newest.text) : newest.text).replace(/\n$/, '')}\n`);
    return exit.ok;
  },
};

/** The newest draft, with all of its text. */
async function readNewest(berth: Berth, session_id: string): Promise<DraftView | undefined> {
  const { drafts } = orRefused(await berth.call('list_drafts', { session_id }));
  const newest = drafts.find(({ text }) => text !== '');
  if (!newest?.truncated) return newest;
  const [whole] = orRefused(await berth.call('list_drafts', { session_id, draft_id: newest.draft_id })).drafts;
  return whole;
}

async function store(
  berth: Berth,
  session_id: string,
  newest: DraftView | undefined,
  text: string,
  notice: (line: string) => void,
): Promise<void> {
  refuseLongText(text);
  // A client that is attached would replace the text with its own at the next key.
  const isTaken = newest?.attached === true;
  if (isTaken) notice(`${printableLine(newest.by)} is writing on the newest draft; this is a draft beside it`);
  const draft_id = newest && !isTaken ? newest.draft_id : makeId('dra', Date.now(), globalThis.crypto.getRandomValues(new Uint8Array(12)));
  orRefused(await berth.call('set_draft', { session_id, draft_id, text }));
}

async function remove(berth: Berth, session_id: string, { draft_id, attached, by }: DraftView): Promise<void> {
  if (attached) throw new Refused(`${printableLine(by)} is writing on the newest draft, and would bring it back; clear it there`);
  orRefused(await berth.call('set_draft', { session_id, draft_id, text: '' }));
}

import type { Berth } from '../client/connect.js';
import type { Message } from '../protocol/messages.js';
import { exit } from './exit.js';
import { showMessage } from './message-lines.js';
import { createPage } from './page.js';
import { orRefused } from './refusals.js';
import { isColoured, writeOut } from './standard-streams.js';
import { createStyle } from './style.js';
import { readCount, type Subcommand } from './subcommand.js';

interface Args {
  session?: string;
  limit?: string;
  json?: true;
}

export const log: Subcommand = {
  usage: 'log [session]',
  summary: 'Print the conversation, oldest first.',
  options: { '--limit <n>': 'only the newest so many messages', '--json': 'print one message a line as JSON' },
  async run({ session, limit, json }: Args, cli) {
    const messagesMax = limit === undefined ? Infinity : readCount('--limit', limit, 1);
    const berth = await cli.connect();
    const messages = await readMessages(berth, await cli.resolve(berth, session), messagesMax);
    const page = createPage(writeOut);
    const style = createStyle(isColoured());
    for (const message of messages) {
      const whole = message.truncated ? await withWholeText(berth, message) : message;
      if (json) cli.printJson(whole);
      else showMessage(page, style, whole);
    }
    if (messages.length === 0 && !json) cli.print('No messages yet.');
    return exit.ok;
  },
};

/** The newest messages, page by page, oldest first. */
async function readMessages(berth: Berth, session_id: string, messagesMax: number): Promise<Message[]> {
  const pages: Message[][] = [];
  let count = 0;
  let before: string | undefined;
  for (;;) {
    const page = orRefused(await berth.call('get_messages', { session_id, ...(before === undefined ? {} : { before }) }));
    pages.push(page.messages);
    count += page.messages.length;
    before = page.messages[0]?.id;
    if (!page.has_more || before === undefined || count >= messagesMax) break;
  }
  const all = pages.reverse().flat();
  return all.slice(Math.max(0, all.length - messagesMax));
}

/** A very long message comes cut; its text is read piece by piece. */
async function withWholeText(berth: Berth, message: Message): Promise<Message> {
  const pieces: string[] = [];
  for (let offset = 0; message.artifact_id !== undefined;) {
    const piece = orRefused(await berth.call('get_artifact', { artifact_id: message.artifact_id, offset }));
    pieces.push(piece.data);
    if (!piece.has_more) break;
    offset = piece.next_offset;
  }
  const text = pieces.join('');
  const others = message.content.filter(({ type }) => type !== 'text');
  const { truncated: _cut, artifact_id: _artifact, ...rest } = message;
  return { ...rest, text, content: [...others, { type: 'text', text }] };
}

import type { Berth } from '../../client/connect.js';
import { wholeMessage } from '../../client/export-session.js';
import type { Message } from '../../protocol/messages.js';
import { describeEnding } from '../../view/run-outcome.js';
import { shortId } from '../../view/short-ids.js';
import { adviseResume } from '../advice.js';
import { exit } from '../exit.js';
import { showMessage } from '../attach/message-lines.js';
import { createLineWriter } from '../terminal/line-writer.js';
import { orRefused } from '../refusals.js';
import { isColoured, outputColumns, writeOut } from '../terminal/standard-streams.js';
import { createStyle } from '../terminal/style.js';
import { readCount, type Subcommand } from '../subcommand.js';

interface Args {
  session?: string;
  limit?: string;
  json?: true;
}

export const log: Subcommand = {
  usage: 'log [session]',
  summary: 'Print the conversation, oldest first.',
  options: { '--limit <n>': 'only the newest so many messages', '--json': 'print one message a line as JSON' },
  examples: {
    'berth log . --limit 4': 'the newest messages',
    'berth log . --json | jq -r \'select(.role=="assistant").text\'': 'for programs',
  },
  async run({ session, limit, json }: Args, cli) {
    const messagesMax = limit === undefined ? Infinity : readCount('--limit', limit, 1);
    const berth = await cli.connect();
    const sessionId = await cli.resolve(berth, session);
    const messages = await readMessages(berth, sessionId, messagesMax);
    const endings = json ? new Map<string, string>() : await readEndings(berth, sessionId, messages);
    const page = createLineWriter(writeOut, outputColumns);
    const style = createStyle(isColoured());
    for (const [at, message] of messages.entries()) {
      const whole = await wholeMessage(async (type, payload) => orRefused(await berth.call(type, payload)), message);
      if (json) cli.printJson(whole);
      else showMessage(page, style, whole);
      const ending = message.run_id === messages[at + 1]?.run_id ? undefined : endings.get(message.run_id);
      if (ending !== undefined) page.line(style.red(ending));
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

/** Endings of the runs that did not complete, by run id. Only the newest run can be resumed. */
async function readEndings(berth: Berth, session_id: string, messages: Message[]): Promise<Map<string, string>> {
  const wanted = new Set(messages.map(({ run_id }) => run_id));
  const endings = new Map<string, string>();
  const { last_run: last, run_state } = orRefused(await berth.call('get_state', { session_id }));
  let before: string | undefined;
  while (wanted.size > 0) {
    const page = orRefused(await berth.call('list_runs', { session_id, ...(before === undefined ? {} : { before }) }));
    for (const { run_id, outcome, error } of page.runs) {
      if (!wanted.delete(run_id) || outcome === null || outcome === 'completed') continue;
      const ending = describeEnding({ outcome, error });
      const advice = adviseResume(ending, `berth resume ${shortId(session_id)}`);
      const isResumable = run_state === 'idle' && run_id === last?.run_id && last.abandoned !== true && advice !== '';
      endings.set(run_id, `[run] ${ending.text}${isResumable ? `; ${advice}` : ''}`);
    }
    before = page.runs.at(-1)?.run_id;
    if (!page.has_more || before === undefined) break;
  }
  return endings;
}

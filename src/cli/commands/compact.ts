import { printable } from '../../view/printable.js';
import { shortId } from '../../view/short-ids.js';
import { exit } from '../exit.js';
import { orRefused } from '../refusals.js';
import type { Subcommand } from '../subcommand.js';

interface Args {
  session?: string;
  instruction?: string[];
  json?: true;
}

export const compact: Subcommand = {
  usage: 'compact [session] [instruction...]',
  summary: 'Have old messages summarised, so that the context window has room again.',
  options: { '--json': 'print the answer as JSON' },
  notes:
    'The model writes the summary; the newest messages are kept whole, and nothing is deleted: berth log still has it all.\n' +
    'An instruction says what the summary should pay attention to. berth abort stops it.',
  examples: {
    'berth compact': 'the newest session here',
    'berth compact . keep what we know about the parser': 'what the summary is to hold',
  },
  async run({ session, instruction = [], json }: Args, cli) {
    const berth = await cli.connect();
    const sessionId = await cli.resolve(berth, session);
    if (!json) cli.printError(`summarising ${shortId(sessionId)}; this takes as long as an answer`);
    const wish = instruction.join(' ').trim();
    const made = orRefused(await berth.call('compact_session', { session_id: sessionId, ...(wish === '' ? {} : { instruction: wish }) }));
    if (json) cli.printJson(made);
    else {
      cli.print(printable(made.summary));
      cli.print(`\nabout ${made.tokens_before} tokens are now ${made.tokens_after}`);
    }
    return exit.ok;
  },
};

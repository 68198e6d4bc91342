import { printableLine } from '../../view/printable.js';
import { exit } from '../exit.js';
import { readThinking, thinkingLevels } from '../read-settings.js';
import { orRefused } from '../refusals.js';
import type { Subcommand } from '../subcommand.js';

interface Args {
  session?: string;
  model?: string;
  thinking?: string;
  json?: true;
}

export const model: Subcommand = {
  usage: 'model [session] [model]',
  summary: 'Say which model a session talks to, or choose another for its next turns.',
  options: {
    [`--thinking <${thinkingLevels.join('|')}>`]: 'how much it is to think',
    '--json': 'print the answer as JSON',
  },
  notes: 'One argument with a / is the model, for the newest session of this directory. berth models lists what there is.',
  examples: {
    'berth model': 'which it is',
    'berth model . anthropic/claude-sonnet-5-5': 'another from the next turn on',
    'berth model . --thinking high': 'the same, which thinks more',
  },
  async run({ session, model: named, thinking, json }: Args, cli) {
    const level = thinking === undefined ? undefined : readThinking(thinking);
    const isModel = named === undefined && session?.includes('/') === true;
    const wanted = isModel ? session : named;
    const berth = await cli.connect();
    const sessionId = await cli.resolve(berth, isModel ? undefined : session);
    if (wanted !== undefined || level !== undefined) {
      const change = { ...(wanted === undefined ? {} : { model: wanted }), ...(level === undefined ? {} : { thinking: level }) };
      orRefused(await berth.call('update_session', { session_id: sessionId, ...change }));
    }
    const state = orRefused(await berth.call('get_state', { session_id: sessionId }));
    if (json) cli.printJson({ session_id: sessionId, model: state.model, thinking: state.thinking });
    else cli.print(`${printableLine(state.model)}, thinking ${state.thinking}`);
    return exit.ok;
  },
};

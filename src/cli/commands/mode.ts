import { modeNames, modes, toMode } from '../../view/modes.js';
import { exit } from '../exit.js';
import { readMode } from '../read-settings.js';
import { orRefused } from '../refusals.js';
import type { Subcommand } from '../subcommand.js';

interface Args {
  session?: string;
  mode?: string;
  json?: true;
}

export const mode: Subcommand = {
  usage: 'mode [session] [mode]',
  summary: 'Say what a session may do without asking, or change it.',
  options: { '--json': 'print the answer as JSON' },
  notes: [
    'Modes:',
    ...modeNames.map((name) => `  ${name.padEnd(10)} ${modes[name]}`),
    'Rules count in every mode (see berth permissions); what they deny is denied, and files that run later, such as .git/hooks, are',
    'always asked about.',
  ].join('\n'),
  examples: {
    'berth mode': 'which it is',
    'berth mode auto_edit': 'for the newest session of this directory',
    'berth mode "fix the build" ask': 'for another',
  },
  async run({ session, mode: named, json }: Args, cli) {
    const isMode = named === undefined && session !== undefined && toMode(session) !== undefined;
    const wanted = isMode ? session : named;
    const chosen = wanted === undefined ? undefined : readMode(wanted);
    const berth = await cli.connect();
    const session_id = await cli.resolve(berth, isMode ? undefined : session);
    if (chosen !== undefined) orRefused(await berth.call('update_session', { session_id, approval_mode: chosen }));
    const { approval_mode } = orRefused(await berth.call('get_state', { session_id }));
    if (json) cli.printJson({ session_id, approval_mode });
    else cli.print(`${approval_mode}: ${modes[approval_mode]}`);
    return exit.ok;
  },
};

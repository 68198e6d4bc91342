import type { Berth } from '../../client/connect.js';
import type { ReplyPayload } from '../../protocol/commands/commands.js';
import type { StateView } from '../../protocol/views.js';
import { resumeActionFor } from '../../view/run-outcome.js';
import { shortId } from '../../view/short-ids.js';
import { exit, Refused, WrongUsage } from '../exit.js';
import { orRefused } from '../refusals.js';
import type { Subcommand } from '../subcommand.js';

interface Args {
  session?: string;
  retry?: true;
  continue?: true;
  abandon?: true;
  json?: true;
}

type Action = 'retry' | 'continue' | 'abandon';

export const resume: Subcommand = {
  usage: 'resume [session]',
  summary: 'Go on after a run that failed, was stopped or was interrupted.',
  options: {
    '--retry': 'again from the last message of a person (the default after a failure)',
    '--continue': 'from what there is (the default otherwise)',
    '--abandon': 'leave it, and let what is queued run',
    '--json': 'print the answer as JSON',
  },
  examples: {
    'berth resume': 'try again or go on, whichever fits',
    'berth resume . --retry': 'again from the last message',
  },
  async run({ session, json, ...flags }: Args, cli) {
    const chosen = (['retry', 'continue', 'abandon'] as const).filter((action) => flags[action]);
    if (chosen.length > 1) throw new WrongUsage('--retry, --continue and --abandon exclude each other');
    const berth = await cli.connect();
    const session_id = await cli.resolve(berth, session);
    const { last, action, done } = await resumeLastRun(berth, session_id, chosen[0]);
    if (json) cli.printJson(done);
    else if (done.run_id === '' || done.run_id === last.run_id) cli.print(`${last.run_id} is left as it is`);
    else cli.print(`${done.run_id} ${action === 'retry' ? 'tries again' : 'goes on'}; watch it with berth attach ${shortId(session_id)}`);
    return exit.ok;
  },
};

interface Resumed {
  last: NonNullable<StateView['last_run']>;
  action: Action;
  done: ReplyPayload<'resume_run'>;
}

/** Resumes the newest run of a session: by default with `retry` after a failure, else with `continue`. */
export async function resumeLastRun(berth: Berth, session_id: string, chosen?: Action): Promise<Resumed> {
  const { last_run: last } = orRefused(await berth.call('get_state', { session_id }));
  if (!last) throw new Refused('this session has had no run yet, so there is none to resume; send a message with berth send');
  const action = chosen ?? resumeActionFor(last.outcome);
  return { last, action, done: orRefused(await berth.call('resume_run', { session_id, run_id: last.run_id, action })) };
}

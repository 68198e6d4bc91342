import type { StateView } from '../../protocol/views.js';
import { modes } from '../../view/modes.js';
import { printableLine } from '../../view/printable.js';
import { describeEnding } from '../../view/run-outcome.js';
import { viewOf } from '../../view/session-view.js';
import { shortId } from '../../view/short-ids.js';
import { describeStatus } from '../../view/status-text.js';
import { usageText } from '../../view/usage-text.js';
import { adviseResume, describePause } from '../advice.js';
import { alignColumns } from '../terminal/columns.js';
import { exit } from '../exit.js';
import { shortenHome } from '../home-path.js';
import { orRefused } from '../refusals.js';
import type { Subcommand } from '../subcommand.js';

interface Args {
  session?: string;
  json?: true;
}

export const state: Subcommand = {
  usage: 'state [session]',
  summary: 'Say what a session is doing right now.',
  options: { '--json': 'print everything that is known as JSON' },
  examples: {
    'berth state': 'of the newest session here',
    'berth state . --json | jq -r .run_state': 'idle, running or aborting',
  },
  async run({ session, json }: Args, cli) {
    const berth = await cli.connect();
    const found = orRefused(await berth.call('get_state', { session_id: await cli.resolve(berth, session) }));
    if (json) cli.printJson(found);
    else for (const line of alignColumns(describeState(found))) cli.print(line);
    return exit.ok;
  },
};

function describeState(found: StateView): string[][] {
  const { steer, follow_up } = found.pending_counts;
  const waiting = [steer > 0 ? `${steer} to steer` : '', follow_up > 0 ? `${follow_up} to follow up` : ''].filter((part) => part !== '');
  const named = shortId(found.session_id);
  const rows = [
    ['session', found.session_id],
    ['title', printableLine(found.title)],
    ['directory', printableLine(shortenHome(found.cwd))],
    ['model', `${printableLine(found.model)}, thinking ${found.thinking}`],
    ['mode', found.approval_mode === 'ask' ? '' : `${found.approval_mode}: ${modes[found.approval_mode]}`],
    ['context', found.context_left_percent === null ? '' : `${found.context_left_percent}% left`],
    ['used', found.usage ? usageText(found.usage) : ''],
    ['state', describeWork(found)],
    ...Object.values(found.ui.status).map((text) => ['waits', printableLine(describeStatus(text, Date.now()))]),
    ['last run', describeLastRun(found)],
    [
      'queue',
      [...waiting, ...(found.queue.paused ? [describePause(steer + follow_up, named)] : [])].filter((part) => part !== '').join(', '),
    ],
    ['asks you', found.requests.map(({ params }) => printableLine(params.title)).join(' / ')],
    ...Object.entries(viewOf({ seq: found.seq, state: found, messages: [], has_more: false }).widgets).flatMap(([key, lines]) =>
      lines.map((line, at) => [at === 0 ? printableLine(key) : '', printableLine(line)]),
    ),
    ['attached', String(found.clients.filter(({ subscribed }) => subscribed).length)],
    ['seq', String(found.seq)],
  ];
  return rows.filter(([, value]) => value !== '');
}

function describeWork({ run_state, run_id, turn_id, compaction }: StateView): string {
  if (run_state === 'idle') return 'idle';
  const turn = turn_id === '' ? '' : `, turn ${turn_id}`;
  return `${run_state} ${run_id}${turn}${compaction ? ', old messages are being summarised' : ''}`;
}

function describeLastRun({ last_run, session_id, run_state }: StateView): string {
  if (!last_run) return '';
  const ending = describeEnding(last_run);
  const advice = adviseResume(ending, `berth resume ${shortId(session_id)}`);
  const then = advice === '' || run_state !== 'idle' ? '' : `; ${advice}`;
  return `${ending.text}${then} (${last_run.run_id})`;
}

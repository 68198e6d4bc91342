import type { Berth } from '../client/connect.js';
import { listSessions } from '../client/resolve.js';
import { shortId, shortenHome } from './brief.js';
import { alignColumns } from './columns.js';
import { currentDirectory } from './directory.js';
import { exit, Refused, type ExitCode } from './exit.js';
import { createPage } from './page.js';
import { printable } from './printable.js';
import { orRefused } from './refusals.js';
import { awaitRun } from './awaited-run.js';
import { newestOrNew } from './send.js';
import type { Subcommand, Cli } from './subcommand.js';
import { writeOut } from './standard-streams.js';
import { viewSession } from './attached-view.js';

const welcomeTitle = 'welcome';
const welcomePrompt = 'help';

/** `berth` with nothing: at a terminal it talks to the newest session of this directory, elsewhere it shows that everything works. */
export const bare: Subcommand = {
  usage: '',
  summary: '',
  async run(_args: object, cli) {
    if (!process.stdin.isTTY || !process.stdout.isTTY) return showAround(cli, await cli.connect());
    const berth = await cli.connect({ uiCapabilities: ['select', 'confirm', 'input', 'editor'] });
    return viewSession(berth, await newestOrNew(berth), {});
  },
};

async function showAround(cli: Cli, berth: Berth): Promise<ExitCode> {
  const { session_id: sessionId, run_id: runId } = await welcome(berth);
  cli.print(`> ${welcomePrompt}`);
  const page = createPage(writeOut);
  const { outcome, error } = await awaitRun(berth, sessionId, runId, {
    say: (messageId, piece) => page.flow(messageId, piece),
    tell: (line) => cli.complain(`berth: ${line}`),
  });
  page.endLine();
  if (outcome !== 'completed') throw new Refused(`the run was ${outcome}${error ? `: ${error.message}` : ''}`);
  const daemon = orRefused(await berth.call('get_daemon'));
  const places = [
    ['daemon', `pid ${daemon.pid}, ${shortenHome(daemon.socket)}`],
    ['log', shortenHome(daemon.log_file)],
    ['data', shortenHome(daemon.state_dir)],
    ['config', shortenHome(daemon.config_dir)],
  ];
  cli.print('\nThat was a session of a daemon that stays in the background:');
  for (const line of alignColumns(places)) cli.print(`  ${printable(line)}`);
  cli.print(
    `Run this in a terminal to talk to it, or: berth attach ${shortId(sessionId)}, berth send "text", berth --help. berth daemon stop ends it.`,
  );
  if (process.env.npm_lifecycle_event === 'start') cli.print('(berth is node bin/berth.js here; npm link puts it on your path.)');
  return exit.ok;
}

/** Asks the offline guide what it can do, in a session kept for that. */
async function welcome(berth: Berth): Promise<{ session_id: string; run_id: string }> {
  const cwd = currentDirectory();
  const known = (await listSessions(berth, { cwd, query: welcomeTitle })).find(
    ({ title, run_state }) => title === welcomeTitle && run_state === 'idle',
  );
  for (const session of known ? [known.session_id, undefined] : [undefined]) {
    const session_id =
      session ?? orRefused(await berth.call('new_session', { cwd, title: welcomeTitle, model: 'offline/guide' })).session_id;
    const reply = await berth.call('prompt', { session_id, text: welcomePrompt, wait: false });
    if (reply.ok) return { session_id, run_id: reply.payload.run_id };
    // Somebody else is being shown around in it right now.
    if (reply.error.message !== 'run_in_progress') throw new Refused(reply.error.message);
  }
  throw new Refused('a new session is busy');
}

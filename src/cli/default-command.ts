import type { Berth } from '../client/connect.js';
import { listSessions } from '../client/resolve.js';
import { printable } from '../view/printable.js';
import { shortId } from '../view/short-ids.js';
import { describeAsked } from './advice.js';
import { alignColumns } from './terminal/columns.js';
import { newSessionDirectory } from './directory.js';
import { exit, Refused, type ExitCode } from './exit.js';
import { shortenHome } from './home-path.js';
import { createLineWriter } from './terminal/line-writer.js';
import { orRefused } from './refusals.js';
import { awaitRun } from './awaited-run.js';
import { newestOrNew } from './newest.js';
import { sendAndWait } from './commands/send.js';
import type { Subcommand, Cli } from './subcommand.js';
import { outputColumns, writeOut } from './terminal/standard-streams.js';
import { hasInput, readStdin } from './terminal/stdin.js';
import { viewSession } from './attach/attached-view.js';
import { canOpenTui, openTuiSession } from './attach/open-tui.js';

const welcomeTitle = 'welcome';
const welcomePrompt = 'help';

/**
 * `berth` without arguments: at a terminal it opens the newest session of this directory, a text on standard input is sent to that
 * session, and without either it runs a demonstration.
 */
export const defaultCommand: Subcommand = {
  usage: '',
  summary: '',
  async run(_args: object, cli) {
    if (process.stdin.isTTY && process.stdout.isTTY) {
      const berth = await cli.connect({ uiCapabilities: ['select', 'confirm', 'input', 'editor'] });
      const notices: string[] = [];
      const sessionId = await newestOrNew(berth, (line) => notices.push(line));
      if (canOpenTui()) return openTuiSession(berth, sessionId, { notices });
      for (const line of notices) cli.notice(line);
      return viewSession(berth, sessionId, {});
    }
    const text = await readPrompt(cli);
    const berth = await cli.connect();
    return text.trim() === '' ? showWelcome(cli, berth) : sendAndWait(cli, berth, await newestOrNew(berth, cli.notice), text);
  },
};

/** The text on standard input. Ignored under `npm start`, whose parent may leave it open for ever. */
async function readPrompt(cli: Cli): Promise<string> {
  if (isNpmStart() || !hasInput()) return '';
  return readStdin(cli.notice, 'reading a prompt from standard input until it ends');
}

function isNpmStart(): boolean {
  return process.env.npm_lifecycle_event === 'start';
}

async function showWelcome(cli: Cli, berth: Berth): Promise<ExitCode> {
  const { session_id: sessionId, run_id: runId } = await welcome(berth);
  cli.print(`> ${welcomePrompt}`);
  const page = createLineWriter(writeOut, outputColumns);
  const { outcome, error } = await awaitRun(berth, sessionId, runId, {
    onText: (messageId, piece) => page.flow(messageId, piece),
    onNotice: cli.notice,
    onAsked: (request) => describeAsked(request, shortId(sessionId)).forEach(cli.notice),
  });
  page.endLine();
  if (outcome !== 'completed') throw new Refused(`the run was ${outcome}${error ? `: ${error.message}` : ''}`);
  const daemon = orRefused(await berth.call('get_daemon'));
  const locations = [
    ['daemon', `pid ${daemon.pid}, ${shortenHome(daemon.socket)}`],
    ['log', shortenHome(daemon.log_file)],
    ['data', shortenHome(daemon.state_dir)],
    ['config', shortenHome(daemon.config_dir)],
  ];
  cli.print('\nThat was a session of a daemon that stays in the background:');
  for (const line of alignColumns(locations)) cli.print(`  ${printable(line)}`);
  cli.print(
    `Run berth in a terminal to begin a session of your own, or: berth send "text", echo "text" | berth, berth --help.\n` +
      `berth attach ${shortId(sessionId)} shows this session again; berth daemon stop ends the daemon.`,
  );
  if (isNpmStart()) cli.print('(berth is node bin/berth.js here; npm link puts it on your path.)');
  return exit.ok;
}

/** Prompts the offline guide for help, in a reusable session. The session is archived, so that `.` never resolves to it. */
async function welcome(berth: Berth): Promise<{ session_id: string; run_id: string }> {
  const cwd = newSessionDirectory(berth);
  const existing = (await listSessions(berth, { cwd, query: welcomeTitle, archived: true })).find(
    ({ title, run_state }) => title === welcomeTitle && run_state === 'idle',
  );
  for (const session of existing ? [existing.session_id, undefined] : [undefined]) {
    const session_id = session ?? (await makeWelcome(berth, cwd));
    const reply = await berth.call('prompt', { session_id, text: welcomePrompt, wait: false });
    if (reply.ok) return { session_id, run_id: reply.payload.run_id };
    // Another process runs the demonstration in this session.
    if (reply.error.message !== 'run_in_progress') throw new Refused(reply.error.message);
  }
  throw new Refused('another process uses the new session; run berth again');
}

async function makeWelcome(berth: Berth, cwd: string): Promise<string> {
  const { session_id } = orRefused(await berth.call('new_session', { cwd, title: welcomeTitle, model: 'offline/guide' }));
  orRefused(await berth.call('archive_session', { session_id }));
  return session_id;
}

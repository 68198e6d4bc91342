import type { Berth } from '../../../client/connect.js';
import { modeNames } from '../../../view/modes.js';
import { newSessionDirectory } from '../../directory.js';
import { WrongUsage } from '../../exit.js';
import { readText, refuseLongText } from '../../input-text.js';
import { readMode, readThinking, thinkingLevels } from '../../read-settings.js';
import { orRefused } from '../../refusals.js';
import { approveChoices, readApprove } from '../../run/run-answers.js';
import { createJsonOutput, createTextOutput } from '../../run/run-output.js';
import { runPrompt } from '../../run/run-prompt.js';
import type { Cli, Subcommand } from '../../subcommand.js';
import { isPersonThere } from '../../terminal/standard-streams.js';
import { readTitle, refuseIdAsTitle } from '../../titles.js';

interface Settings {
  session?: string;
  model?: string;
  thinking?: string;
  mode?: string;
  title?: string;
  cwd?: string;
}

interface Args extends Settings {
  text?: string;
  approve?: string;
  quiet?: boolean;
  json?: true;
}

export const run: Subcommand = {
  usage: 'run [text]',
  summary: 'Run a text in a new session of this directory, print the answer, and say in the exit code how it ended.',
  options: {
    '--session <session>': 'in this session instead of a new one; --model, --thinking and --mode change it',
    '--model <provider/model>': 'the model it talks to (default: that of the config)',
    [`--thinking <${thinkingLevels.join('|')}>`]: 'how much it is to think',
    '--mode <mode>': `what it may do without asking: ${modeNames.join(', ')} (default: that of the config)`,
    '--title <title>': 'what the new session is called',
    '--cwd <dir>': 'the directory that it works in (default: this one; on another machine, the home directory there)',
    [`--approve <${approveChoices.join('|')}>`]: 'what becomes of approvals (default: ask at a terminal, else deny)',
    '--quiet': 'print the answer alone: no lines about tools and the like',
    '--json': 'print events as JSON lines, first what was accepted and last what it came to',
  },
  excess: 'a text of several words goes in quotes: berth run "text"',
  notes: [
    'The answer goes to standard output as it comes; tools and notices go to standard error, a line each. What a file or a',
    'pipe feeds to standard input goes below the text, in the same message; a text of -, or none, is read from there alone. In a loop that',
    'reads its own standard input, berth run "text" </dev/null leaves that alone. A denied call is told to the model, and the run goes on.',
    'Questions other than approvals are for people: without a terminal the run is left waiting for berth answer.',
    '',
    'The new session is for this text alone: . and berth leave it aside until you go on with it, with --session (at a terminal, its name comes',
    'last; with --json, in the first line; berth ls --here lists it) or in any other way. One with --title is a session as any other.',
    '',
    'Ctrl-C detaches and says how to come back; the run goes on. A second one right after it stops the run.',
    '',
    'Exit codes: 0 the run completed, 1 it failed or was refused, 3 it waits for an answer, 5 it was stopped, 6 it was interrupted because',
    'the daemon stopped, 130 you have detached.',
  ].join('\n'),
  examples: {
    'berth run "what does this repository do?"': 'an answer on standard output',
    'git diff | berth run --quiet --mode read_only > review.md': 'a text from a pipe, the answer to a file',
    'make 2>&1 | berth run "why does this fail?"': 'a text, and below it what is piped in',
    'berth run --approve allow-once "make the tests pass"': 'nobody is asked, every call is allowed',
    'berth run --json "list the flaky tests" | jq -r \'select(.type=="result").output\'': 'for programs',
    'berth run --session . "and now the docs"': 'go on with the newest session of this directory',
    'berth run --session 4kf3 "why?"': 'go on with the session of an earlier berth run',
  },
  async run({ text: typed, approve: wanted, quiet = false, json, ...settings }: Args, cli) {
    const isThere = isPersonThere() && json === undefined;
    const { approve, isChosen } = readApprove(wanted, isThere);
    if (settings.session !== undefined && settings.title !== undefined) {
      throw new WrongUsage('--title is for a new session; berth rename names one that is there');
    }
    if (settings.session !== undefined && settings.cwd !== undefined) throw new WrongUsage('--cwd is for a new session');
    const fields = readSettings(settings);
    const text = await readText(typed, 'berth run "text"', cli.notice);
    refuseLongText(text);
    // Without the capability, a daemon that denies what nobody can answer (when_detached) would not wait for the answer.
    const berth = await cli.connect({ uiCapabilities: isThere ? ['select', 'confirm', 'input', 'editor'] : ['select'] });
    const sessionId = await openSession(cli, berth, settings, fields);
    const isOneOff = settings.session === undefined && settings.title === undefined;
    const isOwn = (by: string): boolean => by.includes(berth.hello().client_id);
    const output = json ? createJsonOutput() : createTextOutput({ quiet, isTold: (by) => approve !== 'ask' && isOwn(by) });
    return runPrompt({ berth, sessionId, text, approve, isChosen, isOneOff, isThere, output, tell: cli.notice });
  },
};

function readSettings({ thinking, mode, title }: Settings) {
  return {
    ...(thinking === undefined ? {} : { thinking: readThinking(thinking) }),
    ...(mode === undefined ? {} : { approval_mode: readMode(mode) }),
    ...(title === undefined ? {} : { title: readTitle(title) }),
  };
}

/** A new session with these settings, or the named one with the settings changed. */
async function openSession(
  cli: Cli,
  berth: Berth,
  { session, model, cwd }: Settings,
  fields: ReturnType<typeof readSettings>,
): Promise<string> {
  const { title, ...others } = fields;
  if (session === undefined && title !== undefined) await refuseIdAsTitle(berth, title);
  const chosen = model === undefined ? {} : { model };
  const session_id =
    session === undefined
      ? orRefused(
          await berth.call('new_session', {
            cwd: newSessionDirectory(berth, cwd),
            ...chosen,
            ...(title === undefined ? { one_off: true } : { title }),
          }),
        ).session_id
      : await cli.resolve(berth, session);
  const changes = { ...others, ...(session === undefined ? {} : chosen) };
  if (Object.keys(changes).length > 0) orRefused(await berth.call('update_session', { session_id, ...changes }));
  return session_id;
}

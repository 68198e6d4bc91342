import type { Berth } from '../../client/connect.js';
import { isSessionName, SessionUnclear } from '../../client/resolve.js';
import { limits } from '../../protocol/limits.js';
import { shortId } from '../../view/short-ids.js';
import { describeAsked, describeRunEnd } from '../advice.js';
import { awaitRun } from '../awaited-run.js';
import { exit, WrongUsage, type ExitCode } from '../exit.js';
import { readText, refuseLongText } from '../input-text.js';
import { newestOrNew } from '../newest.js';
import { createLineWriter } from '../terminal/line-writer.js';
import { orRefused } from '../refusals.js';
import { outputColumns, writeOut } from '../terminal/standard-streams.js';
import { hasPipedInput } from '../terminal/stdin.js';
import { berthOn } from '../remote/host-words.js';
import type { Subcommand, Cli } from '../subcommand.js';

interface Args {
  session?: string;
  text?: string;
  steer?: true;
  followUp?: true;
  wait?: true;
  json?: true;
}

export const send: Subcommand = {
  usage: 'send [session] [text]',
  summary: 'Send a text to a session; a first one makes its session.',
  options: {
    '--steer': 'for the next turn of the run in progress',
    '--follow-up': 'for when the run in progress would otherwise end',
    '--wait': 'print the answer as it comes; the exit code is 0 when the run completed',
    '--json': 'print one line of JSON: what was accepted, or with --wait what it came to',
  },
  excess: 'a text of several words goes in quotes: berth send [SESSION] "text"',
  notes:
    'One argument is the text, for the newest session of this directory, or of the nearest one around it (in a git repository, up\n' +
    'to its root) that has any; . or a whole id is the session, and so is any name\n' +
    'of one when the text is fed to standard input.\n' +
    'What a file or a pipe feeds to standard input goes below the text, in the same message; a text of -, or none, is read from there alone.\n' +
    'In a loop that reads its own standard input, berth send SESSION "text" </dev/null leaves that alone.\n' +
    'With --wait, an answer that breaks off in the middle and is asked for again is printed again; --json has it once.',
  examples: {
    'berth send "what failed?" --wait': 'to the newest session here; the answer is printed',
    'berth send "fix the build" --follow-up "and the docs"': 'for when its run would otherwise end',
    'berth send . < prompt.md': 'a text from a file',
    'make 2>&1 | berth send . "why does this fail?"': 'a text, and below it what is piped in',
  },
  async run({ session, text, steer, followUp, wait, json }: Args, cli) {
    if (steer && followUp) throw new WrongUsage('--steer and --follow-up exclude each other');
    const berth = await cli.connect();
    const [named, message] = await readWords(session, text, (name) => isSession(berth, name), cli.notice);
    const sessionId = named === undefined ? await newestOrNew(berth, cli.notice) : await cli.resolve(berth, named);
    const accepted = await submit(berth, sessionId, message, steer ? 'steer' : followUp ? 'follow_up' : 'prompt');
    if (wait) return waitForAnswer(cli, berth, accepted, json);
    const queued = (steer ?? followUp) && (await isQueued(berth, accepted));
    if (json) cli.printJson(accepted);
    else {
      const when = followUp ? 'for when the run would otherwise end' : 'for the next turn of the run in progress';
      cli.print(accepted.run_id);
      cli.print(`${queued ? `queued ${when}; ` : ''}watch it with ${berthOn(berth.transport.host)} attach ${shortId(sessionId)}`);
    }
    return exit.ok;
  },
};

async function isQueued(berth: Berth, { session_id, input_id }: Accepted): Promise<boolean> {
  const { inputs } = orRefused(await berth.call('get_queue', { session_id }));
  return inputs.some((input) => input.input_id === input_id);
}

/** Splits the arguments into session and text. One argument is the text, unless it can only be a session. */
async function readWords(
  first: string | undefined,
  second: string | undefined,
  isKnown: (name: string) => Promise<boolean>,
  notice: (line: string) => void,
): Promise<[session: string | undefined, text: string]> {
  const isName =
    /^(\.|ses_\w+)$/.test(first ?? '') || (second === undefined && first !== undefined && hasPipedInput() && (await isKnown(first)));
  if (first !== undefined && second === undefined && !isName && /^\d[0-9a-z]*$/.test(first) && (await isKnown(first)))
    throw new WrongUsage(`${first} is a session; what should be sent to it? berth send ${first} "text"`);
  const [session, text] = second === undefined && !isName ? [undefined, first] : [first, second];
  return [session, await readText(text, 'berth send [SESSION] "text"', notice)];
}

async function isSession(berth: Berth, name: string): Promise<boolean> {
  if (name.length < limits.sessionPrefixCharsMin) return false;
  return isSessionName(berth, name).catch((error: unknown) => {
    // A text that is too long for a name.
    if (error instanceof SessionUnclear) return false;
    throw error;
  });
}

interface Accepted {
  session_id: string;
  run_id: string;
  input_id: string;
}

/** Sends a prompt, streams the answer and reports the end of the run, or that it waits for an answer, which nobody can give here. */
export async function sendAndWait(cli: Cli, berth: Berth, sessionId: string, text: string): Promise<ExitCode> {
  const accepted = await submit(berth, sessionId, text, 'prompt');
  let leave: (code: ExitCode) => void = () => undefined;
  const left = new Promise<ExitCode>((resolve) => (leave = resolve));
  return Promise.race([left, waitForAnswer(cli, berth, accepted, undefined, () => leave(exit.asked))]);
}

async function submit(berth: Berth, session_id: string, text: string, kind: 'prompt' | 'steer' | 'follow_up'): Promise<Accepted> {
  refuseLongText(text);
  const reply =
    kind === 'prompt'
      ? await berth.call('prompt', { session_id, text, wait: false })
      : await berth.call(kind, { session_id, text, if_idle: 'prompt' });
  const { run_id, input_id } = orRefused<'prompt' | 'steer' | 'follow_up'>(reply);
  return { session_id, run_id, input_id };
}

async function waitForAnswer(cli: Cli, berth: Berth, accepted: Accepted, json: true | undefined, onAsked?: () => void): Promise<ExitCode> {
  const { session_id: sessionId, run_id: runId } = accepted;
  const page = createLineWriter(writeOut, outputColumns);
  process.once('SIGINT', () => {
    cli.printError(`\nberth: the run goes on; ${berthOn(berth.transport.host)} attach ${shortId(sessionId)} watches it`);
    process.exit(exit.refused);
  });
  const { runId: _waitedFor, ...run } = await awaitRun(berth, sessionId, runId, {
    onText: (messageId, piece) => (json ? undefined : page.flow(messageId, piece)),
    onNotice: cli.notice,
    onAsked(request) {
      page.endLine();
      describeAsked(request, shortId(sessionId)).forEach(cli.notice);
      onAsked?.();
    },
  });
  page.endLine();
  if (json) cli.printJson({ ...accepted, ...run });
  else if (run.outcome !== 'completed') cli.notice(describeRunEnd(run, sessionId));
  return run.outcome === 'completed' ? exit.ok : exit.refused;
}

import { setTimeout as delay } from 'node:timers/promises';
import type { Berth } from '../../../client/connect.js';
import { limits } from '../../../protocol/limits.js';
import { formatAge } from '../../../view/durations.js';
import { shortId } from '../../../view/short-ids.js';
import { exit, Refused, WrongUsage, type ExitCode } from '../../exit.js';
import { execProgram } from '../../following/exec-program.js';
import { followLog, isConnectionError } from '../../following/followed-log.js';
import { conditionNames, describeNow, toHappening, type Condition, type Happening } from '../../following/happenings.js';
import { orRefused } from '../../refusals.js';
import { readCount, type Cli, type Subcommand } from '../../subcommand.js';
import { alignColumns } from '../../terminal/columns.js';

interface Args {
  session?: string;
  as?: string;
  on?: string;
  exec?: string;
  peek?: true;
  ack?: string;
  ls?: true;
  rm?: string;
  json?: true;
}

const leaveSignals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

export const follow: Subcommand = {
  usage: 'follow [session]',
  summary: 'Print what happens in all sessions or in one: questions, failures and ends of runs.',
  options: {
    '--as <name>': 'go on where this name was, and remember how far it gets',
    [`--on <${conditionNames.join('|')}>`]: 'what to follow, or several with commas (default: all of them)',
    '--exec <program>': 'run a program for each, instead of printing it',
    '--peek': 'with --as: acknowledge nothing',
    '--ack <seq>': 'with --as: acknowledge what there is up to this seq, and end',
    '--ls': 'list the names, and how much is before each',
    '--rm <name>': 'forget a name',
    '--json': 'print one line of JSON for each',
  },
  notes: [
    'A name begins with what happens from now on, and after that misses nothing: neither while nobody follows, nor through kills and restarts',
    'of berth. It is one place in the log of all sessions: what --on or a session leaves out is passed over for good. What was printed is',
    'acknowledged once it is written, before the next line; what --exec ran is once the program ended with 0, and otherwise follow ends with 1.',
    'Who is killed between the two gets that one line again. A line that is in a pipe is written: a loop that must not lose one to a',
    'kill of its own uses --exec, or --peek and then --ack with the seq of each line that it has dealt with.',
    '',
    'The program gets the line of JSON on its standard input, and BERTH_EVENT, BERTH_SEQ, BERTH_SESSION, BERTH_RUN, BERTH_TITLE, BERTH_TEXT,',
    'BERTH_REQUEST and BERTH_OUTCOME in its environment. Two who follow under one name at the same time both get what happens.',
    'A line whose happened is gap tells that older events were removed before they were acknowledged.',
    `A name that was not used for ${limits.namedCursorIdleMs / (24 * 3600 * 1000)} days is forgotten.`,
  ].join('\n'),
  examples: {
    'berth follow --on ask': 'what is asked from now on, in any session',
    'berth follow --as phone --on ask,fail --exec ~/bin/notify': 'tell a phone, each thing once',
    'berth follow --as log --json | jq -r \'.title + ": " + .text\'': 'in a script',
    'berth follow --ls': 'which names there are',
  },
  async run(args: Args, cli) {
    refuseCombinations(args);
    const { as: name, ack, ls, rm, session } = args;
    const wanted = readConditions(args.on ?? conditionNames.join(','));
    const seq = ack === undefined ? undefined : readCount('--ack', ack, 0);
    const berth = await cli.connect();
    if (ls) return printNames(berth, args, cli);
    if (rm !== undefined) {
      const { removed } = orRefused(await berth.call('remove_cursor', { name: rm }));
      if (!removed) throw new Refused(`there is no name ${rm}; see berth follow --ls`, { code: 'no_such_name' });
      return exit.ok;
    }
    if (seq !== undefined) {
      const acknowledged = orRefused(await berth.call('ack_cursor', { name: name ?? '', seq }));
      if (args.json) cli.printJson({ name, seq: acknowledged.seq });
      return exit.ok;
    }
    const sessionId = session === undefined ? undefined : await cli.resolve(berth, session);
    return followOn(berth, { ...args, wanted, sessionId }, cli);
  },
};

function refuseCombinations({ as: name, on, exec, peek, ack, ls, rm, session }: Args): void {
  const verbs = [ack !== undefined && '--ack', ls && '--ls', rm !== undefined && '--rm'].filter((verb) => typeof verb === 'string');
  if (verbs.length > 1) throw new WrongUsage(`${verbs.join(' and ')} exclude each other`);
  const [verb] = verbs;
  if (verb !== undefined && [on, exec, peek, session].some((given) => given !== undefined)) throw new WrongUsage(`${verb} follows nothing`);
  if (name === undefined && (peek || ack !== undefined)) throw new WrongUsage(`${peek ? '--peek' : '--ack'} needs --as NAME`);
  if (name !== undefined && (ls || rm !== undefined)) throw new WrongUsage(`${String(verb)} takes no --as`);
}

function readConditions(typed: string): Set<Condition> {
  const words = typed.split(',').map((word) => {
    const found = conditionNames.find((known) => known === word.trim());
    if (!found) throw new WrongUsage(`--on is one of ${conditionNames.join(', ')}, or several with commas, not ${JSON.stringify(typed)}`);
    return found;
  });
  return new Set(words);
}

async function printNames(berth: Berth, { json }: Args, cli: Cli): Promise<ExitCode> {
  const { cursors, head, floor } = orRefused(await berth.call('list_cursors'));
  const rows = cursors.map(({ name, seq, used_at }) => ({ name, seq, used_at, behind: head - seq, expired: seq < floor }));
  if (json) for (const row of rows) cli.printJson(row);
  else if (rows.length === 0) cli.print('No names.');
  else {
    const cells = rows.map(({ name, behind, used_at, expired }) => [
      name,
      behind === 0 ? 'has everything' : `${behind} events behind${expired ? ', some of which were removed' : ''}`,
      formatAge(Date.now() - Date.parse(used_at)),
    ]);
    for (const line of alignColumns(cells)) cli.print(line);
  }
  return exit.ok;
}

interface Following extends Args {
  wanted: ReadonlySet<Condition>;
  sessionId: string | undefined;
}

async function followOn(berth: Berth, { as: name, peek, exec, json, wanted, sessionId }: Following, cli: Cli): Promise<ExitCode> {
  const leaving = new AbortController();
  for (const signal of leaveSignals) process.once(signal, () => leaving.abort());
  const after = name === undefined ? undefined : orRefused(await berth.call('ack_cursor', { name })).seq;
  let acknowledged = after ?? 0;
  let seen = acknowledged;

  async function acknowledge(seq: number): Promise<void> {
    if (name === undefined || peek || seq <= acknowledged) return;
    await acknowledgeSurely(berth, name, seq);
    acknowledged = seq;
  }

  async function tell(happening: Happening): Promise<void> {
    const told = await throughAbsence(() => describeNow(berth, happening));
    if (exec !== undefined) await execProgram(exec, told, cli.paths);
    else if (json) cli.printJson(told);
    else
      cli.print(
        [shortId(told.session_id), told.title, `${told.happened === 'ask' ? 'asks: ' : ''}${told.text}`].filter(Boolean).join('  '),
      );
  }

  const log = followLog({
    berth,
    after,
    signal: leaving.signal,
    onLost: () => cli.notice('lost connection…'),
    onBack: () => cli.notice('back'),
  });
  for await (const followed of log) {
    if (followed.kind === 'gap') {
      const { from, to } = followed;
      if (json && exec === undefined) cli.printJson({ happened: 'gap', from, to });
      else cli.notice(`events from ${from} to ${to} were removed before they were acknowledged`);
      // Of another store, `to` may be before what was acknowledged in the last one.
      acknowledged = -1;
      await acknowledge(to);
      seen = to;
      continue;
    }
    const { seq, event } = followed;
    seen = seq;
    const isOfSession = sessionId === undefined || ('session_id' in event.payload && event.payload.session_id === sessionId);
    const happening = isOfSession ? toHappening(event, seq, wanted) : undefined;
    if (happening) await tell(happening);
    if (happening || seq - acknowledged >= limits.followedEventsUnseenMax) await acknowledge(seq);
    if (sessionId !== undefined && isOfSession && event.type === 'session_update' && event.payload.deleted) {
      throw new Refused('the session was deleted', { code: 'session_not_found' });
    }
  }
  await acknowledge(seen);
  return exit.ok;
}

/** Does a command that may be repeated, however long the daemon is away. */
async function throughAbsence<T>(work: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await work();
    } catch (error) {
      if (!isConnectionError(error)) throw error;
      await delay(limits.attachRetryMaxMs);
    }
  }
}

/** Resolves when the daemon has it on disk. A store that takes no writes is waited for. */
async function acknowledgeSurely(berth: Berth, name: string, seq: number): Promise<void> {
  for (;;) {
    const reply = await throughAbsence(() => berth.call('ack_cursor', { name, seq }));
    if (reply.ok || !reply.error.retryable) return void orRefused(reply);
    await delay(limits.attachRetryMaxMs);
  }
}

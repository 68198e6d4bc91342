import { setTimeout as delay } from 'node:timers/promises';
import type { Berth } from '../../../client/connect.js';
import { limits } from '../../../protocol/limits.js';
import { toCard } from '../../../view/questions.js';
import { describeEnding } from '../../../view/run-outcome.js';
import type { SessionView } from '../../../view/session-view.js';
import { shortId } from '../../../view/short-ids.js';
import { watchSession } from '../../attach/watched-session.js';
import { toErrorLine } from '../../error-line.js';
import { exit, Refused, WrongUsage } from '../../exit.js';
import { readNumber, type Subcommand } from '../../subcommand.js';
import { writeErr } from '../../terminal/standard-streams.js';

interface Args {
  session?: string;
  until?: string;
  timeout?: string;
  json?: true;
}

/** What can be waited for, each with the words that say that it holds; undefined while it does not. */
const conditions = {
  ask: ({ state: { requests } }: SessionView) => (requests[0] ? `asks: ${toCard(requests[0]).title}` : undefined),
  end: ({ state: { run, lastRun } }: SessionView) =>
    run ? undefined : lastRun ? describeEnding(lastRun).text : 'idle: there was no run yet',
  fail({ state: { run, lastRun } }: SessionView) {
    if (run || !lastRun || lastRun.abandoned) return undefined;
    return lastRun.outcome === 'failed' || lastRun.outcome === 'interrupted' ? describeEnding(lastRun).text : undefined;
  },
} as const;
type Condition = keyof typeof conditions;
const conditionNames = Object.keys(conditions) as Condition[];

export const wait: Subcommand = {
  usage: 'wait [session]',
  summary: 'Wait until a session has ended its run, asks something, or has failed.',
  options: {
    [`--until <${conditionNames.join('|')}>`]: 'what to wait for, or several with commas (default: end)',
    '--timeout <seconds>': 'how long at most (default: as long as it takes)',
    '--json': 'print what happened as JSON',
  },
  notes: [
    'end is when no run is in progress, ask when a question waits for a person, fail when the last run failed or was interrupted. What holds',
    'already is not waited for. A daemon that stops meanwhile is waited for, too.',
    '',
    'Exit codes: 0 it happened, 124 the time is up; 1 there is no such session, or it was deleted.',
  ].join('\n'),
  examples: {
    'berth wait': 'until the newest session here has ended its run',
    'berth wait --until end,ask --timeout 600': 'or asks, or ten minutes have passed',
    'berth send . "fix it" && berth wait && make test': 'in a script',
  },
  async run({ session, until = 'end', timeout, json }: Args, cli) {
    const wanted = readConditions(until);
    const seconds = timeout === undefined ? undefined : readNumber('--timeout', timeout);
    if (seconds !== undefined && seconds > limits.waitSecondsMax) {
      throw new WrongUsage(`--timeout is at most ${limits.waitSecondsMax} seconds; without it, there is none`);
    }
    const berth = await cli.connect();
    const sessionId = await cli.resolve(berth, session);
    const happened = await waitUntil(berth, sessionId, wanted, seconds);
    if (!happened) {
      const sentence = `waited ${seconds ?? 0} s for session ${shortId(sessionId)}, and it did not happen: ${wanted.join(', ')}`;
      writeErr(json ? toErrorLine('timeout', sentence) : `berth: ${sentence}\n`);
      return exit.timeout;
    }
    const { condition, words, view } = happened;
    const { run, lastRun, requests } = view.state;
    if (json) {
      const { id: last_run_id = null, outcome = null } = lastRun ?? {};
      cli.printJson({ session_id: sessionId, happened: condition, seq: view.seq, run_id: run?.id ?? null, last_run_id, outcome, requests });
    } else cli.print(words);
    return exit.ok;
  },
};

function readConditions(typed: string): Condition[] {
  return typed.split(',').map((word) => {
    const found = conditionNames.find((name) => name === word.trim());
    if (!found)
      throw new WrongUsage(`--until is one of ${conditionNames.join(', ')}, or several with commas, not ${JSON.stringify(typed)}`);
    return found;
  });
}

interface Happened {
  condition: Condition;
  words: string;
  view: SessionView;
}

/** Undefined when the time is up. */
async function waitUntil(berth: Berth, sessionId: string, wanted: Condition[], seconds: number | undefined): Promise<Happened | undefined> {
  const attached = await watchSession(berth, sessionId);

  function check(): Happened | undefined {
    const view = attached.view();
    for (const condition of wanted) {
      const words = conditions[condition](view);
      if (words !== undefined) return { condition, words, view };
    }
    return undefined;
  }

  async function listen(): Promise<Happened> {
    for await (const heard of attached) {
      // While the daemon is away, the view says nothing about now.
      const happened = heard.kind === 'event' || heard.kind === 'reset' ? check() : undefined;
      if (happened) return happened;
    }
    throw new Refused('the session was deleted', { code: 'session_not_found' });
  }

  const happened = check();
  if (happened || seconds === 0) return happened;
  // Not by closing the view: a daemon that is away is waited for at length.
  return Promise.race([listen(), ...(seconds === undefined ? [] : [delay(seconds * 1_000, undefined)])]);
}

import { setTimeout as delay } from 'node:timers/promises';
import type { Berth } from '../../client/connect.js';
import type { RunOutcome } from '../../protocol/events.js';
import { limits } from '../../protocol/limits.js';
import type { UiRequest } from '../../protocol/requests/requests.js';
import { shortId } from '../../view/short-ids.js';
import { describeAsked, describeRunEnd } from '../advice.js';
import { followRun, type AwaitedRun } from '../awaited-run.js';
import { exit, Refused, type ExitCode } from '../exit.js';
import { orRefused } from '../refusals.js';
import { createRunAnswers, type Approve } from './run-answers.js';
import { isTerminal } from '../terminal/standard-streams.js';
import type { RunOutput } from './run-output.js';
import { berthOn } from '../remote/host-words.js';
import { createRunPerson, type RunPerson } from './run-person.js';

interface Options {
  berth: Berth;
  sessionId: string;
  text: string;
  approve: Approve;
  /** `--approve` was given. */
  isChosen: boolean;
  /** The session was made for this prompt. */
  isOneOff: boolean;
  /** Somebody sits at the terminal. */
  isThere: boolean;
  output: RunOutput;
  /** Prints what the person or script has to know, whatever else is printed. */
  tell(line: string): void;
}

/** Something that may happen. */
interface Occasion<T> {
  happened: Promise<T>;
  tell(value: T): void;
}

type Ending = { kind: 'ended'; run: AwaitedRun } | { kind: 'asked'; request: UiRequest } | { kind: 'left' };

const exitCodes: Record<RunOutcome, ExitCode> = {
  completed: exit.ok,
  failed: exit.refused,
  aborted: exit.aborted,
  interrupted: exit.interrupted,
};

/** Sends a prompt and prints what comes of it, until the run has ended, asks what nobody here can answer, or is left. */
export async function runPrompt({
  berth,
  sessionId,
  text,
  approve,
  isChosen,
  isOneOff,
  isThere,
  output,
  tell,
}: Options): Promise<ExitCode> {
  const attached = await berth.attach(sessionId, {
    onDelivered: (sent) => person?.settle(sent),
    onNotice: (line) => output.note(`[outbox] ${line}`),
  });
  const left = createOccasion<Ending>();
  const leftAgain = createOccasion<true>();
  const asked = createOccasion<Ending>();
  const answers = createRunAnswers({ berth, approve, isChosen, note: output.note, onOpen });
  const person: RunPerson | undefined = isThere ? createRunPerson({ berth, attached, output, onLeave: interrupt }) : undefined;
  const session = shortId(sessionId);
  let presses = 0;
  let isSilent = false;

  function interrupt(): void {
    presses++;
    if (presses === 1) left.tell({ kind: 'left' });
    else if (presses === 2) leftAgain.tell(true);
    else process.exit(exit.detached);
  }

  function onOpen(requests: readonly UiRequest[]): void {
    const [oldest] = requests;
    if (person) person.ask(requests);
    else if (oldest) asked.tell({ kind: 'asked', request: oldest });
  }

  function quit(): void {
    person?.close();
    process.exit(exit.detached);
  }

  process.on('SIGINT', interrupt);
  for (const signal of ['SIGTERM', 'SIGHUP'] as const) process.on(signal, quit);
  try {
    const reply = await berth.call('prompt', { session_id: sessionId, text, wait: false });
    if (!reply.ok && reply.error.message === 'run_in_progress') throw busy();
    const { run_id, input_id } = orRefused(reply);
    output.mark({ type: 'accepted', session_id: sessionId, run_id, input_id });
    const followed = followRun(berth, attached, run_id, {
      onText: (messageId, piece) => (isSilent ? undefined : output.text(messageId, piece)),
      onNotice: (line) => (isSilent ? undefined : output.note(`[run] ${line}`)),
      onRequests: answers.consider,
      onHeard(heard) {
        if (!isSilent) output.heard(heard);
        if (heard.kind === 'back') answers.consider(attached.view().state.requests);
      },
    });
    const ended = followed.then((run): Ending => ({ kind: 'ended', run }));
    const ending = await Promise.race([ended, asked.happened, left.happened]);
    isSilent = true;
    output.endLine();
    // Whoever has left does not hear of a daemon that goes away.
    ended.catch(() => undefined);
    if (ending.kind === 'left') return await leave(ended);
    if (ending.kind === 'ended') return end(ending.run);
    output.mark({ type: 'asked', session_id: sessionId, run_id, request: ending.request });
    describeAsked(ending.request, session).forEach(tell);
    return exit.asked;
  } finally {
    process.off('SIGINT', interrupt);
    attached.close();
    person?.close();
  }

  function busy(): Refused {
    return new Refused(
      `a run is in progress in ${session}; berth wait ${session} waits for its end, berth send ${session} --follow-up "text" queues a text`,
      { code: 'run_in_progress' },
    );
  }

  function end(run: AwaitedRun): ExitCode {
    const { runId: run_id, outcome, error, output: answer } = run;
    output.mark({ type: 'result', session_id: sessionId, run_id, outcome, error, output: answer });
    if (outcome !== 'completed') tell(describeRunEnd(run, sessionId));
    else if (isOneOff && isTerminal(2)) output.note(`[run] berth run --session ${session} "text" goes on with this session`);
    output.endLine();
    return exitCodes[outcome];
  }

  /** Detached: the run goes on, unless the person insists. */
  async function leave(ended: Promise<Ending>): Promise<ExitCode> {
    const seconds = limits.interruptAgainMs / 1_000;
    tell(
      `detached, and the run goes on; ${berthOn(berth.transport.host)} attach ${session} comes back. Ctrl-C again within ${seconds} s stops the run.`,
    );
    const isInsisted = await Promise.race([leftAgain.happened, delay(limits.interruptAgainMs, false)]);
    if (!isInsisted) return exit.detached;
    orRefused(await berth.call('abort', { session_id: sessionId, reason: 'ctrl-C' }));
    const ending = await Promise.race([ended, delay(limits.stopMs, undefined)]);
    if (ending?.kind === 'ended') return end(ending.run);
    tell('the run is being stopped');
    return exit.aborted;
  }
}

function createOccasion<T>(): Occasion<T> {
  let tell: (value: T) => void = () => undefined;
  const happened = new Promise<T>((resolve) => (tell = resolve));
  return { happened, tell: (value) => tell(value) };
}

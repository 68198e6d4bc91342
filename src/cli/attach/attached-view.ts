import type { Berth } from '../../client/connect.js';
import { watchAround } from '../../client/watch-around.js';
import type { WireEvent } from '../../protocol/events.js';
import type { UiRequest } from '../../protocol/requests/requests.js';
import { leavingTexts } from '../../view/terminal/leaving-text.js';
import { printable, printableJson } from '../../view/printable.js';
import { toCard } from '../../view/questions.js';
import { shortId } from '../../view/short-ids.js';
import { exit, type ExitCode } from '../exit.js';
import { sessionHeading } from './session-heading.js';
import { createLineInput } from './line-input.js';
import { createLineView } from './line-view.js';
import { createLineWriter } from '../terminal/line-writer.js';
import { readLog } from '../replay/read-log.js';
import { describeGone } from '../restart-hint.js';
import { isColoured, isDumb, outputColumns, writeErr, writeOut } from '../terminal/standard-streams.js';
import { berthOn } from '../remote/host-words.js';
import { createStyle } from '../terminal/style.js';

interface Options {
  /** Replay events after this seq, instead of the newest messages. */
  since?: number | undefined;
  /** Events as JSON lines instead of lines for people. */
  json?: boolean | undefined;
  /** Only look: nothing is sent or answered. */
  isObserver?: boolean | undefined;
}

const greeting = 'A line is sent when you press enter. /help lists more; ctrl-C on an empty line leaves, the run goes on.';
const observerGreeting = 'You only look: nothing is sent or answered from here. Ctrl-C leaves.';
const leaveSignals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/**
 * Attaches to a session until the person leaves: prints events, and runs typed lines. With piped standard input, the view ends after the runs
 * of the sent messages, or when one of them asks a question; without messages, when no run is in progress.
 */
export async function viewSession(berth: Berth, sessionId: string, { since, json, isObserver = false }: Options): Promise<ExitCode> {
  const { stdin, stdout } = process;
  const attached = await berth.attach(sessionId, {
    onDelivered: (sent) => input.settle(sent),
    onNotice: (text) => note(`[outbox] ${text}`),
  });
  const interactive = stdin.isTTY && stdout.isTTY && !json && !isDumb();
  const terminal = interactive
    ? (await import('../terminal/terminal.js')).openTerminal({
        input: stdin,
        output: stdout,
        subject: openQuestion,
        onLine,
        onLeave: leave,
      })
    : undefined;
  const page = createLineWriter((text) => (terminal ? terminal.write(text) : writeOut(text)), outputColumns);
  const view = createLineView(page, createStyle(isColoured()), (by) => by.includes(berth.hello().client_id), { isObserver });
  const note = (text: string): void => (json ? writeErr(`${printable(text)}\n`) : view.note(printable(text)));
  const started = new Set<string>();
  const ended = new Set<string>();
  let isInputEnded = false;
  /** A text was piped in, so that an open question ends the view; a mere watcher goes on. */
  let hasPipedText = false;
  /** How many piped texts could not be sent. */
  let unsent = 0;
  /** An open question after the end of standard input. */
  let unanswered: UiRequest | undefined;
  let isDaemonAway = false;
  const leaving = new AbortController();
  const input = createLineInput({
    berth,
    session: attached,
    note,
    recallHint: interactive ? 'the up arrow brings it back' : 'send it again',
    showQuestion: (request) => (json ? print(request) : view.question(request)),
    onRun: (runId) => started.add(runId),
    leave,
    isObserver,
  });

  function openQuestion(): string | undefined {
    return input.question()?.request_id;
  }

  function onLine(line: string, question: string | undefined): void {
    if (isDaemonAway && line.startsWith('/')) note('[daemon] is away; this waits for it to come back');
    input.take(line, question);
  }

  function leave(): void {
    leaving.abort();
    attached.close();
  }

  function isOver(): boolean {
    if (!isInputEnded) return false;
    return started.size > 0 ? [...started].every((runId) => ended.has(runId)) : attached.view().state.run === null;
  }

  /** Piped texts of an observer went nowhere. */
  function wasRefused(): boolean {
    return isObserver && hasPipedText;
  }

  function keptCount(): number {
    return attached.sent().filter(({ state }) => state === 'kept').length;
  }

  function leaveIfOver(): void {
    const asked = input.question();
    if (isInputEnded && hasPipedText && asked && !isObserver) unanswered = asked;
    if (isInputEnded) unsent = keptCount();
    if (unanswered || unsent > 0 || isOver()) attached.close();
  }

  async function readLines(): Promise<void> {
    const { createInterface } = await import('node:readline');
    const lines = createInterface({ input: stdin });
    lines.on('line', (line) => {
      hasPipedText ||= line.trim() !== '';
      onLine(line, openQuestion());
    });
    lines.on('close', () => {
      if (stdin.isTTY) return leave();
      void input.done().then(() => {
        isInputEnded = true;
        leaveIfOver();
      });
    });
  }

  // A person who stays is told of the config, which is no event of the session.
  const around = interactive ? watchAround(berth, { onChange: () => undefined, onConfig: view.event }) : undefined;
  for (const signal of leaveSignals) process.on(signal, leave);
  try {
    if (!json) {
      page.line(createStyle(isColoured()).bold(sessionHeading(attached.view().state)));
      if (interactive) view.note(isObserver ? observerGreeting : greeting);
    }
    const show = (event: WireEvent): void => (json ? print(event) : view.event(event));
    if (since !== undefined) {
      const onPruned = (): void => note('[what came before this is not in the log any more]');
      for await (const event of readLog(berth, { sessionId, after: since, upTo: attached.view().seq, onPruned })) show(event);
    }
    if (json) print({ type: 'attached', ...snapshot() });
    else view.open(attached.view(), since === undefined);
    terminal?.expectText(isBusy());
    if (!terminal) await readLines();
    for await (const heard of attached) {
      if (json) print(heard.kind === 'event' ? heard.event : { type: heard.kind, ...(heard.kind === 'reset' && snapshot()) });
      else view.hear(heard, attached.view());
      if (heard.kind === 'gone' && !json)
        note(`[daemon] ${heard.why === undefined ? describeGone(berth) : `could not be started again: ${heard.why}`}`);
      if (heard.kind === 'lost' || heard.kind === 'back') isDaemonAway = heard.kind === 'lost';
      terminal?.expectText(isBusy() && !isDaemonAway);
      if (heard.kind === 'event' && heard.event.type === 'agent_end') ended.add(heard.event.payload.run_id);
      leaveIfOver();
    }
    page.endLine();
    if (leaving.signal.aborted && !json) view.note(detachNote());
    if (unsent > 0) {
      writeErr(
        `berth: no daemon took ${unsent} of the messages; they are kept, and ${berthOn(berth.transport.host)} attach ${shortId(sessionId)} sends them\n`,
      );
      return exit.refused;
    }
    if (!unanswered) return wasRefused() ? exit.refused : exit.ok;
    const id = shortId(unanswered.request_id);
    writeErr(
      `berth: the run waits for an answer, and standard input has ended: ${toCard(unanswered).title}\n` +
        `berth: berth answer ${id} --show shows the question, berth answer ${id} VALUE answers it\n`,
    );
    return exit.refused;
  } finally {
    for (const signal of leaveSignals) process.off(signal, leave);
    around?.close();
    attached.close();
    terminal?.close();
    stdin.destroy();
  }

  function print(value: unknown): void {
    writeOut(`${printableJson(value)}\n`);
  }

  /** The current state, which no later event repeats, for readers of JSON. */
  function snapshot(): object {
    const { seq, state } = attached.view();
    return { session_id: state.id, seq, run_id: state.run?.id ?? null, requests: state.requests };
  }

  /** A run is in progress and waits for no answer, so that output is expected. */
  function isBusy(): boolean {
    const { run, requests } = attached.view().state;
    return run !== null && requests.length === 0;
  }

  function detachNote(): string {
    const view = attached.view();
    const comeBack = `${berthOn(berth.transport.host)} attach ${shortId(sessionId)} comes back; with --since ${view.seq}, from here.`;
    return `[detached] ${[...leavingTexts(view, keptCount()), comeBack].join(' ')}`;
  }
}

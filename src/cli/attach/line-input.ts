import type { AttachedSession } from '../../client/attach.js';
import type { Berth } from '../../client/connect.js';
import type { CommandInput } from '../../protocol/commands/commands.js';
import type { UiRequest } from '../../protocol/requests/requests.js';
import { modeNames, modes } from '../../view/modes.js';
import { printableLine } from '../../view/printable.js';
import { isSecret, readAnswer, toCard } from '../../view/questions.js';
import { inputKindText } from '../../view/queue-text.js';
import type { SentInput } from '../../view/sent-inputs.js';
import { shortId } from '../../view/short-ids.js';
import { describePause } from '../advice.js';
import { Refused } from '../exit.js';
import { readMode } from '../read-settings.js';
import { orRefused } from '../refusals.js';
import { resumeLastRun } from '../commands/resume.js';

interface Deps {
  berth: Berth;
  session: Pick<AttachedSession, 'sessionId' | 'view' | 'send' | 'dismiss' | 'flushed'>;
  /** Prints a line about what was typed. */
  note(text: string): void;
  /** How to recall a line that was not sent. */
  recallHint: string;
  /** Shows all of a question. */
  showQuestion(request: UiRequest): void;
  /** A sent message was taken by this run. */
  onRun(runId: string): void;
  leave(): void;
  /** Lines that would send, answer or change something are refused. */
  isObserver?: boolean;
}

export interface LineInput {
  /**
   * Runs a typed line, unless it would answer another question than `meant`, the one that was open at its first character. Lines run one
   * after the other.
   */
  take(line: string, questionId: string | undefined): void;
  /** The question that a line would answer: the oldest open one that was not answered here. */
  question(): UiRequest | undefined;
  /** Reports the delivery of a message from the outbox, of this or another process. */
  settle(input: SentInput): void;
  /** Resolves when all lines have run, and their texts are sent or kept in the outbox. */
  done(): Promise<void>;
}

const help = [
  'A line is sent: as a prompt, or while a run is in progress as a steer. An open question is answered instead: the one that was ' +
    'open when you began to type. If that has changed when you press enter, nothing is sent, and the up arrow brings the line back.',
  '  /follow TEXT   for when the run would otherwise end',
  '  /steer TEXT    for the next turn of the run, also while a question is open',
  '  /abort         stop the run',
  '  /resume        go on after a run that failed, was stopped or was interrupted',
  '  /skip          give no answer to the question',
  '  /show          all of the question, however long',
  '  /queue         what waits',
  `  /mode MODE     what needs your yes: ${modeNames.join(', ')}; without MODE, say which it is`,
  '  /model NAME    talk to another model from the next turn on; without NAME, say which it is',
  '  /compact TEXT  have old messages summarised; TEXT, if any, says what to pay attention to',
  '  /quit          leave; the run goes on (so do ctrl-D and ctrl-C; after half a line, ctrl-C only puts that away)',
  '  //TEXT         send a text that begins with a slash',
];

const observerHelp = [
  'This view only looks; berth attach without --observe sends and answers. A line is one of these:',
  '  /show          all of the question, however long',
  '  /queue         what waits',
  '  /mode          what needs a yes',
  '  /model         which model it talks to',
  '  /quit          leave (so do ctrl-D and ctrl-C)',
];

/** Slash commands of observers; those that set something with a text tell it without one. */
const looking = /^\/(help|show|queue|quit|(model|mode)\s*$)/;

/** Interprets the typed lines of an attached view: messages, answers and slash commands. */
export function createLineInput({ berth, session, note, recallHint, showQuestion, onRun, leave, isObserver = false }: Deps): LineInput {
  const { sessionId: session_id, view } = session;
  let last: Promise<void> = Promise.resolve();
  /** Requests whose answers were accepted but are not in the view yet. */
  let answered: string[] = [];
  /** The question that was open last, until a message is sent: its answer may come too late. */
  let lastAsked: UiRequest | undefined = view().state.requests[0];

  const slashCommands: Record<string, (text: string, questionId: string | undefined) => Promise<void> | void> = {
    follow: (text) => submit('follow_up', text),
    steer: (text) => submit('steer', text),
    async abort() {
      orRefused(await berth.call('abort', { session_id }));
    },
    async resume() {
      onRun((await resumeLastRun(berth, session_id)).done.run_id);
    },
    show: () => showQuestion(openQuestion()),
    async skip(_text, questionId) {
      const { request_id } = openQuestion();
      if (!isOutdated('/skip', questionId)) await respond({ request_id, cancelled: true });
    },
    async queue() {
      const { inputs, paused } = orRefused(await berth.call('get_queue', { session_id }));
      for (const { kind, hold, text } of inputs) note(`[queue] ${inputKindText(kind)}${hold ? ' (held)' : ''}: ${printableLine(text)}`);
      if (inputs.length === 0) note('[queue] nothing waits');
      else if (paused) note(`[queue] ${describePause(inputs.length, shortId(session_id))}`);
    },
    async model(name) {
      if (name !== '') orRefused(await berth.call('set_model', { session_id, model: name.trim() }));
      else note(`[session] model ${view().state.model}, thinking ${view().state.thinking}`);
    },
    async mode(name) {
      const mode = name === '' ? view().state.approvalMode : readMode(name.trim());
      if (name === '') note(`[session] mode ${mode}: ${modes[mode]}`);
      else orRefused(await berth.call('update_session', { session_id, approval_mode: mode }));
    },
    compact(instruction) {
      // Not awaited, so that later lines do not wait: an event reports the end of the compaction.
      const asked = berth.call('compact_session', { session_id, ...(instruction === '' ? {} : { instruction }) });
      asked.then(orRefused).catch((error: unknown) => reportFailure(`/compact ${instruction}`.trimEnd(), error));
    },
    quit: leave,
    help: () => (isObserver ? observerHelp : help).forEach(note),
  };

  function question(): UiRequest | undefined {
    const { requests } = view().state;
    answered = answered.filter((id) => requests.some(({ request_id }) => request_id === id));
    const open = requests.find(({ request_id }) => !answered.includes(request_id));
    lastAsked = open ?? lastAsked;
    return open;
  }

  async function respond(answer: CommandInput<'ui_response'>): Promise<void> {
    orRefused(await berth.call('ui_response', answer));
    answered.push(answer.request_id);
  }

  function openQuestion(): UiRequest {
    const request = question();
    if (!request) throw new Refused('no question is open');
    return request;
  }

  function reportFailure(line: string, error: unknown): void {
    const isBusy = error instanceof Refused && error.code === 'run_in_progress';
    const why = isBusy ? 'a run is in progress; /abort stops it' : error instanceof Error ? error.message : String(error);
    note(`[not done] ${why}; typed: ${line}`);
  }

  async function submit(kind: 'steer' | 'follow_up', text: string): Promise<void> {
    if (text.trim() === '') throw new Refused('there is no text to send');
    lastAsked = undefined;
    await reportDelivery(await session.send(kind, { text, if_idle: 'reject' }));
  }

  /** Sends a prompt, which becomes a steer if a run begins at the same moment. */
  async function prompt(text: string, if_busy: 'steer' | 'follow_up'): Promise<void> {
    lastAsked = undefined;
    await reportDelivery(await session.send('prompt', { text, if_busy }));
  }

  async function reportDelivery({ state, inputId, runId, text, command, refusal }: SentInput): Promise<void> {
    if (state === 'kept') {
      const why = refusal ? refusal.message : 'the daemon is away';
      note(`[kept] ${why}; it is sent when that is over, here or by the next berth attach: ${text}`);
    } else if (state !== 'returned') {
      if (runId !== undefined) onRun(runId);
    } else if (refusal?.message === 'no_active_run' && command !== 'prompt') {
      await promptInstead(command, text);
      session.dismiss(inputId);
    } else {
      session.dismiss(inputId);
      // A message that an abort returned is reported by its event.
      if (refusal) orRefused({ ok: false, error: refusal });
    }
  }

  /** Sends a prompt instead of a steer, unless the run was interrupted: a prompt would abandon that run without the person knowing. */
  async function promptInstead(kind: 'steer' | 'follow_up', text: string): Promise<void> {
    const { last_run } = orRefused(await berth.call('get_state', { session_id }));
    if (last_run?.outcome !== 'interrupted') return prompt(text, kind);
    note(`[not sent] the run was interrupted; /resume continues it, a new message leaves it behind; ${recallHint}: ${text}`);
  }

  /** Whether a text is the key of a choice of the question that was open last, and nothing was sent since. */
  function isLateAnswer(text: string): boolean {
    return lastAsked !== undefined && toCard(lastAsked).choices.some(({ key }) => key === text.trim().toLowerCase());
  }

  /** Whether the open question has changed since the line was begun; prints a note if so. */
  function isOutdated(line: string, questionId: string | undefined): boolean {
    if (question()?.request_id === questionId) return false;
    const why = questionId === undefined ? 'a question came while it was typed' : 'the question was answered meanwhile';
    note(`[not sent] ${why}; ${recallHint}: ${line}`);
    return true;
  }

  async function answerOrSend(text: string, questionId: string | undefined): Promise<void> {
    if (isOutdated(text, questionId)) return;
    const { run } = view().state;
    const request = question();
    if (request) {
      if (isSecret(request))
        throw new Refused('the answer is secret, and what is typed here is shown; see berth answer, which reads it from standard input');
      const read = readAnswer(request, text);
      if (!read.ok) throw new Refused(`type ${read.hint}; /skip gives no answer, /steer TEXT goes on without`);
      await respond({ request_id: request.request_id, result: read.result });
    } else if (isLateAnswer(text)) {
      throw new Refused(`nothing is asked any more; to send it as a message, /steer ${text.trim()}`);
    } else if (text.trim() !== '') {
      if (run) await submit('steer', text);
      else await prompt(text, 'steer');
    }
  }

  async function runLine(line: string, questionId: string | undefined): Promise<void> {
    if (isObserver && line.trim() !== '' && !looking.test(line)) {
      throw new Refused('this view only looks, because of --observe; berth attach without it sends and answers');
    }
    const [, name, text = ''] = /^\/(\w*)(?:\s+([^]*))?$/.exec(line) ?? [];
    if (name === undefined || line.startsWith('//')) return answerOrSend(line.replace(/^\/\//, '/'), questionId);
    const act = Object.hasOwn(slashCommands, name) ? slashCommands[name] : undefined;
    if (!act) throw new Refused(`there is no /${name}; /help lists what there is, and //${name} sends it as a text`);
    await act(text, questionId);
  }

  return {
    take(line, questionId) {
      last = last.then(() => runLine(line, questionId)).catch((error: unknown) => reportFailure(line, error));
    },
    question,
    settle(input) {
      if (input.state !== 'returned') note(`[sent] ${printableLine(input.text)}`);
      last = last.then(() => reportDelivery(input)).catch((error: unknown) => reportFailure(input.text, error));
    },
    async done() {
      await last;
      await session.flushed();
      await last;
    },
  };
}

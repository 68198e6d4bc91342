import type { Heard } from '../client/attach.js';
import type { EventPayload, WireEvent } from '../protocol/events.js';
import type { Message } from '../protocol/messages.js';
import { formatDuration } from '../view/durations.js';
import { createMessageStream } from '../view/message-stream.js';
import { modes } from '../view/modes.js';
import { openCalls } from '../view/open-calls.js';
import { printableLine } from '../view/printable.js';
import { describeAnswer, hintOf, isSecret } from '../view/questions.js';
import { inputKindText } from '../view/queue-text.js';
import { describeEnding, describeError } from '../view/run-outcome.js';
import type { SessionView } from '../view/session-view.js';
import { shortId } from '../view/short-ids.js';
import { describeStatus } from '../view/status-text.js';
import { startedHeadline } from '../view/tool-headline.js';
import { createToolOutputs } from '../view/tool-output.js';
import { adviseResume, describePause } from './advice.js';
import { clipColumns } from './columns.js';
import { clipHeadline, showEnding, showMessage } from './message-lines.js';
import type { Page } from './page.js';
import { requestLines, type Shown } from './request-lines.js';
import type { Style } from './style.js';
import { showToolEnd } from './tool-lines.js';

/** The id in what an answer says of who gave it: people know their terminals by other names. */
const clientId = / \(\w+_\w+\)$/;
const recentMessagesMax = 8;
const resultLinesMax = 20;
const questionLinesMax = 60;
const quotedColumnsMax = 80;
/** What went wrong, and what to do about it, is worth more room. */
const troubleColumnsMax = 400;

export interface LineView {
  /** The newest messages, unless they are not wanted, and what is going on. */
  open(view: SessionView, recent: boolean): void;
  /** An event; whatever it brings that was shown before is not shown again. */
  event(event: WireEvent): void;
  hear(heard: Heard, view: SessionView): void;
  note(text: string): void;
  /** All of a question, however long. */
  question(request: EventPayload<'ui_request'>): void;
}

/** A session as lines, as it happens. `isOwn` knows the answers that were given here. */
export function createLineView(page: Page, style: Style, isOwn: (by: string) => boolean): LineView {
  const stream = createMessageStream((messageId, kind, piece) =>
    page.flow(`${messageId} ${kind}`, piece, kind === 'thinking' ? { paint: style.dim } : {}),
  );
  const shown = new Set<string>();
  const asked = new Set<string>();
  /** Questions that were named and not put yet. */
  const waiting = new Set<string>();
  /** What was shown of lines that stay, by key. */
  const widgets = new Map<string, string>();
  const statuses = new Map<string, string>();
  let named = '';
  /** The newest run whose end was shown. */
  let endedRun = '';

  const note = (text: string): void => page.line(style.dim(text));
  const alarm = (text: string): void => page.line(style.red(text));
  const outputs = createToolOutputs({
    onOutput: (callId, piece) => page.flow(`${callId} output`, piece, { indent: '  ' }),
    onSkipped: (_callId, characters) => note(`  [${characters} characters of its output were skipped]`),
  });
  const quote = (text: string): string => clipColumns(printableLine(text), quotedColumnsMax);

  const trouble = (error: { message: string; cause?: string | undefined }): string => clipTrouble(describeError(error));

  function endMessage(message: Message): void {
    const known = shown.has(message.id);
    shown.add(message.id);
    if (known || message.role === 'tool_result') return;
    if (message.role === 'user') return showMessage(page, style, message);
    const heard = stream.isOpen(message.id);
    const lost = stream.finish(message);
    if (lost > 0) note(`[the last ${lost} characters above were lost with the daemon]`);
    showEnding(page, style, message, heard);
  }

  function catchUp(view: SessionView): void {
    named = shortId(view.state.id);
    const last = view.messages.findLastIndex(({ id }) => shown.has(id));
    const from = last === -1 ? firstRecent(view.messages) : last + 1;
    if (last === -1 && (from > 0 || view.hasMore)) note(`[earlier messages: berth log ${named}]`);
    // A running call is named below, with what it prints.
    const running = new Set(view.tools.map(({ id }) => id));
    for (const message of view.messages.slice(from)) {
      shown.add(message.id);
      if (stream.isOpen(message.id)) stream.finish(message);
      else showMessage(page, style, withoutCalls(message, running), resultLinesMax);
    }
    for (const message of view.open) stream.catchUp(message);
    for (const { id, headline, output, outputOffset } of openCalls(view)) {
      if (!running.has(id)) continue;
      if (!outputs.isOpen(id)) note(`[tool] ${clipHeadline(headline)}`);
      outputs.update(id, outputOffset, output);
    }
    showWidgets(view);
    const { run, lastRun } = view.state;
    if (!run && lastRun && lastRun.id !== endedRun && lastRun.outcome !== 'completed') endRun(lastRun.id, lastRun);
    askNext(view);
  }

  function showQueue({ state }: SessionView): void {
    for (const { kind, text } of state.inputs) note(`[queue] ${inputKindText(kind)} waits: ${quote(text)}`);
  }

  /** A pause with nothing to send is nothing to know. */
  function showPause({ state: { paused, inputs } }: SessionView): void {
    if (inputs.length > 0) note(`[queue] ${paused ? describePause(inputs.length, named) : 'resumed'}`);
  }

  /** Changes that only the whole queue explains. */
  function showQueueChange({ op }: EventPayload<'queue_update'>, view: SessionView): void {
    if (op === 'paused' || op === 'resumed') showPause(view);
    if (op !== 'moved') return;
    note('[queue] the order was changed to:');
    for (const { kind, text } of view.state.inputs) note(`  ${inputKindText(kind)}: ${quote(text)}`);
  }

  /** Lines that stay: there is no place for them here, so they are said again when they change. */
  function showWidget(key: string, lines: readonly string[]): void {
    const text = lines.map((line) => `  ${clipColumns(printableLine(line), quotedColumnsMax)}`).join('\n');
    if (text === (widgets.get(key) ?? '')) return;
    widgets.set(key, text);
    note(text === '' ? `[${quote(key)}] nothing is left` : `[${quote(key)}]`);
    if (text !== '') for (const line of text.split('\n')) page.line(line);
  }

  function showWidgets(view: SessionView): void {
    for (const key of new Set([...widgets.keys(), ...Object.keys(view.widgets)])) showWidget(key, view.widgets[key] ?? []);
  }

  /** A status that is told again, as it is to whoever comes back, is no news. */
  function showStatus({ key, text }: { key: string; text: string }): void {
    if (text === (statuses.get(key) ?? '')) return;
    statuses.set(key, text);
    if (text !== '') note(`[status] ${clipTrouble(describeStatus(text, Date.now()))}`);
  }

  function ask(request: EventPayload<'ui_request'>): void {
    if (asked.has(request.request_id)) return;
    asked.add(request.request_id);
    put(request, { linesMax: questionLinesMax, rest: `/show, or berth answer ${shortId(request.request_id)} --show,` });
  }

  /** What is typed answers the oldest question, so that one is put, and the others when it is their turn. */
  function askNext({ state: { requests } }: SessionView): void {
    const [first, ...others] = requests;
    if (first) ask(first);
    for (const { request_id, params } of others) {
      if (waiting.has(request_id)) continue;
      waiting.add(request_id);
      note(`[question] waits for its turn: ${quote(params.title)}`);
    }
  }

  function put(request: EventPayload<'ui_request'>, shownAs: Shown): void {
    const [title = '', ...more] = requestLines(request, { style, ...shownAs });
    page.line(style.bold(`[question] ${title}`));
    for (const line of more) page.line(`  ${line}`);
    const how = isSecret(request)
      ? `the answer is secret: berth answer ${shortId(request.request_id)} - reads it from standard input`
      : `type ${hintOf(request)}`;
    note(`  ${how}; /skip gives no answer`);
  }

  function resolve({ request_id, outcome, result, secret, by }: EventPayload<'ui_resolved'>): void {
    asked.delete(request_id);
    waiting.delete(request_id);
    const hasAnswer = outcome === 'answered' || (outcome === 'denied' && result !== undefined && result !== null);
    const who = hasAnswer && !isOwn(by) ? ` by ${describeSource(by.replace(clientId, ''))}` : '';
    note(`[question] ${outcome}${hasAnswer && !secret ? `: ${describeAnswer(result)}` : ''}${who}`);
  }

  function changeQueue({ op, input, dropped }: EventPayload<'queue_update'>): void {
    const text = input ? quote(input.text) : '';
    if (op === 'added' && input) note(`[queue] ${inputKindText(input.kind)} waits: ${text}`);
    else if (op === 'edited' || op === 'held' || op === 'released' || op === 'removed') note(`[queue] ${op}: ${text}`);
    else if (op === 'dropped') for (const { text: gone } of dropped ?? []) note(`[queue] dropped: ${quote(gone)}`);
  }

  function endRun(id: string, ended: Pick<EventPayload<'agent_end'>, 'outcome' | 'error'> & { abandoned?: boolean }): void {
    endedRun = id;
    const ending = describeEnding(ended);
    const advice = adviseResume(ending, `/resume here, or berth resume ${named},`);
    const line = `[run] ${clipTrouble(ending.text)}${advice === '' ? '' : `; ${advice}`}`;
    if (ending.level === 'alarm') alarm(line);
    else note(line);
  }

  function changeSession(change: EventPayload<'session_update'>): void {
    if (change.deleted) return note('[session] deleted');
    if (change.created) return;
    if (change.title !== undefined) note(`[session] is now called ${quote(change.title)}`);
    if (change.model !== undefined) note(`[session] model ${quote(change.model)}`);
    if (change.approval_mode !== undefined) note(`[session] mode ${change.approval_mode}: ${modes[change.approval_mode]}`);
    if (change.archived !== undefined) note(change.archived ? '[session] archived' : '[session] back from the archive');
    if (change.leaf_id !== undefined) note('[session] goes on from an earlier message');
  }

  function show(event: WireEvent): void {
    switch (event.type) {
      case 'message_update':
        return stream.update(event.payload);
      case 'message_end':
        if (event.payload.message) return endMessage(event.payload.message);
        if (event.payload.reason === 'retried') note('[that answer failed and is tried again]');
        return stream.drop(event.payload.message_id);
      case 'tool_execution_start':
        outputs.begin(event.payload.tool_call_id);
        return note(`[tool] ${clipHeadline(startedHeadline(event.payload))}`);
      case 'tool_execution_update':
        return outputs.update(event.payload.tool_call_id, event.payload.offset, event.payload.delta);
      case 'tool_execution_end':
        return showToolEnd(page, style, event.payload, outputs.end(event.payload.tool_call_id, event.payload.result));
      case 'ui_request':
        return ask(event.payload);
      case 'ui_resolved':
        return resolve(event.payload);
      case 'queue_update':
        return changeQueue(event.payload);
      case 'agent_start':
        return event.payload.resumes === undefined ? undefined : note(`[run] goes on after ${event.payload.resumes}`);
      case 'agent_end':
        return endRun(event.payload.run_id, event.payload);
      case 'status':
        // The question itself is put.
        if (event.payload.request_id !== undefined) return undefined;
        if (event.payload.run_state !== 'aborting') return note(`[status] ${quote(event.payload.message)}`);
        return note(`[run] stopping${event.payload.message === 'aborting' ? '' : `: ${clipTrouble(event.payload.message)}`}`);
      case 'warning':
        return alarm(`[warning] ${quote(event.payload.message)}`);
      case 'error': {
        const { retry_in_ms: retryMs, attempt = 1, attempts_max: most = attempt } = event.payload;
        // The end of the run says it, and what can be done.
        if (retryMs === undefined) return undefined;
        return alarm(`[error] ${trouble(event.payload)}; tried again in ${formatDuration(retryMs)} (${attempt} of ${most} failed)`);
      }
      case 'compaction_start':
        return note('[summary] old messages are being summarised');
      case 'compaction_end': {
        const { message, error } = event.payload;
        if (message) shown.add(message.id);
        if (message) return showMessage(page, style, message);
        return alarm(`[summary] none was made: ${error ? trouble(error) : 'no reason was given'}`);
      }
      case 'session_update':
        return changeSession(event.payload);
      case 'ui_notify':
        return note(`[notice] ${quote(event.payload.params.message)}`);
      case 'ui_status':
        // Who watches has heard of a failed attempt already.
        if (event.payload.params.key !== 'model') showStatus(event.payload.params);
        return undefined;
      case 'goodbye':
        return event.payload.reason === 'shutting_down' ? note('[daemon] stops') : undefined;
      default:
        return undefined;
    }
  }

  return {
    open(view, recent) {
      if (!recent) for (const { id } of view.messages) shown.add(id);
      catchUp(view);
      if (recent) showQueue(view);
      if (view.state.paused) showPause(view);
      for (const [key, text] of Object.entries(view.status)) showStatus({ key, text });
      if (view.state.compaction) note('[summary] old messages are being summarised');
    },
    event: show,
    hear(heard, view) {
      if (heard.kind === 'event' && heard.event.type !== 'ui_request') show(heard.event);
      if (heard.kind === 'event' && heard.event.type === 'queue_update') showQueueChange(heard.event.payload, view);
      if (heard.kind === 'event') askNext(view);
      // Not in the middle of what is being said.
      if (heard.kind === 'event' && view.open.length === 0) showWidgets(view);
      if (heard.kind === 'reset') catchUp(view);
      if (heard.kind === 'lost') note('[daemon] lost connection…');
      if (heard.kind === 'back') note('[daemon] back');
    },
    note,
    question: (request) => put(request, {}),
  };
}

/** Where the newest few messages begin; with what a person said, if that is among them. */
function firstRecent(messages: Message[]): number {
  const from = Math.max(0, messages.length - recentMessagesMax);
  const asked = messages.findIndex(({ role }, at) => at >= from && role === 'user');
  return asked === -1 ? from : asked;
}

function withoutCalls(message: Message, ids: ReadonlySet<string>): Message {
  return { ...message, content: message.content.filter((block) => block.type !== 'tool_call' || !ids.has(block.id)) };
}

function clipTrouble(text: string): string {
  return clipColumns(printableLine(text), troubleColumnsMax);
}

/** Who or what resolved a question. */
function describeSource(by: string): string {
  if (by === 'mode') return 'the new mode';
  return by === 'rule' ? 'a new rule' : printableLine(by);
}

import type { Heard } from '../../client/attach.js';
import type { EventPayload, WireEvent } from '../../protocol/events.js';
import { noSession } from '../../protocol/ids.js';
import type { Message } from '../../protocol/messages.js';
import { createMessageStream } from '../../view/message-stream.js';
import { compactionNotice, noticesOf, resolvedNotice, statusNotice, waitingNotice, type Notice } from '../../view/notices.js';
import { printableLine } from '../../view/printable.js';
import { inputKindText } from '../../view/queue-text.js';
import { describeEnding } from '../../view/run-outcome.js';
import type { SessionView } from '../../view/session-view.js';
import { shortId } from '../../view/short-ids.js';
import { openCalls } from '../../view/tools/open-calls.js';
import { startedHeadline } from '../../view/tools/tool-headline.js';
import { createToolOutputs } from '../../view/tools/tool-output.js';
import { adviseResume, describePause } from '../advice.js';
import { clipColumns } from '../terminal/columns.js';
import { clipHeadline, showEnding, showMessage } from './message-lines.js';
import type { LineWriter } from '../terminal/line-writer.js';
import { questionLines, type ShowOptions } from './request-lines.js';
import type { Style } from '../terminal/style.js';
import { showToolEnd } from './tool-lines.js';

const layout = {
  recentMessagesMax: 8,
  resultLinesMax: 20,
  questionLinesMax: 60,
  quotedColumnsMax: 80,
  /** Errors and their remedies get more columns. */
  troubleColumnsMax: 400,
} as const;

/** The key of what a tool says that it is doing, among the statuses. */
const workingKey = ' working';

export interface LineView {
  /** Shows the newest messages, if `recent`, and the current state. */
  open(view: SessionView, recent: boolean): void;
  /** Shows an event, without what was shown before. */
  event(event: WireEvent): void;
  hear(heard: Heard, view: SessionView): void;
  note(text: string): void;
  /** Shows all of a question, untruncated. */
  question(request: EventPayload<'ui_request'>): void;
}

/** Renders a session as lines while it runs. `isOwn` tells whether an answer came from this client; an observer can give none. */
export function createLineView(page: LineWriter, style: Style, isOwn: (by: string) => boolean, { isObserver = false } = {}): LineView {
  const stream = createMessageStream((messageId, kind, piece) =>
    page.flow(`${messageId} ${kind}`, piece, kind === 'thinking' ? { paint: style.dim } : {}),
  );
  const shown = new Set<string>();
  const shownRequests = new Set<string>();
  /** Questions that were announced but not shown yet. */
  const announcedRequests = new Set<string>();
  /** The last shown text of each widget, by key. */
  const widgets = new Map<string, string>();
  const statuses = new Map<string, string>();
  let sessionName = '';
  /** The newest run whose end was shown. */
  let endedRun = '';

  const note = (text: string): void => page.line(style.dim(text));
  const alarm = (text: string): void => page.line(style.red(text));
  const outputs = createToolOutputs({
    onOutput: (callId, piece) => page.flow(`${callId} output`, piece, { indent: '  ' }),
    onSkipped: (_callId, characters) => note(`  [${characters} characters of its output were skipped]`),
  });
  const quote = (text: string): string => clipColumns(printableLine(text), layout.quotedColumnsMax);

  function endMessage(message: Message): void {
    const wasShown = shown.has(message.id);
    shown.add(message.id);
    if (wasShown || message.role === 'tool_result') return;
    if (message.role === 'user') return showMessage(page, style, message);
    const heard = stream.isOpen(message.id);
    const lost = stream.finish(message);
    if (lost > 0) note(`[the last ${lost} characters above were lost with the daemon]`);
    showEnding(page, style, message, heard);
  }

  function catchUp(view: SessionView): void {
    sessionName = shortId(view.state.id);
    const last = view.messages.findLastIndex(({ id }) => shown.has(id));
    const from = last === -1 ? firstRecent(view.messages) : last + 1;
    if (last === -1 && (from > 0 || view.hasMore)) note(`[earlier messages: berth log ${sessionName}]`);
    // Running calls are shown below, with their output.
    const running = new Set(view.tools.map(({ id }) => id));
    for (const message of view.messages.slice(from)) {
      shown.add(message.id);
      if (stream.isOpen(message.id)) stream.finish(message);
      else showMessage(page, style, withoutCalls(message, running), layout.resultLinesMax);
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
    state.inputs.map(waitingNotice).forEach(notify);
  }

  /** A paused queue is shown only when something waits. */
  function showPause({ state: { paused, inputs } }: SessionView): void {
    if (inputs.length > 0) note(`[queue] ${paused ? describePause(inputs.length, sessionName) : 'resumed'}`);
  }

  /** Shows queue changes that need the whole queue: pause, resume and reordering. */
  function showQueueChange({ op }: EventPayload<'queue_update'>, view: SessionView): void {
    if (op === 'paused' || op === 'resumed') showPause(view);
    if (op !== 'moved') return;
    note('[queue] the order was changed to:');
    for (const { kind, text } of view.state.inputs) note(`  ${inputKindText(kind)}: ${quote(text)}`);
  }

  /** A widget has no fixed place in a line view, so it is printed again when it changes. */
  function showWidget(key: string, lines: readonly string[]): void {
    const text = lines.map((line) => `  ${clipColumns(printableLine(line), layout.quotedColumnsMax)}`).join('\n');
    if (text === (widgets.get(key) ?? '')) return;
    widgets.set(key, text);
    note(text === '' ? `[${quote(key)}] nothing is left` : `[${quote(key)}]`);
    if (text !== '') for (const line of text.split('\n')) page.line(line);
  }

  function showWidgets(view: SessionView): void {
    for (const key of new Set([...widgets.keys(), ...Object.keys(view.widgets)])) showWidget(key, view.widgets[key] ?? []);
  }

  /** Shows a status, unless it repeats the last one, as after a reconnect. */
  function showStatus({ key, text }: { key: string; text: string }): void {
    if (text === (statuses.get(key) ?? '')) return;
    statuses.set(key, text);
    if (text !== '') notify(statusNotice(text, Date.now()));
  }

  function ask(request: EventPayload<'ui_request'>): void {
    if (shownRequests.has(request.request_id)) return;
    shownRequests.add(request.request_id);
    showRequest(request, { linesMax: layout.questionLinesMax, rest: `/show, or berth answer ${shortId(request.request_id)} --show,` });
  }

  /** Shows the oldest question, which a typed line answers, and announces the others. */
  function askNext({ state: { requests } }: SessionView): void {
    const [first, ...others] = requests;
    if (first) ask(first);
    for (const { request_id, params } of others) {
      if (announcedRequests.has(request_id)) continue;
      announcedRequests.add(request_id);
      note(`[question] waits for its turn: ${quote(params.title)}`);
    }
  }

  function showRequest(request: EventPayload<'ui_request'>, shownAs: ShowOptions): void {
    questionLines(request, { style, isObserver, ...shownAs }).forEach(page.line);
  }

  function resolve(resolved: EventPayload<'ui_resolved'>): void {
    shownRequests.delete(resolved.request_id);
    announcedRequests.delete(resolved.request_id);
    notify(resolvedNotice(resolved, isOwn(resolved.by)));
  }

  function endRun(id: string, ended: Pick<EventPayload<'agent_end'>, 'outcome' | 'error'> & { abandoned?: boolean }): void {
    endedRun = id;
    const ending = describeEnding(ended);
    const advice = adviseResume(ending, isObserver ? `berth resume ${sessionName}` : `/resume here, or berth resume ${sessionName},`);
    const line = `[run] ${clipTrouble(ending.text)}${advice === '' ? '' : `; ${advice}`}`;
    if (ending.level === 'alarm') alarm(line);
    else note(line);
  }

  function notify({ about, level, text }: Notice): void {
    (level === 'alarm' ? alarm : note)(`[${about}] ${text}`);
  }

  function show(event: WireEvent): void {
    if ('session_id' in event.payload && event.payload.session_id !== noSession) sessionName = shortId(event.payload.session_id);
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
      case 'agent_end':
        return endRun(event.payload.run_id, event.payload);
      case 'ui_status':
        // Model retries were shown as errors already.
        if (event.payload.params.key !== 'model') showStatus(event.payload.params);
        return undefined;
      case 'ui_working':
        return showStatus({ key: workingKey, text: event.payload.params.message });
      case 'ui_set_editor_text':
        return note(`[offered] a text to send: ${quote(event.payload.params.text)}`);
      case 'compaction_end':
        if (!event.payload.message) break;
        shown.add(event.payload.message.id);
        return showMessage(page, style, event.payload.message);
      default:
        break;
    }
    noticesOf(event).forEach(notify);
  }

  return {
    open(view, recent) {
      if (!recent) for (const { id } of view.messages) shown.add(id);
      catchUp(view);
      if (recent) showQueue(view);
      if (view.state.paused) showPause(view);
      for (const [key, text] of Object.entries({ ...view.status, [workingKey]: view.working })) showStatus({ key, text });
      if (view.state.compaction) notify(compactionNotice);
    },
    event: show,
    hear(heard, view) {
      if (heard.kind === 'event' && heard.event.type !== 'ui_request') show(heard.event);
      if (heard.kind === 'event' && heard.event.type === 'queue_update') showQueueChange(heard.event.payload, view);
      if (heard.kind === 'event') askNext(view);
      // Not in the middle of a streaming message.
      if (heard.kind === 'event' && view.open.length === 0) showWidgets(view);
      if (heard.kind === 'reset') catchUp(view);
      if (heard.kind === 'lost')
        note(heard.why === undefined ? '[daemon] lost connection…' : `[daemon] ${printableLine(heard.why)}; still trying`);
      if (heard.kind === 'back') note('[daemon] back');
    },
    note,
    question: (request) => showRequest(request, {}),
  };
}

/** The index of the first recent message, preferably one of a person. */
function firstRecent(messages: Message[]): number {
  const from = Math.max(0, messages.length - layout.recentMessagesMax);
  const firstPrompt = messages.findIndex(({ role }, at) => at >= from && role === 'user');
  return firstPrompt === -1 ? from : firstPrompt;
}

function withoutCalls(message: Message, ids: ReadonlySet<string>): Message {
  return { ...message, content: message.content.filter((block) => block.type !== 'tool_call' || !ids.has(block.id)) };
}

function clipTrouble(text: string): string {
  return clipColumns(printableLine(text), layout.troubleColumnsMax);
}

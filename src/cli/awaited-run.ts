import type { AttachedSession, Heard } from '../client/attach.js';
import type { Berth } from '../client/connect.js';
import type { RunError, RunOutcome, WireEvent } from '../protocol/events.js';
import type { Message } from '../protocol/messages.js';
import type { UiRequest } from '../protocol/requests/requests.js';
import { formatDuration } from '../view/durations.js';
import { createMessageStream } from '../view/message-stream.js';
import { printableLine } from '../view/printable.js';
import { findRun } from '../view/run-outcome.js';
import type { SessionView } from '../view/session-view.js';
import { orRefused } from './refusals.js';

export interface AwaitedRun {
  /** The run that ended: the one that was waited for, or the one that continued it after an interruption. */
  runId: string;
  outcome: RunOutcome;
  error: RunError | null;
  /** The text of the last answer. */
  output: string;
}

type LastRun = Pick<AwaitedRun, 'outcome' | 'error'>;

interface TextWatcher {
  /** A delta of an answer's text. */
  onText(messageId: string, piece: string): void;
  /** A notice during the wait. */
  onNotice(line: string): void;
}

interface AskedWatcher extends TextWatcher {
  /** A question of the run waits for a person; called once for each. */
  onAsked(request: UiRequest): void;
}

export interface RunWatcher extends TextWatcher {
  /** The requests that are open now; called when that may have changed. */
  onRequests(requests: readonly UiRequest[]): void;
  /** Everything that is heard, after its text was streamed. */
  onHeard(heard: Heard): void;
}

/** Waits for the end of a run, and streams the text of its answers without repetition. */
export async function awaitRun(
  berth: Berth,
  sessionId: string,
  runId: string,
  { onText, onNotice, onAsked }: AskedWatcher,
): Promise<AwaitedRun> {
  const attached = await berth.attach(sessionId);
  const announced = new Set<string>();
  try {
    return await followRun(berth, attached, runId, {
      onText,
      onNotice,
      onHeard: () => undefined,
      onRequests(requests) {
        for (const request of requests.filter(({ request_id }) => !announced.has(request_id))) {
          announced.add(request.request_id);
          onAsked(request);
        }
      },
    });
  } finally {
    attached.close();
  }
}

/** The same for a session that is attached already, whose run may be in its view or yet to come. */
export async function followRun(berth: Berth, attached: AttachedSession, firstRunId: string, watcher: RunWatcher): Promise<AwaitedRun> {
  const { onText, onNotice, onRequests, onHeard } = watcher;
  const stream = createMessageStream((messageId, kind, piece) => {
    if (kind !== 'text') return;
    output = messageId === currentMessage ? output + piece : piece;
    currentMessage = messageId;
    onText(messageId, piece);
  });
  const finished = new Set<string>();
  let runId = firstRunId;
  let currentMessage = '';
  let output = '';

  function finish(message: Message): void {
    if (message.run_id !== runId || message.role !== 'assistant' || finished.has(message.id)) return;
    finished.add(message.id);
    stream.finish(message);
    if (message.stop_reason === 'length') onNotice('the answer was truncated: it reached the output limit of the model');
    // A truncated message has only the beginning of its text.
    if (!message.truncated) output = message.text;
  }

  function catchUp(view: SessionView): void {
    view.messages.forEach(finish);
    if (view.state.run?.id === runId) view.open.forEach(stream.catchUp);
    onRequests(view.state.requests);
  }

  /** The outcome of the run in this view; undefined while it is in progress. */
  async function endIn(view: SessionView): Promise<LastRun | undefined> {
    const found = findRun(view, runId);
    if (found.state === 'ended') return found.end;
    if (found.state !== 'replaced') return undefined;
    if (await continues()) {
      catchUp(view);
      return endIn(view);
    }
    const { runs } = orRefused(await berth.call('list_runs', { session_id: view.state.id }));
    const run = runs.find(({ run_id }) => run_id === runId);
    return { outcome: run?.outcome ?? 'interrupted', error: run?.error ?? null };
  }

  /** Whether the daemon itself continues the interrupted run, which is then waited for. */
  async function continues(): Promise<boolean> {
    const { id, recovery } = attached.view().state;
    if (recovery !== 'continue') return false;
    const { runs } = orRefused(await berth.call('list_runs', { session_id: id }));
    const next = runs.find(({ resumes }) => resumes === runId);
    runId = next?.run_id ?? runId;
    return next !== undefined;
  }

  function showEvent(event: WireEvent): void {
    if (event.type === 'message_update' && event.payload.run_id === runId) stream.update(event.payload);
    if (event.type === 'message_end' && event.payload.message) finish(event.payload.message);
    if (event.type === 'message_end' && event.payload.reason === 'retried') stream.drop(event.payload.message_id);
    if (event.type === 'error' && event.payload.retry_in_ms !== undefined) {
      onNotice(`${printableLine(event.payload.message)}; the answer is asked for again in ${formatDuration(event.payload.retry_in_ms)}`);
    }
    if (event.type === 'ui_request' || event.type === 'ui_resolved') onRequests(attached.view().state.requests);
  }

  /** The outcome of the run from its events; undefined after a reset, when the view must be read again. */
  async function listen(): Promise<LastRun | undefined> {
    for await (const heard of attached) {
      if (heard.kind === 'reset') {
        onHeard(heard);
        return undefined;
      }
      if (heard.kind === 'lost') onNotice(heard.why === undefined ? 'lost connection…' : printableLine(`${heard.why}; still trying`));
      if (heard.kind === 'back') onNotice('back');
      if (heard.kind === 'event') showEvent(heard.event);
      onHeard(heard);
      if (heard.kind !== 'event') continue;
      const { event } = heard;
      if (event.type !== 'agent_end' || event.payload.run_id !== runId) continue;
      if (event.payload.outcome !== 'interrupted' || !(await continues())) return event.payload;
    }
    return { outcome: 'aborted', error: { code: 'session_not_found', message: 'the session was deleted' } };
  }

  for (;;) {
    const view = attached.view();
    catchUp(view);
    const end = (await endIn(view)) ?? (await listen());
    if (end) return { runId, outcome: end.outcome, error: end.error, output };
  }
}

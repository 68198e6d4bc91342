import type { SessionState } from '../core/session.js';
import type { ServedEngine } from '../engine/engine.js';
import { until } from '../engine/door/wakes.js';
import { encodeDurable, encodeLive } from '../protocol/encode.js';
import type { DurableEvent } from '../protocol/events.js';
import { limits } from '../protocol/limits.js';
import type { RunRow } from '../protocol/views.js';
import type { DaemonFacts } from './handler-context.js';
import { refused, refusedWith, rejected, reply, type Answer } from './handler.js';
import { fitting } from './pages.js';

export interface AwaitedRun {
  sessionId: string;
  runId: string;
  inputId: string;
}

/** The deferred reply to a prompt with `wait`: the outcome of the run. Undefined when the connection is closed. */
export async function waitForRun(
  engine: ServedEngine,
  { sessionId, runId, inputId }: AwaitedRun,
  gone: AbortSignal,
): Promise<(() => Answer) | undefined> {
  const { store, wakes } = engine;
  const ended = await until(wakes, sessionId, gone, () => {
    const run = store.runs.find(runId);
    if (run) return run.state === 'ended' ? run : undefined;
    // The run of an input that was accepted during an abort has yet to begin; the runs of a deleted session are gone.
    return store.sessions.exists(sessionId) ? undefined : 'deleted';
  });
  return ended && (() => toAnswer(engine, { sessionId, runId, inputId }, ended));
}

/** The deferred reply to a drain, once the last active run has ended. Runs that only wait for a person survive a restart. */
export async function waitUntilDrained({ store, wakes }: ServedEngine, gone: AbortSignal): Promise<(() => Answer) | undefined> {
  const isAtWork = ({ sessionId, runId }: { sessionId: string; runId: string }): boolean =>
    store.runs.activeHead(sessionId)?.id === runId && store.requests.open(sessionId).length === 0;
  for (;;) {
    const next = store.runs.allActive().find(isAtWork);
    if (!next) return () => reply<'drain'>('accepted', { command: 'drain' });
    const isOver = (): true | undefined => (isAtWork(next) ? undefined : true);
    if ((await until(wakes, next.sessionId, gone, isOver)) === undefined) return undefined;
  }
}

/** The deferred reply to a shutdown, once all runs are settled; the rest of the shutdown follows. */
export async function waitUntilSettled(daemon: DaemonFacts): Promise<() => Answer> {
  await daemon.shutdown();
  return () => reply<'shutdown'>('accepted', { command: 'shutdown' });
}

/** The deferred reply to back_up_store. */
export async function waitForBackup(daemon: DaemonFacts, path: string, overwrite: boolean): Promise<() => Answer> {
  const done = await daemon.backUpStore(path, overwrite);
  if (typeof done !== 'number') return () => refused(done);
  return () => reply<'back_up_store'>('accepted', { command: 'back_up_store', path, bytes: done });
}

/** Deferred replies to list_models: clients that ask at the same time share one round of questions to the providers. */
export function createModelLists(engine: ServedEngine, defaultModel: () => string): () => Promise<() => Answer> {
  type Providers = ReturnType<ServedEngine['providers']>;
  let asking: { providers: Providers; list: ReturnType<Providers['list']> } | undefined;

  async function ask(): ReturnType<Providers['list']> {
    const providers = engine.providers();
    // A config that was read meanwhile has providers of its own.
    if (asking?.providers !== providers) asking = { providers, list: providers.list() };
    const mine = asking;
    try {
      return await mine.list;
    } finally {
      if (asking === mine) asking = undefined;
    }
  }

  return async () => {
    const { models, providers } = await ask();
    const shown = fitting(models);
    return () =>
      reply<'list_models'>('models', { models: shown, providers, default: defaultModel(), has_more: shown.length < models.length });
  };
}

export interface AwaitedFiles {
  query: string;
  limit: number;
}

/** The deferred reply to list_files, once the directory was looked through or the time for it is over. */
export async function waitForFiles(
  { fileSearch }: ServedEngine,
  state: SessionState,
  { query, limit }: AwaitedFiles,
): Promise<() => Answer> {
  const { files, total, truncated } = await fileSearch.find(state, query, limit);
  return () => reply<'list_files'>('files', { files: fitting(files), total, truncated });
}

/** The deferred reply to compact_session: the first compaction_end event after a position of the log. */
export async function waitForCompaction(
  { store, wakes }: ServedEngine,
  sessionId: string,
  after: number,
  gone: AbortSignal,
): Promise<(() => Answer) | undefined> {
  const ended = await until(wakes, sessionId, gone, () => {
    if (!store.sessions.exists(sessionId)) return 'deleted';
    return store.log.firstOf(sessionId, 'compaction_end', after);
  });
  if (!ended) return undefined;
  if (ended === 'deleted') return () => rejected('aborted', 'the session was deleted');
  const { error, message, summary = '', first_kept_entry_id = '', tokens_before, tokens_after = 0, trigger } = ended.payload;
  if (message) {
    const facts = { session_id: sessionId, summary, first_kept_entry_id, tokens_before, tokens_after, trigger };
    return () => reply<'compact_session'>('compaction', facts, ended.seq);
  }
  if (error?.message === 'nothing_to_compact') return () => rejected('nothing_to_compact', error.cause);
  if (error?.code !== 'provider_error') return () => rejected('aborted', error?.message);
  return () => refusedWith('provider_error', error.cause === undefined ? error.message : `${error.message}: ${error.cause}`);
}

function toAnswer({ store }: ServedEngine, { sessionId, runId, inputId }: AwaitedRun, ended: RunRow | 'deleted'): Answer {
  if (ended === 'deleted') return rejected('aborted', 'the session was deleted');
  if (ended.outcome === 'failed') {
    const { message, cause } = ended.error ?? { message: 'the run failed' };
    return refusedWith('provider_error', cause === undefined ? message : `${message}: ${cause}`, { run_id: runId, session_id: sessionId });
  }
  if (ended.outcome !== 'completed') return rejected('aborted', `the run was ${ended.outcome ?? 'stopped'}`);
  const events = store.log.ofRun(runId, store.log.head(), limits.waitedEventsMax);
  return reply<'prompt'>('result', {
    output: lastAnswerText(events),
    events: toWire(events),
    session_id: sessionId,
    run_id: runId,
    input_id: inputId,
    outcome: ended.outcome,
  });
}

function lastAnswerText(events: readonly DurableEvent[]): string {
  const last = events.findLast((event) => event.type === 'message_end' && event.payload.role === 'assistant' && event.payload.message);
  return last?.type === 'message_end' ? (last.payload.message?.text ?? '') : '';
}

/** The newest events that fit a reply, each message's text once as a delta before its message_end. */
function toWire(events: readonly DurableEvent[]): unknown[] {
  const lines = events.flatMap((event) => [...toTextDelta(event), encodeDurable(event)]);
  let bytes = 0;
  const newest: unknown[] = [];
  for (const line of lines.reverse()) {
    bytes += Buffer.byteLength(line);
    if (bytes > limits.waitedEventsBytesMax || newest.length === limits.waitedEventsMax) break;
    newest.push(JSON.parse(line));
  }
  return newest.reverse();
}

function toTextDelta(event: DurableEvent): string[] {
  if (event.type !== 'message_end' || event.payload.role !== 'assistant' || !event.payload.message) return [];
  const { session_id, run_id, turn_id, message_id, message } = event.payload;
  const block = message.content.findIndex(({ type }) => type === 'text');
  if (block === -1) return [];
  const payload = { session_id, run_id, turn_id, message_id, block, offset: 0, delta: message.text };
  return [encodeLive({ type: 'message_update', payload }, event.seq, event.ts)];
}

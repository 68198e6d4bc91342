import { limits } from '../../protocol/limits.js';
import { AnswerTooLong, UnexpectedAnswer, type StreamState } from '../http/sse-guard.js';
import { cutFailure, emptyFailure, stalledFailure, toFailure, type FailureContext } from '../failures.js';
import { allFeatures, fallbackAfter, type RequestFeatures } from './request-fallbacks.js';
import type { ModelDelta, ModelFailure, ModelRequest } from '../port.js';
import { credentialsIn } from '../secrets.js';
import { modelIdOf, type FoundKey, type ProviderSettings } from '../settings.js';
import { createIdleTimeout, type IdleTimeout } from '../http/idle-timeout.js';
import { createWatchedFetch } from '../http/watched-fetch.js';

/** Constructor options of both SDKs. */
export interface ClientOptions {
  apiKey: string;
  baseURL: string;
  defaultHeaders: Record<string, string | null>;
  fetch: typeof fetch;
  maxRetries: number;
  timeout: number;
  logLevel: 'off';
}

/** An API adapter: opens a stream of events, and converts each event into deltas. */
export interface Dialect<Event> {
  /** About how many bytes its SDK is given at a time. */
  pieceBytes: number;
  open(features: RequestFeatures, options: ClientOptions, signal: AbortSignal): Promise<AsyncIterable<Event>>;
  /** A reader for one response. It emits `end` or `failure`, from `ended` at the latest. */
  reader(context: FailureContext): Reader<Event>;
}

export interface Reader<Event> {
  read(event: Event): Exclude<ModelDelta, { type: 'begin' }>[];
  /** The final delta at the end of the stream, `isWhole` if its last event came; undefined when the stream was cut off. */
  ended(isWhole: boolean): ModelDelta | undefined;
}

/** Requests one response and streams its deltas. Every error becomes a `failure` delta; nothing is thrown. */
export async function* streamResponse<Event extends object>(
  dialect: Dialect<Event>,
  settings: ProviderSettings,
  request: ModelRequest,
  signal: AbortSignal,
): AsyncGenerator<ModelDelta, void> {
  const context: FailureContext = {
    provider: settings.name,
    model: modelIdOf(request.model),
    keySource: null,
    remedy: '',
    secrets: credentialsIn(settings.headers),
  };
  const stalled = (): ModelFailure => stalledFailure(context, settings.idleMs);
  const stop = new AbortController();
  const onAbort = (): void => stop.abort();
  signal.addEventListener('abort', onAbort, { once: true });
  const idleTimeout = createIdleTimeout(settings.idleMs, () => stop.abort());
  const streamState: StreamState = { isWhole: false };
  let reader: Reader<Event> | undefined;
  let begun = false;
  // An empty answer is valid after tool results.
  const needsContent = request.messages.at(-1)?.role !== 'tool_result';
  let hasContent = false;
  let isLast = false;
  try {
    if (signal.aborted) return;
    const opened = await openWithKey(dialect, settings, context, { idleTimeout, streamState }, stop.signal);
    if ('problem' in opened) {
      yield { type: 'failure', message: opened.problem };
      return;
    }
    reader = dialect.reader(context);
    const events: AsyncIterator<Event, unknown> = opened.events[Symbol.asyncIterator]();
    for (let next = await events.next(); next.done !== true; next = await events.next()) {
      idleTimeout.listen(false);
      const deltas = readEvent(reader, next.value);
      if (!begun && deltas[0]?.type !== 'failure') yield { type: 'begin' };
      begun = true;
      for (const read of deltas) {
        hasContent ||= isContent(read);
        const delta = !hasContent && needsContent && isPlainEnd(read) ? toFailed(emptyFailure(context, read.usage)) : read;
        isLast = delta.type === 'end' || delta.type === 'failure';
        if (isLast) void drain(events, stop);
        yield delta;
        if (isLast) return;
      }
      idleTimeout.listen(true);
    }
    isLast = true;
    // The stream of an SDK ends without an error on abort.
    if (isAborted(signal)) return;
    const end = reader.ended(streamState.isWhole) ?? toFailed(isAborted(stop.signal) ? stalled() : cutFailure(context));
    yield !hasContent && needsContent && isPlainEnd(end) ? toFailed(emptyFailure(context, end.usage)) : end;
  } catch (error) {
    // An error after the stop reason is ignored: `ended` gives the result.
    if (!isAborted(signal)) yield reader?.ended(false) ?? toFailed(isAborted(stop.signal) ? stalled() : toFailure(error, context));
  } finally {
    idleTimeout.stop();
    signal.removeEventListener('abort', onAbort);
    // A consumer that stops iterating closes the connection.
    if (!isLast) stop.abort();
  }
}

/** Text or a tool call: thinking alone is no answer. */
function isContent(delta: ModelDelta): boolean {
  return delta.type === 'tool_call' || (delta.type === 'text' && delta.text.trim() !== '');
}

function isPlainEnd(delta: ModelDelta): delta is ModelDelta & { type: 'end' } {
  return delta.type === 'end' && delta.stopReason !== 'length';
}

function toFailed(failure: ModelFailure): ModelDelta {
  return { type: 'failure', ...failure };
}

function readEvent<Event>(reader: Reader<Event>, event: Event): ReturnType<Reader<Event>['read']> {
  try {
    return reader.read(event);
  } catch (cause) {
    if (cause instanceof AnswerTooLong) throw cause;
    throw new UnexpectedAnswer('something that is not understood', { cause });
  }
}

/** A function, because TypeScript would narrow `signal.aborted` across an await. */
function isAborted({ aborted }: AbortSignal): boolean {
  return aborted;
}

/** Opens the stream with the provider's key. A cached key that is refused (401) is looked up once again. */
async function openWithKey<Event>(
  dialect: Dialect<Event>,
  settings: ProviderSettings,
  context: FailureContext,
  { idleTimeout, streamState }: { idleTimeout: IdleTimeout; streamState: StreamState },
  signal: AbortSignal,
): Promise<{ events: AsyncIterable<Event> } | { problem: string }> {
  for (;;) {
    const found = await rejectOnAbort(settings.findKey(), signal);
    if ('problem' in found) return found;
    context.keySource = found.key === null ? null : found.source;
    context.remedy = found.remedy;
    context.secrets = [...(found.key === null ? [] : [found.key]), ...credentialsIn(settings.headers)];
    try {
      const watchedFetch = createWatchedFetch(settings.httpFetch, idleTimeout, streamState, dialect.pieceBytes);
      return { events: await openStream(dialect, toOptions(settings, found, watchedFetch), signal) };
    } catch (error) {
      if (statusOf(error) === 401) settings.forgetKey();
      if (statusOf(error) !== 401 || !found.remembered || signal.aborted) throw error;
      idleTimeout.listen(false);
    }
  }
}

/** Rejects on abort, even while the promise is pending. */
function rejectOnAbort<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const onAbort = (): void => reject(signal.reason as Error);
    signal.addEventListener('abort', onAbort, { once: true });
    promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', onAbort));
  });
}

/** A placeholder: local servers need no key, but the SDKs require one. */
const noKey = 'none';

function toOptions(settings: ProviderSettings, { key }: FoundKey, watchedFetch: typeof fetch): ClientOptions {
  return {
    apiKey: key ?? noKey,
    baseURL: settings.baseUrl,
    defaultHeaders: { ...(key === null ? { authorization: null } : {}), ...settings.headers },
    fetch: watchedFetch,
    maxRetries: 0,
    // Silence is watched here, where a suspended or busy machine is not mistaken for a silent server.
    timeout: limits.timerMaxMs,
    logLevel: 'off',
  };
}

/** Opens the stream, and retries without an optional feature that the provider refuses. */
async function openStream<Event>(dialect: Dialect<Event>, options: ClientOptions, signal: AbortSignal): Promise<AsyncIterable<Event>> {
  for (let features = allFeatures; ;) {
    try {
      return await dialect.open(features, options, signal);
    } catch (error) {
      const fallback = signal.aborted ? undefined : fallbackAfter(error, features);
      if (!fallback) throw error;
      features = fallback;
    }
  }
}

function statusOf(error: unknown): number | undefined {
  return error instanceof Error && 'status' in error && typeof error.status === 'number' ? error.status : undefined;
}

/** Drains the response, so that the connection can be reused (keep-alive), under a timeout. */
async function drain(events: AsyncIterator<unknown>, stop: AbortController): Promise<void> {
  const timer = setTimeout(() => stop.abort(), limits.modelCloseMs);
  try {
    while ((await events.next()).done !== true) continue;
  } catch (error) {
    // An error after the final delta is ignored.
    stop.abort(error);
  } finally {
    clearTimeout(timer);
  }
}

import { limits } from '../../protocol/limits.js';
import { AnswerTooLong, OddAnswer, type Arrival } from '../http/sse-guard.js';
import { cutFailure, emptyFailure, stalledFailure, toFailure, type Asked } from '../failures.js';
import { allFeatures, fallbackAfter, type RequestFeatures } from './request-fallbacks.js';
import type { ModelDelta, ModelFailure, ModelRequest } from '../port.js';
import { credentialsIn } from '../secrets.js';
import { modelIdOf, type FoundKey, type ProviderSettings } from '../settings.js';
import { createIdleTimeout, type IdleTimeout } from '../http/idle-timeout.js';
import { createWatchedFetch } from '../http/watched-fetch.js';

/** What an SDK's client is made with. */
export interface ClientOptions {
  apiKey: string;
  baseURL: string;
  defaultHeaders: Record<string, string | null>;
  fetch: typeof fetch;
  maxRetries: number;
  timeout: number;
  logLevel: 'off';
}

/** One API: how a stream of its events is opened, and what each event says. */
export interface Dialect<Event> {
  /** About how many bytes its SDK is given at a time. */
  pieceBytes: number;
  open(manner: RequestFeatures, options: ClientOptions, signal: AbortSignal): Promise<AsyncIterable<Event>>;
  /** A reader for one response. Says `end` or `failure` itself, from `ended` at the latest. */
  reader(asked: Asked): Reader<Event>;
}

export interface Reader<Event> {
  read(event: Event): Exclude<ModelDelta, { type: 'begin' }>[];
  /** What a stream that is over comes to, `isWhole` when its last event said so; undefined when it was cut. */
  ended(isWhole: boolean): ModelDelta | undefined;
}

/** Asks for one response and reads it to its end. Whatever goes wrong is said as a failure; nothing is thrown. */
export async function* streamResponse<Event extends object>(
  dialect: Dialect<Event>,
  settings: ProviderSettings,
  request: ModelRequest,
  signal: AbortSignal,
): AsyncGenerator<ModelDelta, void> {
  const asked: Asked = {
    provider: settings.name,
    model: modelIdOf(request.model),
    keySource: null,
    remedy: '',
    secrets: credentialsIn(settings.headers),
  };
  const stalled = (): ModelFailure => stalledFailure(asked, settings.idleMs);
  const stop = new AbortController();
  const onAbort = (): void => stop.abort();
  signal.addEventListener('abort', onAbort, { once: true });
  const silence = createIdleTimeout(settings.idleMs, () => stop.abort());
  const arrival: Arrival = { isWhole: false };
  let reader: Reader<Event> | undefined;
  let begun = false;
  // After the results of its tools a model may have nothing to add.
  const mustSpeak = request.messages.at(-1)?.role !== 'tool_result';
  let hasSpoken = false;
  let closes = false;
  try {
    if (signal.aborted) return;
    const opened = await openWithKey(dialect, settings, asked, { silence, arrival }, stop.signal);
    if ('problem' in opened) {
      yield { type: 'failure', message: opened.problem };
      return;
    }
    reader = dialect.reader(asked);
    const events: AsyncIterator<Event, unknown> = opened.events[Symbol.asyncIterator]();
    for (let next = await events.next(); next.done !== true; next = await events.next()) {
      silence.listen(false);
      const deltas = readEvent(reader, next.value);
      if (!begun && deltas[0]?.type !== 'failure') yield { type: 'begin' };
      begun = true;
      for (const read of deltas) {
        hasSpoken ||= isSpoken(read);
        const delta = !hasSpoken && mustSpeak && isPlainEnd(read) ? toFailed(emptyFailure(asked, read.usage)) : read;
        closes = delta.type === 'end' || delta.type === 'failure';
        if (closes) void letClose(events, stop);
        yield delta;
        if (closes) return;
      }
      silence.listen(true);
    }
    closes = true;
    // An aborted stream of an SDK just ends.
    if (isOver(signal)) return;
    const end = reader.ended(arrival.isWhole) ?? toFailed(isOver(stop.signal) ? stalled() : cutFailure(asked));
    yield !hasSpoken && mustSpeak && isPlainEnd(end) ? toFailed(emptyFailure(asked, end.usage)) : end;
  } catch (error) {
    // What breaks after an answer has said how it ends concerns nobody.
    if (!isOver(signal)) yield reader?.ended(false) ?? toFailed(isOver(stop.signal) ? stalled() : toFailure(error, asked));
  } finally {
    silence.stop();
    signal.removeEventListener('abort', onAbort);
    // Who stops reading in the middle hangs up.
    if (!closes) stop.abort();
  }
}

/** Words or a call: thoughts alone are no answer. */
function isSpoken(delta: ModelDelta): boolean {
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
    throw new OddAnswer('something that is not understood', { cause });
  }
}

/** Looked at anew each time: signals change while others wait. */
function isOver({ aborted }: AbortSignal): boolean {
  return aborted;
}

/** Opens the stream with the provider's key. One that was remembered and is not accepted any more is looked up once again. */
async function openWithKey<Event>(
  dialect: Dialect<Event>,
  settings: ProviderSettings,
  asked: Asked,
  { silence, arrival }: { silence: IdleTimeout; arrival: Arrival },
  signal: AbortSignal,
): Promise<{ events: AsyncIterable<Event> } | { problem: string }> {
  for (;;) {
    const found = await unlessAborted(settings.findKey(), signal);
    if ('problem' in found) return found;
    asked.keySource = found.key === null ? null : found.source;
    asked.remedy = found.remedy;
    asked.secrets = [...(found.key === null ? [] : [found.key]), ...credentialsIn(settings.headers)];
    try {
      const watchedFetch = createWatchedFetch(settings.httpFetch, silence, arrival, dialect.pieceBytes);
      return { events: await openStream(dialect, toOptions(settings, found, watchedFetch), signal) };
    } catch (error) {
      if (statusOf(error) === 401) settings.forgetKey();
      if (statusOf(error) !== 401 || !found.remembered || signal.aborted) throw error;
      silence.listen(false);
    }
  }
}

/** Rejects when the signal is aborted, whatever becomes of the promise. */
function unlessAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const onAbort = (): void => reject(signal.reason as Error);
    signal.addEventListener('abort', onAbort, { once: true });
    promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', onAbort));
  });
}

/** Local servers want no key, but their SDK wants one to be there. */
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

/** Asks once more, without it, when a provider does not take what may as well be left out. */
async function openStream<Event>(dialect: Dialect<Event>, options: ClientOptions, signal: AbortSignal): Promise<AsyncIterable<Event>> {
  for (let manner = allFeatures; ;) {
    try {
      return await dialect.open(manner, options, signal);
    } catch (error) {
      const leaner = signal.aborted ? undefined : fallbackAfter(error, manner);
      if (!leaner) throw error;
      manner = leaner;
    }
  }
}

function statusOf(error: unknown): number | undefined {
  return error instanceof Error && 'status' in error && typeof error.status === 'number' ? error.status : undefined;
}

/** A response that is read to its last byte leaves a connection that can be used again. Nobody waits for it long. */
async function letClose(events: AsyncIterator<unknown>, stop: AbortController): Promise<void> {
  const timer = setTimeout(() => stop.abort(), limits.modelCloseMs);
  try {
    while ((await events.next()).done !== true) continue;
  } catch (error) {
    // What breaks after the last word was said concerns nobody.
    stop.abort(error);
  } finally {
    clearTimeout(timer);
  }
}

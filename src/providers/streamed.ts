import { limits } from '../protocol/limits.js';
import { cutFailure, stalledFailure, toFailure, type Asked } from './failures.js';
import type { ModelDelta, ModelFailure, ModelRequest } from './port.js';
import { modelIdOf, type FoundKey, type ProviderSettings } from './settings.js';
import { watchSilence } from './silence.js';
import { createWatchedFetch } from './watched-fetch.js';

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

/** How a request is put. A lean one leaves out what a provider may refuse although the conversation is sound. */
export interface Manner {
  lean: boolean;
}

/** One API: how a stream of its events is opened, and what each event says. */
export interface Dialect<Event> {
  open(manner: Manner, options: ClientOptions, signal: AbortSignal): Promise<AsyncIterable<Event>>;
  /** A reader for one response. Says `end` or `failure` itself, from `ended` at the latest: undefined is a response that was cut. */
  reader(asked: Asked): {
    read(event: Event): ModelDelta[];
    ended(): ModelDelta | undefined;
  };
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
    secrets: Object.values(settings.headers),
  };
  const stalled = (): ModelFailure => stalledFailure(asked, settings.idleMs);
  const stop = new AbortController();
  const onAbort = (): void => stop.abort();
  signal.addEventListener('abort', onAbort, { once: true });
  const silence = watchSilence(settings.idleMs, () => stop.abort());
  try {
    if (signal.aborted) return;
    const opened = await openWithKey(dialect, settings, asked, createWatchedFetch(silence.touch), stop.signal);
    if ('problem' in opened) {
      yield { type: 'failure', message: opened.problem };
      return;
    }
    const reader = dialect.reader(asked);
    const events: AsyncIterator<Event, unknown> = opened.events[Symbol.asyncIterator]();
    for (let next = await events.next(); next.done !== true; next = await events.next()) {
      for (const delta of reader.read(next.value)) {
        const over = delta.type === 'end' || delta.type === 'failure';
        if (over) void letClose(events, stop);
        yield delta;
        if (over) return;
      }
    }
    // An aborted stream of an SDK just ends.
    if (!isOver(signal)) yield reader.ended() ?? { type: 'failure', ...(isOver(stop.signal) ? stalled() : cutFailure(asked)) };
  } catch (error) {
    if (!isOver(signal)) yield { type: 'failure', ...(isOver(stop.signal) ? stalled() : toFailure(error, asked)) };
  } finally {
    silence.stop();
    signal.removeEventListener('abort', onAbort);
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
  watchedFetch: typeof fetch,
  signal: AbortSignal,
): Promise<{ events: AsyncIterable<Event> } | { problem: string }> {
  for (;;) {
    const found = await settings.findKey();
    if ('problem' in found) return found;
    asked.keySource = found.key === null ? null : found.source;
    asked.secrets = [...(found.key === null ? [] : [found.key]), ...Object.values(settings.headers)];
    try {
      return { events: await openStream(dialect, toOptions(settings, found, watchedFetch), signal) };
    } catch (error) {
      if (statusOf(error) === 401) settings.forgetKey();
      if (statusOf(error) !== 401 || !found.remembered || signal.aborted) throw error;
    }
  }
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
    // Silence is watched here, where a suspended machine is not mistaken for a silent server.
    timeout: settings.idleMs * 2,
    logLevel: 'off',
  };
}

/**
 * Thoughts that the provider does not take back (they were bound to a prompt that has changed, or its keys have), and levels of
 * thinking that a model does not know, are no reason to fail: it is asked once more without them.
 */
const leanable =
  /invalid `?signature|blocks? .*cannot be modified|different conversation|expected `?thinking|invalid_encrypted_content|encrypted content|of type 'reasoning'|not persisted when|(does not|doesn't) support (thinking|reasoning)|(unsupported|unknown|unrecognized|extra inputs?)[^.]*(reasoning|thinking|effort|verbosity)|(reasoning|thinking|effort|verbosity)[^.]*(not supported|unsupported|not permitted)/i;
const refusals = new Set([400, 404, 422]);

async function openStream<Event>(dialect: Dialect<Event>, options: ClientOptions, signal: AbortSignal): Promise<AsyncIterable<Event>> {
  try {
    return await dialect.open({ lean: false }, options, signal);
  } catch (error) {
    const isRefused = refusals.has(statusOf(error) ?? 0) && error instanceof Error && leanable.test(error.message);
    if (!isRefused || signal.aborted) throw error;
    return dialect.open({ lean: true }, options, signal);
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

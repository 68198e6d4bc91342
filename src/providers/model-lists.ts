import { limits } from '../protocol/limits.js';
import { describeTransportError } from './failures.js';
import type { HttpResponse } from './http/http-fetch.js';
import type { FoundKey, ProviderSettings } from './settings.js';
import type { ModelEntry } from '../machine/provider-config.js';

/** The fields of a model in the lists of different servers. */
interface LooseModel {
  id?: unknown;
  display_name?: unknown;
  max_input_tokens?: unknown;
  max_tokens?: unknown;
  max_model_len?: unknown;
  context_length?: unknown;
  meta?: { n_ctx?: unknown; n_ctx_train?: unknown } | null;
  top_provider?: { max_completion_tokens?: unknown } | null;
}

/** Models that are not for chat: OpenAI lists all its models together. */
const otherKinds =
  /audio|realtime|image|tts|transcribe|whisper|embedding|moderation|instruct|dall-e|sora|babbage|davinci|computer-use|search/;

/** Fetches the list of models of a provider. Rejects with a sentence for people. */
export async function fetchModels(settings: ProviderSettings, found: FoundKey): Promise<ModelEntry[]> {
  const data = await fetchList(settings, found);
  if (!Array.isArray(data)) throw new Error('asked for its models, it answered something else');
  const entries = data.flatMap((item: unknown) => toEntry(item));
  return (isOpenAi(settings) ? entries.filter(({ id }) => !otherKinds.test(id)) : entries).slice(0, limits.modelsListedMax);
}

async function fetchList(settings: ProviderSettings, found: FoundKey): Promise<unknown> {
  const stop = AbortSignal.timeout(limits.modelListMs);
  try {
    const { status, body } = await requestList(settings, found, stop);
    if (status >= 200 && status < 300) return parseList(await readText(body));
    await body.return();
    throw new Error(`asked for its models, it answered HTTP ${status}`);
  } catch (error) {
    if (stop.aborted) throw new Error(`asked for its models, it did not answer within ${limits.modelListMs / 1000} s`, { cause: error });
    throw error instanceof TypeError ? new Error(describeTransportError(error), { cause: error }) : error;
  }
}

/** Redirects are not followed, so that no key is sent to another host. */
function requestList(
  { api, baseUrl, headers, httpFetch }: ProviderSettings,
  { key }: FoundKey,
  signal: AbortSignal,
): Promise<HttpResponse> {
  const isAnthropic = api === 'anthropic';
  return httpFetch(isAnthropic ? `${baseUrl}/v1/models?limit=1000` : `${baseUrl}/models`, {
    headers: {
      accept: 'application/json',
      ...(key === null ? {} : { authorization: `Bearer ${key}` }),
      ...(isAnthropic ? { 'anthropic-version': '2023-06-01' } : {}),
      ...headers,
    },
    signal,
  });
}

/** The list under `data`; some servers send a bare list. */
function parseList(text: string): unknown {
  try {
    const value = JSON.parse(text) as { data?: unknown } | null;
    return Array.isArray(value) ? value : value?.data;
  } catch (error) {
    throw new Error('asked for its models, it answered something that is not JSON', { cause: error });
  }
}

function isOpenAi({ baseUrl }: ProviderSettings): boolean {
  return new URL(baseUrl).hostname === 'api.openai.com';
}

async function readText(body: AsyncIterable<Uint8Array>): Promise<string> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of body) {
    bytes += chunk.length;
    if (bytes > limits.modelListBytesMax) throw new Error(`its list of models is longer than ${limits.modelListBytesMax} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

function toEntry(value: unknown): ModelEntry[] {
  if (typeof value !== 'object' || value === null) return [];
  const item = value as LooseModel;
  if (typeof item.id !== 'string' || item.id === '' || /\s/.test(item.id)) return [];
  const contextWindow = firstCount(
    item.max_input_tokens,
    item.max_model_len,
    item.context_length,
    item.meta?.n_ctx,
    item.meta?.n_ctx_train,
  );
  const maxOutput = firstCount(item.max_tokens, item.top_provider?.max_completion_tokens);
  return [
    {
      id: item.id,
      ...(typeof item.display_name === 'string' ? { title: item.display_name } : {}),
      ...(contextWindow === undefined ? {} : { contextWindow }),
      ...(maxOutput === undefined ? {} : { maxOutput }),
    },
  ];
}

function firstCount(...values: unknown[]): number | undefined {
  return values.find((value): value is number => typeof value === 'number' && Number.isSafeInteger(value) && value > 0);
}

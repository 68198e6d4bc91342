import { limits } from '../protocol/limits.js';
import { transportWords } from './failures.js';
import type { HttpAnswer } from './http/http-fetch.js';
import type { FoundKey, ProviderSettings } from './settings.js';
import type { ModelEntry } from '../machine/provider-config.js';

/** What servers say of their models beside the id, each in its own words. */
interface Told {
  id?: unknown;
  display_name?: unknown;
  max_input_tokens?: unknown;
  max_tokens?: unknown;
  max_model_len?: unknown;
  context_length?: unknown;
  meta?: { n_ctx?: unknown; n_ctx_train?: unknown } | null;
  top_provider?: { max_completion_tokens?: unknown } | null;
}

/** Not for conversations: OpenAI lists everything that it has under one roof. */
const otherKinds =
  /audio|realtime|image|tts|transcribe|whisper|embedding|moderation|instruct|dall-e|sora|babbage|davinci|computer-use|search/;

/** Asks a provider which models it has. Rejects with a sentence for people. */
export async function fetchModels(settings: ProviderSettings, found: FoundKey): Promise<ModelEntry[]> {
  const data = await fetchList(settings, found);
  if (!Array.isArray(data)) throw new Error('asked for its models, it answered something else');
  const entries = data.flatMap((told: unknown) => toEntry(told));
  return (isOpenAi(settings) ? entries.filter(({ id }) => !otherKinds.test(id)) : entries).slice(0, limits.modelsListedMax);
}

async function fetchList(settings: ProviderSettings, found: FoundKey): Promise<unknown> {
  const stop = AbortSignal.timeout(limits.modelListMs);
  try {
    const { status, body } = await askForList(settings, found, stop);
    if (status >= 200 && status < 300) return parseList(await readText(body));
    await body.return();
    throw new Error(`asked for its models, it answered HTTP ${status}`);
  } catch (error) {
    if (stop.aborted) throw new Error(`asked for its models, it did not answer within ${limits.modelListMs / 1000} s`, { cause: error });
    throw error instanceof TypeError ? new Error(transportWords(error), { cause: error }) : error;
  }
}

/** Redirects are not followed: keys are not sent elsewhere. */
function askForList({ api, baseUrl, headers, httpFetch }: ProviderSettings, { key }: FoundKey, signal: AbortSignal): Promise<HttpAnswer> {
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

/** What stands under `data`; some servers send the list itself. */
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
    if (bytes > limits.modelListBytesMax) throw new Error('its list of models does not end');
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

function toEntry(value: unknown): ModelEntry[] {
  if (typeof value !== 'object' || value === null) return [];
  const told = value as Told;
  if (typeof told.id !== 'string' || told.id === '' || /\s/.test(told.id)) return [];
  const contextWindow = firstCount(
    told.max_input_tokens,
    told.max_model_len,
    told.context_length,
    told.meta?.n_ctx,
    told.meta?.n_ctx_train,
  );
  const maxOutput = firstCount(told.max_tokens, told.top_provider?.max_completion_tokens);
  return [
    {
      id: told.id,
      ...(typeof told.display_name === 'string' ? { title: told.display_name } : {}),
      ...(contextWindow === undefined ? {} : { contextWindow }),
      ...(maxOutput === undefined ? {} : { maxOutput }),
    },
  ];
}

function firstCount(...values: unknown[]): number | undefined {
  return values.find((value): value is number => typeof value === 'number' && Number.isSafeInteger(value) && value > 0);
}

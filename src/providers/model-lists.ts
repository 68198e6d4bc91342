import { limits } from '../protocol/limits.js';
import type { FoundKey, ModelEntry, ProviderSettings } from './settings.js';
import { createWatchedFetch } from './watched-fetch.js';

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
export async function fetchModels(settings: ProviderSettings, { key }: FoundKey): Promise<ModelEntry[]> {
  const isAnthropic = settings.api === 'anthropic';
  const url = isAnthropic ? `${settings.baseUrl}/v1/models?limit=1000` : `${settings.baseUrl}/models`;
  const response = await createWatchedFetch(() => undefined)(url, {
    headers: {
      accept: 'application/json',
      ...(key === null ? {} : { authorization: `Bearer ${key}` }),
      ...(isAnthropic ? { 'anthropic-version': '2023-06-01' } : {}),
      ...settings.headers,
    },
    signal: AbortSignal.timeout(limits.modelListMs),
  });
  if (!response.ok) throw new Error(`asked for its models, it answered HTTP ${response.status}`);
  const { data } = JSON.parse(await readText(response)) as { data?: unknown };
  if (!Array.isArray(data)) throw new Error('asked for its models, it answered something else');
  const entries = data.flatMap((told: unknown) => toEntry(told));
  return (isOpenAi(settings) ? entries.filter(({ id }) => !otherKinds.test(id)) : entries).slice(0, limits.modelsListedMax);
}

function isOpenAi({ baseUrl }: ProviderSettings): boolean {
  return new URL(baseUrl).hostname === 'api.openai.com';
}

async function readText(response: Response): Promise<string> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of response.body ?? []) {
    bytes += (chunk as Uint8Array).length;
    if (bytes > limits.modelListBytesMax) throw new Error('its list of models does not end');
    chunks.push(chunk as Uint8Array);
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

import { limits } from '../protocol/limits.js';
import { createAnthropicProvider } from './apis/anthropic.js';
import { createKeyFinder, type KeyDeps, type KeyFinder } from './keys.js';
import { createHttpFetch, type HttpFetch } from './http/http-fetch.js';
import { fetchModels } from './model-lists.js';
import { anthropicModels, openaiModels } from './model-table.js';
import { createOfflineProvider } from './offline/offline-provider.js';
import { createChatProvider } from './apis/openai-chat.js';
import { createResponsesProvider } from './apis/openai-responses.js';
import type { ListedModel, ListedProvider } from '../protocol/views.js';
import type { Provider, Providers } from './port.js';
import { credentialsIn } from './secrets.js';
import { modelIdOf, type ProviderSettings } from './settings.js';
import type { Api, BuiltInProvider, ModelEntry, ProviderConfig } from '../machine/provider-config.js';

interface BuiltIn {
  api: Api;
  baseUrl: string;
  models: readonly ModelEntry[];
}

const builtIn: Record<string, BuiltIn> = {
  anthropic: { api: 'anthropic', baseUrl: 'https://api.anthropic.com', models: anthropicModels },
  openai: { api: 'openai-responses', baseUrl: 'https://api.openai.com/v1', models: openaiModels },
} satisfies Record<BuiltInProvider, BuiltIn>;
const offlineModel: ListedModel = {
  model: 'offline/guide',
  title: 'embedded guide: not a model, needs no key and no network',
  context_window: null,
  max_output: null,
  price: null,
};
const adapters = { anthropic: createAnthropicProvider, 'openai-responses': createResponsesProvider, 'openai-chat': createChatProvider };

export interface ProvidersConfig {
  providers: Record<string, ProviderConfig>;
  /** Words per second of the offline guide; 0 is as fast as possible. */
  offlineWordsPerSecond: number;
  modelIdleMs: number;
}

interface ProviderEntry {
  settings: ProviderSettings;
  keys: KeyFinder;
  provider: Provider;
  entry(id: string): ModelEntry | undefined;
  entries(): ModelEntry[];
  learn(entries: ModelEntry[]): void;
}

export interface ConfiguredProviders extends Providers {
  /** The default model: of the first provider with a key, else the offline guide. */
  defaultModel(): string;
  apiOf(model: string): Api | 'offline' | undefined;
  /** The keys and the values of headers that are known now: to redact them. */
  secrets(): string[];
}

/** The providers of this daemon: the built-in ones, those of the config, and the offline guide. */
export function createProviders(
  { providers: configured, offlineWordsPerSecond, modelIdleMs }: ProvidersConfig,
  deps: KeyDeps,
): ConfiguredProviders {
  const offline = createOfflineProvider({ wordsPerSecond: offlineWordsPerSecond });
  const httpFetch = createHttpFetch();
  const names = [...new Set([...Object.keys(builtIn), ...Object.keys(configured)])];
  const members = new Map(
    names.map((name) => [name, createMember(name, configured[name] ?? { headers: {}, models: [] }, modelIdleMs, httpFetch, deps)]),
  );

  function memberOf(model: string): ProviderEntry | undefined {
    return members.get(providerOf(model));
  }

  async function listOne(member: ProviderEntry): Promise<ListedProvider> {
    const { settings, keys } = member;
    const listed = { provider: settings.name, api: settings.api };
    const key = keySource(keys);
    try {
      const found = await withTimeout(keys.find());
      if (!found) return { ...listed, key, problem: `${settings.name}: its key has not been found within ${limits.modelListMs / 1000} s` };
      if ('problem' in found) return { ...listed, key: null, problem: found.problem };
      member.learn(await fetchModels(settings, found));
      return { ...listed, key };
    } catch (error) {
      return { ...listed, key, problem: `${settings.name}: ${error instanceof Error ? error.message : String(error)}` };
    }
  }

  return {
    find(model) {
      const name = providerOf(model);
      if (name === 'offline') return offline;
      return members.get(name)?.provider;
    },
    facts(model) {
      const entry = memberOf(model)?.entry(modelIdOf(model));
      return { contextWindow: entry?.contextWindow ?? null, maxOutput: entry?.maxOutput ?? null, price: entry?.price ?? null };
    },
    names: () => ['offline', ...names],
    async list() {
      const providers = await Promise.all([...members.values()].map(listOne));
      const usable = [...members.values()].filter((_, at) => providers[at]?.problem === undefined || providers[at].key !== null);
      const models = usable.flatMap(({ settings, entries }) => entries().map((entry) => toListed(settings.name, entry)));
      return { models: [offlineModel, ...models], providers };
    },
    defaultModel() {
      const first = Object.keys(builtIn).find((name) => keySource(members.get(name)?.keys) !== null);
      return first === undefined ? offlineModel.model : `${first}/${builtIn[first]?.models[0]?.id ?? ''}`;
    },
    secrets: () => [...members.values()].flatMap(({ settings, keys }) => [...keys.known(), ...credentialsIn(settings.headers)]),
    apiOf: (model) => (providerOf(model) === 'offline' ? 'offline' : memberOf(model)?.settings.api),
  };
}

/** Undefined when the promise does not resolve within the timeout. */
async function withTimeout<T>(promise: Promise<T>): Promise<T | undefined> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<undefined>((resolve) => (timer = setTimeout(() => resolve(undefined), limits.modelListMs)));
  return Promise.race([promise, late]).finally(() => clearTimeout(timer));
}

function providerOf(model: string): string {
  return model.slice(0, Math.max(0, model.indexOf('/')));
}

/** The source of the key, or null. An unreadable auth file is reported when a key is needed, not here. */
function keySource(keys: KeyFinder | undefined): string | null {
  try {
    return keys?.describeSource() ?? null;
  } catch {
    return null;
  }
}

function createMember(name: string, config: ProviderConfig, idleMs: number, httpFetch: HttpFetch, deps: KeyDeps): ProviderEntry {
  const builtInProvider = builtIn[name];
  const api = config.api ?? builtInProvider?.api ?? 'openai-chat';
  const keys = createKeyFinder(name, config, deps);
  const settings: ProviderSettings = {
    name,
    api,
    baseUrl: normalizeBase(config.baseUrl ?? builtInProvider?.baseUrl ?? '', api),
    httpFetch,
    headers: config.headers,
    ...(config.verbosity === undefined ? {} : { verbosity: config.verbosity }),
    findKey: keys.find,
    forgetKey: keys.forget,
    idleMs,
  };
  let learned: ModelEntry[] = [];

  /** The `max_tokens` to send. A listed output limit may exceed what fits a request, so only Anthropic's, which is required, is sent. */
  function requestedOutput(id: string): number | null {
    const own = config.models.find((model) => model.id === id)?.maxOutput;
    return (api === 'anthropic' ? entry(id)?.maxOutput : (own ?? tabledOf(id)?.maxOutput)) ?? null;
  }

  function tabledOf(id: string): ModelEntry | undefined {
    return builtInProvider?.models.find((model) => model.id === id || id.startsWith(`${model.id}-20`));
  }

  /** Merges the facts of a model: the config overrides the provider's list, which overrides the table. */
  function entry(id: string): ModelEntry | undefined {
    const tabled = tabledOf(id);
    const listed = learned.find((model) => model.id === id);
    const own = config.models.find((model) => model.id === id);
    return tabled || listed || own ? { ...tabled, ...listed, ...own, id } : undefined;
  }

  function entries(): ModelEntry[] {
    // The table lists models only until the provider's own list was fetched.
    const ids = [...config.models, ...(learned.length > 0 ? learned : (builtInProvider?.models ?? []))].map(({ id }) => id);
    return [...new Set(ids)].flatMap((id) => entry(id) ?? []);
  }

  const provider = adapters[api](settings, (model) => {
    const id = modelIdOf(model);
    const found = entry(id);
    return { id, contextWindow: found?.contextWindow ?? null, maxOutput: requestedOutput(id), images: found?.images ?? true };
  });
  return {
    settings,
    keys,
    provider,
    entry,
    entries,
    learn(found) {
      learned = found;
    },
  };
}

/** Normalizes a base URL: the SDK of Anthropic appends `/v1`, the SDK of OpenAI expects it. */
function normalizeBase(base: string, api: Api): string {
  const bare = base.replace(/\/+$/, '');
  if (api === 'anthropic') return bare.replace(/\/v1$/, '');
  return new URL(bare).pathname === '/' ? `${bare}/v1` : bare;
}

function toListed(provider: string, { id, title, contextWindow, maxOutput, price }: ModelEntry): ListedModel {
  return {
    model: `${provider}/${id}`,
    title: (title ?? id).slice(0, limits.titleCharsMax),
    context_window: contextWindow ?? null,
    max_output: maxOutput ?? null,
    price: price ?? null,
  };
}

export const apis = ['anthropic', 'openai-responses', 'openai-chat'] as const;
export type Api = (typeof apis)[number];

/** A model as the built-in table or the config describes it. */
export interface ModelEntry {
  id: string;
  title?: string;
  contextWindow?: number;
  maxOutput?: number;
  price?: Price;
  /** False for models that refuse images: a placeholder text is sent instead. */
  images?: boolean;
}

/** A provider of `config.json`. Absent fields come from the built-in provider of the same name. */
export interface ProviderConfig {
  api?: Api;
  baseUrl?: string;
  apiKey?: string;
  apiKeyEnv?: string;
  apiKeyCommand?: string[];
  headers: Record<string, string>;
  verbosity?: Verbosity;
  models: ModelEntry[];
}

export type Verbosity = 'low' | 'medium' | 'high';

/** US dollars for a million tokens. */
export interface Price {
  input: number;
  output: number;
  cache_read: number;
  cache_write: number;
}

/** Providers that need no config. */
export const builtInProviders: readonly string[] = ['anthropic', 'openai'] satisfies BuiltInProvider[];
export type BuiltInProvider = 'anthropic' | 'openai';

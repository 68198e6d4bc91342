import type { HttpFetch } from './http/http-fetch.js';
import type { ModelFacts } from './port.js';
import type { Api, Verbosity } from '../machine/provider-config.js';

/** A key, and where it came from in words that people can act on. Local servers need none. */
export interface FoundKey {
  key: string | null;
  source: string;
  /** What to do when it is not the right one: the place that counts is the one to change. */
  remedy: string;
  /** It was looked up earlier: a fresh look may find another. */
  remembered: boolean;
}

/** How to reach one provider. */
export interface ProviderSettings {
  name: string;
  api: Api;
  baseUrl: string;
  httpFetch: HttpFetch;
  /** May hold secrets. */
  headers: Record<string, string>;
  verbosity?: Verbosity;
  /** Looked up for each request; a problem says what to do. */
  findKey(): Promise<FoundKey | { problem: string }>;
  /** The provider did not take the key: it is not to be remembered. */
  forgetKey(): void;
  /** A stream in which nothing comes for so long has stalled. */
  idleMs: number;
}

/** What an adapter needs to know of the model that is asked. */
export interface KnownModel extends Omit<ModelFacts, 'price'> {
  /** Its name without the provider's. */
  id: string;
  images: boolean;
}

export function modelIdOf(model: string): string {
  return model.slice(model.indexOf('/') + 1);
}

const imageTypes = new Set(['image/png', 'image/jpeg', 'image/gif', 'image/webp']);

/** How the providers spell the type of an image; undefined for types that they do not take. */
export function supportedImage(mimeType: string): string | undefined {
  const type = mimeType.toLowerCase().replace(/^image\/jpg$/, 'image/jpeg');
  return imageTypes.has(type) ? type : undefined;
}

import type { HttpFetch } from './http/http-fetch.js';
import type { ModelFacts } from './port.js';
import type { Api, Verbosity } from '../machine/provider-config.js';

/** A key and its source, in words for people. Local servers need no key. */
export interface FoundKey {
  key: string | null;
  source: string;
  /** What to do about a wrong key. */
  remedy: string;
  /** The key is cached: a new lookup may find another. */
  remembered: boolean;
}

/** Connection settings of one provider. */
export interface ProviderSettings {
  name: string;
  api: Api;
  baseUrl: string;
  httpFetch: HttpFetch;
  /** The values may be secrets. */
  headers: Record<string, string>;
  verbosity?: Verbosity;
  /** Called for each request; a problem says what to do. */
  findKey(): Promise<FoundKey | { problem: string }>;
  /** Drops a cached key that the provider refused. */
  forgetKey(): void;
  /** The idle timeout of a stream. */
  idleMs: number;
}

/** The facts of a model that an adapter needs. */
export interface KnownModel extends Omit<ModelFacts, 'price'> {
  /** The model name without the provider. */
  id: string;
  images: boolean;
}

export function modelIdOf(model: string): string {
  return model.slice(model.indexOf('/') + 1);
}

const imageTypes = new Set(['image/png', 'image/jpeg', 'image/gif', 'image/webp']);

/** Normalizes an image MIME type; undefined for types that providers do not accept. */
export function supportedImage(mimeType: string): string | undefined {
  const type = mimeType.toLowerCase().replace(/^image\/jpg$/, 'image/jpeg');
  return imageTypes.has(type) ? type : undefined;
}

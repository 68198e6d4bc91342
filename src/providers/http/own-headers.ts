import type { ClientOptions } from '../apis/stream-response.js';

/** Overrides the headers that both SDKs read from an environment variable, for which they have no option. */
export function withOwnHeaders<Client extends object>(client: Client, { defaultHeaders }: ClientOptions): Client {
  const { _options: options } = client as unknown as { _options: { defaultHeaders: unknown } };
  options.defaultHeaders = defaultHeaders;
  return client;
}

import type { ClientOptions } from '../apis/stream-response.js';

/** A client of an SDK that sends no headers from the environment: both read a variable for them, and have no option against it. */
export function withOwnHeaders<Client extends object>(client: Client, { defaultHeaders }: ClientOptions): Client {
  const { _options: options } = client as unknown as { _options: { defaultHeaders: unknown } };
  options.defaultHeaders = defaultHeaders;
  return client;
}

import type { Api } from './reply.js';
import type { FakeModel } from './server.js';
import type { Json } from './shape.js';

const paths: Record<Api, string> = {
  anthropic: '/v1/messages',
  'openai-responses': '/v1/responses',
  'openai-chat': '/v1/chat/completions',
};

/** Asks without an SDK, for saying what its types would not allow. Strings and bytes are sent as they are. */
export async function rawAsk(
  model: FakeModel,
  api: Api,
  body: unknown,
  headers: Record<string, string> = {},
): Promise<{ status: number; text: string; message: string }> {
  const own: Record<string, string> = api === 'anthropic' ? { 'anthropic-version': '2026-10-21' } : {};
  const response = await fetch(model.url + paths[api], {
    method: 'POST',
    headers: { authorization: 'Bearer key', 'content-type': 'application/json', ...own, ...headers },
    body: typeof body === 'string' || Buffer.isBuffer(body) ? body : JSON.stringify(body),
  });
  const text = await response.text();
  const answer: Json = response.headers.get('content-type') === 'application/json' ? JSON.parse(text) : undefined;
  return { status: response.status, text, message: answer?.error?.message ?? '' };
}

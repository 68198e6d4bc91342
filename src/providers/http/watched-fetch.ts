import { toAnswerStream, type Arrival } from './sse-guard.js';
import type { ArrivingBytes } from './body-reader.js';
import { readErrorBody } from './error-bodies.js';
import type { HttpAnswer, HttpFetch } from './http-fetch.js';
import type { IdleTimeout } from './idle-timeout.js';

/**
 * `fetch` as the SDKs are given it: every byte of an answer that arrives is noted, an event or an error that has no end is cut, and a
 * redirect is an answer like any other, so that no key follows it to another host.
 */
export function createWatchedFetch(
  httpFetch: HttpFetch,
  { touch, listen }: Pick<IdleTimeout, 'touch' | 'listen'>,
  arrival: Arrival,
  pieceBytes: number,
): typeof fetch {
  return async (input, init) => {
    touch();
    listen(true);
    const { method, headers, body, signal } = init ?? {};
    const answer = await httpFetch(input instanceof Request ? input.url : input, {
      ...(method === undefined ? {} : { method }),
      headers: Object.fromEntries(new Headers(headers)),
      ...(body === undefined || body === null ? {} : { body: toBytes(body) }),
      ...(signal ? { signal } : {}),
    });
    touch();
    if (answer.status === 204 || answer.status === 205) return toResponse(answer, null);
    if (answer.status < 200 || answer.status > 299) return toResponse(answer, (await readErrorBody(answer.body)) || null);
    return withBody(toResponse(answer, null), toAnswerStream(answer.body, touch, { arrival, pieceBytes }));
  };
}

function toResponse({ status, statusText, headers }: HttpAnswer, body: string | null): Response {
  return new Response(body, { status, statusText, headers });
}

/** The SDKs iterate over a body: a stream of the web around it would cost more than all that we do with a piece. */
function withBody(response: Response, body: ArrivingBytes): Response {
  return Object.defineProperty(response, 'body', { value: body });
}

function toBytes(body: NonNullable<RequestInit['body']>): string | Uint8Array {
  if (typeof body === 'string') return wholeCharacters(body);
  if (body instanceof Uint8Array) return body;
  throw new TypeError('only words and bytes are sent');
}

const escapes = /\\(?:ud[89a-f][0-9a-f]{2}|.)/g;

/** Half a surrogate pair, from a text that was cut or a model's arguments, is no JSON to a provider. Whole pairs are not escaped. */
function wholeCharacters(body: string): string {
  if (!body.includes('\\ud')) return body;
  return body.replace(escapes, (escape) => (escape.startsWith('\\ud') ? '\\ufffd' : escape));
}

import { guardStream, type StreamState } from './sse-guard.js';
import type { BodyReader } from './body-reader.js';
import { readErrorBody } from './error-bodies.js';
import type { HttpResponse, HttpFetch } from './http-fetch.js';
import type { IdleTimeout } from './idle-timeout.js';

/**
 * The `fetch` for the SDKs: arriving bytes reset the idle timeout, overlong events and errors are cut off, and redirects are not followed, so
 * that no key is sent to another host.
 */
export function createWatchedFetch(
  httpFetch: HttpFetch,
  { touch, listen }: Pick<IdleTimeout, 'touch' | 'listen'>,
  streamState: StreamState,
  pieceBytes: number,
): typeof fetch {
  return async (input, init) => {
    touch();
    listen(true);
    const { method, headers, body, signal } = init ?? {};
    const response = await httpFetch(input instanceof Request ? input.url : input, {
      ...(method === undefined ? {} : { method }),
      headers: Object.fromEntries(new Headers(headers)),
      ...(body === undefined || body === null ? {} : { body: toBytes(body) }),
      ...(signal ? { signal } : {}),
    });
    touch();
    if (response.status === 204 || response.status === 205) return toResponse(response, null);
    if (response.status < 200 || response.status > 299) return toResponse(response, (await readErrorBody(response.body)) || null);
    return withBody(toResponse(response, null), guardStream(response.body, touch, { streamState, pieceBytes }));
  };
}

function toResponse({ status, statusText, headers }: HttpResponse, body: string | null): Response {
  return new Response(body, { status, statusText, headers });
}

/** Replaces the body by a plain async iterator, which the SDKs accept: a web ReadableStream would cost more than everything else. */
function withBody(response: Response, body: BodyReader): Response {
  return Object.defineProperty(response, 'body', { value: body });
}

function toBytes(body: NonNullable<RequestInit['body']>): string | Uint8Array {
  if (typeof body === 'string') return wholeCharacters(body);
  if (body instanceof Uint8Array) return body;
  throw new TypeError('a request body must be a string or bytes');
}

const escapes = /\\(?:ud[89a-f][0-9a-f]{2}|.)/g;

/** Replaces escaped lone surrogates, from truncated texts or a model's arguments, which providers refuse as invalid JSON. Valid pairs are never escaped. */
function wholeCharacters(body: string): string {
  if (!body.includes('\\ud')) return body;
  return body.replace(escapes, (escape) => (escape.startsWith('\\ud') ? '\\ufffd' : escape));
}

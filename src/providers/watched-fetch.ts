import { toAnswerStream } from './answer-stream.js';
import { readErrorBody } from './error-bodies.js';
import type { Silence } from './silence.js';

/**
 * `fetch` as the SDKs are given it: every byte of an answer that arrives is noted, an event or an error that has no end is cut, and a
 * redirect is an answer like any other, so that no key follows it to another host.
 */
export function createWatchedFetch({ touch, listen }: Pick<Silence, 'touch' | 'listen'>, pieceBytes: number): typeof fetch {
  return async (input, init) => {
    touch();
    listen(true);
    const response = await fetch(input, { ...init, ...wholeCharacters(init), redirect: 'manual' });
    touch();
    const { body, status, statusText, headers } = response;
    if (!body) return response;
    return new Response(response.ok ? toAnswerStream(body, touch, pieceBytes) : await readErrorBody(body), { status, statusText, headers });
  };
}

const escapes = /\\(?:ud[89a-f][0-9a-f]{2}|.)/g;

/** Half a surrogate pair, from a text that was cut or a model's arguments, is no JSON to a provider. Whole pairs are not escaped. */
function wholeCharacters(init: RequestInit | undefined): RequestInit {
  const body = init?.body;
  if (typeof body !== 'string' || !body.includes('\\ud')) return {};
  return { body: body.replace(escapes, (escape) => (escape.startsWith('\\ud') ? '\\ufffd' : escape)) };
}

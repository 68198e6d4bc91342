import { limits } from '../protocol/limits.js';

const newline = 10;

/** The provider sent more than anything of ours could need; reading on would cost memory without bound. */
export class AnswerTooLong extends Error {
  override name = 'AnswerTooLong';
}

/**
 * `fetch` as the SDKs are given it: every byte that arrives is noted, a line or an error that has no end is cut, and a redirect is an
 * answer like any other, so that no key follows it to another host.
 */
export function createWatchedFetch(touch: () => void): typeof fetch {
  return async (input, init) => {
    const response = await fetch(input, { ...init, redirect: 'manual' });
    touch();
    const { body, status, statusText, headers } = response;
    if (!body) return response;
    const read = response.ok ? watchLines(touch) : limitBytes(limits.modelErrorBytesMax);
    return new Response(through(body, read), { status, statusText, headers });
  };
}

type Look = (chunk: Uint8Array) => Uint8Array | undefined;

/** The same bytes, each chunk looked at on its way; an undefined one ends them. */
function through(body: ReadableStream<Uint8Array>, look: Look): ReadableStream<Uint8Array> {
  const reader = body.getReader();
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const { done, value } = await reader.read();
        const seen = done ? undefined : look(value);
        if (seen) controller.enqueue(seen);
        else {
          controller.close();
          if (!done) await reader.cancel();
        }
      },
      cancel: (reason) => reader.cancel(reason),
    },
    { highWaterMark: 0 },
  );
}

function watchLines(touch: () => void): Look {
  let lineBytes = 0;
  return (chunk) => {
    touch();
    const last = chunk.lastIndexOf(newline);
    lineBytes = last === -1 ? lineBytes + chunk.length : chunk.length - last - 1;
    if (lineBytes > limits.modelLineBytesMax) throw new AnswerTooLong(`a line of more than ${limits.modelLineBytesMax} bytes`);
    return chunk;
  };
}

function limitBytes(bytesMax: number): Look {
  let left = bytesMax;
  return (chunk) => {
    if (left <= 0) return undefined;
    const kept = chunk.subarray(0, left);
    left -= kept.length;
    return kept;
  };
}

import { describe, expect, test } from 'vitest';
import { createSseDecoder, readOpenAiStream } from '../../src/providers/apis/openai-stream.js';

const lines = [
  '\uFEFF: a comment',
  '',
  'data: {"a":1}',
  '',
  'event: named',
  'id: 7',
  'data:{"b":"é😀 \u2028"}',
  '',
  'event: without data',
  '',
  'data: [1,',
  'data: 2]',
  '',
  '',
  'data: [DONE]',
  '',
  'data: has no end',
];
const events = ['{"a":1}', '{"b":"é😀 \u2028"}', '[1,\n2]', '[DONE]'];

describe.each([
  ['line feeds', '\n'],
  ['carriage returns', '\r'],
  ['both', '\r\n'],
])('events of a stream whose lines end with %s', (_name, lineEnd) => {
  const bytes = Buffer.from(lines.join(lineEnd));

  test.each([1, 2, 3, 5, 7, 64, bytes.length])('are the same when they come in pieces of %i bytes', (pieceBytes) => {
    const decoder = createSseDecoder();
    const read: string[] = [];
    for (let at = 0; at < bytes.length; at += pieceBytes) read.push(...decoder.push(bytes.subarray(at, at + pieceBytes)));
    expect(read).toEqual(events);
  });

  test('are handed out with the piece that ends them', () => {
    expect(createSseDecoder().push(Buffer.from(`data: 1${lineEnd}${lineEnd}`))).toEqual(['1']);
  });
});

class ToldError extends Error {
  constructor(
    readonly status: undefined,
    readonly said: object,
    message: undefined,
    readonly headers: Headers,
  ) {
    super(message);
  }
}

function answer(...pieces: string[]): { response: Response; left(): number } {
  const body = {
    next: () => {
      const piece = pieces.shift();
      return Promise.resolve(piece === undefined ? { done: true, value: undefined } : { done: false, value: Buffer.from(piece) });
    },
  };
  const response = new Response(null, { headers: { 'x-request-id': 'req_1' } });
  return { response: Object.defineProperty(response, 'body', { value: body }), left: () => pieces.length };
}

async function readAll(response: Response): Promise<unknown[]> {
  const read: unknown[] = [];
  try {
    for await (const event of readOpenAiStream<object>(response, ToldError)) read.push(event);
  } catch (error) {
    read.push(error);
  }
  return read;
}

describe('an answer', () => {
  test('is read to its end after the event that says that it is done, and nothing there is told', async () => {
    const { response, left } = answer('data: {"n":1}\n\ndata: [DONE]\n\ndata: {"n":2}\n\n', 'data: {"n":3}\n\n');
    expect(await readAll(response)).toEqual([{ n: 1 }]);
    expect(left()).toBe(0);
  });

  test('tells what came before an error, and then the error with what the server said and its headers', async () => {
    const { response } = answer('data: {"n":1}\n\ndata: {"error":{"message":"no"}}\n\ndata: {"n":2}\n\n');
    const [first, error, ...rest] = await readAll(response);
    expect(first).toEqual({ n: 1 });
    expect(error).toMatchObject({ said: { message: 'no' }, headers: response.headers });
    expect(rest).toEqual([]);
  });

  test('tells what came before something that is not JSON', async () => {
    expect(await readAll(answer('data: {"n":1}\n\ndata: {\n\n').response)).toEqual([{ n: 1 }, expect.any(SyntaxError)]);
  });
});

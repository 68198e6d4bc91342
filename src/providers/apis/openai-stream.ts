import type { BodyReader } from '../http/body-reader.js';

/** The SDK's class for an error event within a stream. */
type ApiError = new (status: undefined, error: object, message: undefined, headers: Headers) => Error;

/**
 * The events of a response of OpenAI's APIs, as the SDK would read them. The SDK looks at each byte three times in JavaScript and passes an
 * event through three generators, which people wait for with every delta.
 */
export function readOpenAiStream<Event>(response: Response, ApiError: ApiError): AsyncIterable<Event> {
  // The body is what the watched fetch put in: whole events, most often.
  const body = response.body as unknown as BodyReader | null;
  if (!body) throw new Error('an answer without a body');
  const decoder = createSseDecoder();
  let pending: string[] = [];
  let at = 0;
  let done = false;

  async function readMore(from: BodyReader): Promise<boolean> {
    const { done: isOver, value } = await from.next();
    if (isOver) return false;
    // The body is drained after [DONE], so that the connection can be reused (keep-alive).
    pending = done ? [] : decoder.push(value);
    at = 0;
    return true;
  }

  function readEvent(data: string): Event {
    const event = JSON.parse(data) as (Event & { error?: object }) | null;
    if (event?.error) throw new ApiError(undefined, event.error, undefined, response.headers);
    return event as Event;
  }

  const events: AsyncIterableIterator<Event> = {
    async next() {
      for (;;) {
        const data = pending[at++];
        if (data === undefined) {
          if (!(await readMore(body))) return { done: true, value: undefined };
        } else if (data.startsWith('[DONE]')) {
          done = true;
          pending = [];
        } else return { done: false, value: readEvent(data) };
      }
    },
    [Symbol.asyncIterator]: () => events,
  };
  return events;
}

/** Splits server-sent events into their data. Lines end with any of the three line ends; an event that has no end is not handed out. */
export function createSseDecoder() {
  const utf8 = new TextDecoder();
  let rest = '';
  let data: string | undefined;
  /** A carriage return was the last character: a line feed that comes next belongs to it. */
  let endsWithReturn = false;

  function toLines(bytes: Uint8Array): string[] {
    let text = utf8.decode(bytes, { stream: true });
    if (endsWithReturn && text.startsWith('\n')) text = text.slice(1);
    else if (text === '') return [];
    endsWithReturn = text.endsWith('\r');
    const [first = '', ...others] = (text.includes('\r') ? text.replace(/\r\n?/g, '\n') : text).split('\n');
    // Only new text is searched for line ends, so that a long line in many pieces takes linear time.
    const line = rest + first;
    rest = others.pop() ?? line;
    return text.length === first.length ? [] : [line, ...others];
  }

  return {
    push(bytes: Uint8Array): string[] {
      const events: string[] = [];
      for (const line of toLines(bytes)) {
        if (line === '') {
          if (data !== undefined) events.push(data);
          data = undefined;
        } else if (line.startsWith('data:')) {
          const value = line.slice(line[5] === ' ' ? 6 : 5);
          data = data === undefined ? value : `${data}\n${value}`;
        }
      }
      return events;
    },
  };
}

import type { Agent, ClientRequest, IncomingMessage, RequestOptions } from 'node:http';
import type { Socket } from 'node:net';
import { limits } from '../../protocol/limits.js';
import { readArriving, type ArrivingBytes } from './body-reader.js';
import { badPorts } from './bad-ports.js';
import { decoded } from './content-codings.js';

export interface HttpAsked {
  method?: string;
  headers: Record<string, string>;
  body?: string | Uint8Array;
  signal?: AbortSignal;
}

export interface HttpAnswer {
  status: number;
  statusText: string;
  headers: Headers;
  body: ArrivingBytes;
}

/**
 * Asks once. Fails as `fetch` does: with the signal's reason, or with a TypeError whose cause is what happened. Redirects are answers
 * like any other, and no proxy is taken from the environment.
 */
export type HttpFetch = (url: string | URL, asked: HttpAsked) => Promise<HttpAnswer>;

interface Transport {
  request(url: URL, options: RequestOptions): ClientRequest;
  agent: Agent;
}

/** The code of a connection that was closed without an answer. Ours alone: nobody is told it. */
export const hungUpCode = 'HUNG_UP';

/** The other side has left without a word, which Node also calls a reset. */
class HungUp extends Error {
  readonly code = hungUpCode;
}

class NoConnection extends Error {
  readonly code = 'ETIMEDOUT';
}

/** A connection that was used before broke before a single byte of the answer came: the other side had closed it, or was about to. */
class StaleConnection extends Error {
  override name = 'StaleConnection';
}

const ownHeaders = { accept: '*/*', 'accept-encoding': 'identity', 'user-agent': 'node' };

/** HTTP over Node's own client, with connections that are kept for a moment and hold no process. What it needs is loaded when asked for. */
export function createHttpFetch({ keptMs = limits.modelKeptConnectionMs }: { keptMs?: number } = {}): HttpFetch {
  const transports = new Map<string, Transport>();

  function transportFor(protocol: string): Transport {
    const known = transports.get(protocol);
    if (known) return known;
    const { request, Agent } = protocol === 'https:' ? process.getBuiltinModule('node:https') : process.getBuiltinModule('node:http');
    const agent = new Agent({ keepAlive: true, maxFreeSockets: limits.modelKeptConnectionsMax, timeout: keptMs });
    transports.set(protocol, { request, agent });
    return { request, agent };
  }

  return async (given, { method = 'GET', headers, body, signal }) => {
    signal?.throwIfAborted();
    const url = toUrl(given);
    const { request, agent } = transportFor(url.protocol);
    const options = { method, headers: { ...ownHeaders, ...headers }, maxHeaderSize: limits.modelHeaderBytesMax };
    const bytes = typeof body === 'string' ? Buffer.from(body) : body;
    function ask(through: Agent | false): Promise<HttpAnswer> {
      const asking = request(url, { ...options, agent: through });
      const answer = hear(asking, signal);
      asking.end(bytes);
      return answer;
    }
    try {
      return await ask(agent);
    } catch (error) {
      if (!(error instanceof StaleConnection)) throw error;
      signal?.throwIfAborted();
      // Others that were kept may be no better.
      return await ask(false);
    }
  };
}

function toUrl(given: string | URL): URL {
  const url = new URL(given);
  if (!['http:', 'https:'].includes(url.protocol)) throw failed(new Error('unknown scheme'));
  if (url.username !== '' || url.password !== '') throw new TypeError('an address with a name or a password in it is not asked');
  if (badPorts.has(Number(url.port || NaN))) throw failed(new Error('bad port'));
  return url;
}

/** What comes of a request. Knows nothing of what is sent, so that none of it is kept while the answer is read. */
function hear(asking: ClientRequest, signal: AbortSignal | undefined): Promise<HttpAnswer> {
  return new Promise((resolve, reject) => {
    /** How much had come before, on a connection that was used before. */
    let bytesBefore: number | undefined;
    let fail = (error: unknown): void => {
      leave();
      reject(isStale(asking, error, bytesBefore) ? new StaleConnection() : failed(error));
    };
    let abort = (reason: Error): void => {
      leave();
      reject(reason);
    };
    const onAbort = (): void => {
      abort(signal?.reason as Error);
      asking.destroy();
    };
    const leave = (): void => signal?.removeEventListener('abort', onAbort);
    signal?.addEventListener('abort', onAbort, { once: true });
    asking.on('socket', (socket) => {
      if (!asking.reusedSocket) limitConnecting(asking, socket);
      else bytesBefore = socket.bytesRead;
    });
    asking.on('error', (error) => fail(error));
    asking.on('close', () => fail(new HungUp('closed without an answer')));
    asking.on('response', (message) => {
      const { statusCode: status = 0, statusMessage: statusText = '' } = message;
      try {
        const headers = toHeaders(message);
        const source = decoded(message);
        const arriving = readArriving(source, () => {
          leave();
          // Whoever answers before having read everything may never read the rest.
          if (!message.complete || !asking.writableFinished) asking.destroy();
        });
        const breakOff = (error: unknown): void => arriving.fail(broken(error), true);
        // What has come whole may still wait for its reader when its connection breaks.
        fail = (error) => (message.complete ? undefined : breakOff(error));
        abort = (reason) => arriving.fail(reason, false);
        source.on('error', breakOff);
        resolve({ status, statusText, headers, body: arriving.bytes });
      } catch (error) {
        fail(error);
        asking.destroy();
      }
    });
  });
}

function isStale({ socket }: ClientRequest, error: unknown, bytesBefore: number | undefined): boolean {
  const { code } = error as NodeJS.ErrnoException;
  return (
    bytesBefore !== undefined && socket?.bytesRead === bytesBefore && (code === 'ECONNRESET' || code === 'EPIPE' || error instanceof HungUp)
  );
}

function limitConnecting(asking: ClientRequest, socket: Socket): void {
  const timer = setTimeout(
    () => asking.destroy(new NoConnection(`no connection within ${limits.modelConnectMs / 1000} s`)),
    limits.modelConnectMs,
  );
  const clear = (): void => clearTimeout(timer);
  socket.once(asking.protocol === 'https:' ? 'secureConnect' : 'connect', clear);
  socket.once('close', clear);
}

function toHeaders({ headersDistinct }: IncomingMessage): Headers {
  const headers = new Headers();
  for (const [name, values = []] of Object.entries(headersDistinct)) for (const value of values) headers.append(name, value);
  return headers;
}

function failed(cause: unknown): TypeError {
  return new TypeError('fetch failed', { cause: told(cause) });
}

function broken(cause: unknown): TypeError {
  return new TypeError('terminated', { cause: told(cause) });
}

function told(error: unknown): unknown {
  const { code, syscall } = error as NodeJS.ErrnoException;
  return code === 'ECONNRESET' && syscall === undefined ? new HungUp('the other side has left', { cause: error }) : error;
}

import type { Agent, ClientRequest, IncomingMessage, RequestOptions } from 'node:http';
import type { Socket } from 'node:net';
import { limits } from '../../protocol/limits.js';
import { createBodyReader, type BodyReader } from './body-reader.js';
import { badPorts } from './bad-ports.js';
import { decodeBody } from './content-codings.js';

export interface HttpRequest {
  method?: string;
  headers: Record<string, string>;
  body?: string | Uint8Array;
  signal?: AbortSignal;
}

export interface HttpResponse {
  status: number;
  statusText: string;
  headers: Headers;
  body: BodyReader;
}

/**
 * Sends one request. Rejects as `fetch` does: with the signal's reason, or with a TypeError whose cause is the network error. Redirects are
 * not followed, and proxy settings of the environment are ignored.
 */
export type HttpFetch = (url: string | URL, asked: HttpRequest) => Promise<HttpResponse>;

interface Transport {
  request(url: URL, options: RequestOptions): ClientRequest;
  agent: Agent;
}

/** Our own error code for a connection that was closed without a response; never shown. */
export const hungUpCode = 'HUNG_UP';

/** The server closed the connection (FIN), which Node reports as ECONNRESET too. */
class HungUp extends Error {
  readonly code = hungUpCode;
}

class NoConnection extends Error {
  readonly code = 'ETIMEDOUT';
}

/** A reused keep-alive connection broke before the first byte of the response: the server had closed it. */
class StaleConnection extends Error {
  override name = 'StaleConnection';
}

const ownHeaders = { accept: '*/*', 'accept-encoding': 'identity', 'user-agent': 'node' };

/** A minimal fetch over node:http, with short-lived keep-alive connections that do not keep the process alive. Modules are loaded lazily. */
export function createHttpFetch({ keptMs = limits.modelKeptConnectionMs }: { keptMs?: number } = {}): HttpFetch {
  const transports = new Map<string, Transport>();

  function transportFor(protocol: string): Transport {
    const existing = transports.get(protocol);
    if (existing) return existing;
    const { request, Agent } = protocol === 'https:' ? process.getBuiltinModule('node:https') : process.getBuiltinModule('node:http');
    const agent = new Agent({ keepAlive: true, maxFreeSockets: limits.modelKeptConnectionsMax, timeout: keptMs });
    transports.set(protocol, { request, agent });
    return { request, agent };
  }

  return async (address, { method = 'GET', headers, body, signal }) => {
    signal?.throwIfAborted();
    const url = toUrl(address);
    const { request, agent } = transportFor(url.protocol);
    const options = { method, headers: { ...ownHeaders, ...headers }, maxHeaderSize: limits.modelHeaderBytesMax };
    const bytes = typeof body === 'string' ? Buffer.from(body) : body;
    function send(viaAgent: Agent | false): Promise<HttpResponse> {
      const clientRequest = request(url, { ...options, agent: viaAgent });
      const answer = readResponse(clientRequest, signal);
      clientRequest.end(bytes);
      return answer;
    }
    try {
      return await send(agent);
    } catch (error) {
      if (!(error instanceof StaleConnection)) throw error;
      signal?.throwIfAborted();
      // Without the pool: its other connections may be stale as well.
      return await send(false);
    }
  };
}

function toUrl(address: string | URL): URL {
  const url = new URL(address);
  if (!['http:', 'https:'].includes(url.protocol)) throw fetchFailed(new Error('unknown scheme'));
  if (url.username !== '' || url.password !== '') throw new TypeError('a URL with a user name or a password is not allowed');
  if (badPorts.has(Number(url.port || NaN))) throw fetchFailed(new Error('bad port'));
  return url;
}

/** Resolves with the response. Holds no reference to the request body, so that the body can be freed while the response is read. */
function readResponse(clientRequest: ClientRequest, signal: AbortSignal | undefined): Promise<HttpResponse> {
  return new Promise((resolve, reject) => {
    /** `bytesRead` of a reused connection before this request. */
    let bytesBefore: number | undefined;
    let fail = (error: unknown): void => {
      removeAbortListener();
      reject(isStale(clientRequest, error, bytesBefore) ? new StaleConnection() : fetchFailed(error));
    };
    let abort = (reason: Error): void => {
      removeAbortListener();
      reject(reason);
    };
    const onAbort = (): void => {
      abort(signal?.reason as Error);
      clientRequest.destroy();
    };
    const removeAbortListener = (): void => signal?.removeEventListener('abort', onAbort);
    signal?.addEventListener('abort', onAbort, { once: true });
    clientRequest.on('socket', (socket) => {
      if (!clientRequest.reusedSocket) limitConnecting(clientRequest, socket);
      else bytesBefore = socket.bytesRead;
    });
    clientRequest.on('error', (error) => fail(error));
    clientRequest.on('close', () => fail(new HungUp('closed without an answer')));
    clientRequest.on('response', (message) => {
      const { statusCode: status = 0, statusMessage: statusText = '' } = message;
      try {
        const headers = toHeaders(message);
        const source = decodeBody(message);
        const reader = createBodyReader(source, () => {
          removeAbortListener();
          // A server that responds before it has read the whole request may never read the rest.
          if (!message.complete || !clientRequest.writableFinished) clientRequest.destroy();
        });
        const breakOff = (error: unknown): void => reader.fail(bodyTerminated(error), true);
        // A complete response may still be buffered when its connection breaks.
        fail = (error) => (message.complete ? undefined : breakOff(error));
        abort = (reason) => reader.fail(reason, false);
        source.on('error', breakOff);
        resolve({ status, statusText, headers, body: reader.bytes });
      } catch (error) {
        fail(error);
        clientRequest.destroy();
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

function limitConnecting(clientRequest: ClientRequest, socket: Socket): void {
  const timer = setTimeout(
    () => clientRequest.destroy(new NoConnection(`no connection within ${limits.modelConnectMs / 1000} s`)),
    limits.modelConnectMs,
  );
  const clear = (): void => clearTimeout(timer);
  socket.once(clientRequest.protocol === 'https:' ? 'secureConnect' : 'connect', clear);
  socket.once('close', clear);
}

function toHeaders({ headersDistinct }: IncomingMessage): Headers {
  const headers = new Headers();
  for (const [name, values = []] of Object.entries(headersDistinct)) for (const value of values) headers.append(name, value);
  return headers;
}

function fetchFailed(cause: unknown): TypeError {
  return new TypeError('fetch failed', { cause: toHungUp(cause) });
}

function bodyTerminated(cause: unknown): TypeError {
  return new TypeError('terminated', { cause: toHungUp(cause) });
}

function toHungUp(error: unknown): unknown {
  const { code, syscall } = error as NodeJS.ErrnoException;
  return code === 'ECONNRESET' && syscall === undefined ? new HungUp('the other side has left', { cause: error }) : error;
}

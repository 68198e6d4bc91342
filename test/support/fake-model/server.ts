import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { once } from 'node:events';
import { checkAnthropic, type RuleContext } from './anthropic-rules.js';
import { newestText, trailingResults, type Asked } from './asked.js';
import { checkChat } from './chat-rules.js';
import { badKey, errorBody, newId, overflow, refuse } from './failures.js';
import { createIssued } from './issued.js';
import { listModels, type ModelEntry } from './models.js';
import { createOutlet } from './outlet.js';
import { isFailure, isSteps, type Api, type Failure, type Reply } from './reply.js';
import { checkResponses } from './responses-rules.js';
import { findLoneSurrogate, rule, type Json, type Problem } from './shape.js';
import { speak, toTokens } from './speak.js';

/** A model server without a mind, on a port of its own: it answers as told, and takes only what the real one would. */
export interface FakeModel extends AsyncDisposable {
  readonly url: string;
  /** What an SDK wants as its base URL. */
  baseUrl(api: Api): string;
  /** Every question to the model in order, refused ones too. */
  readonly asked: readonly Asked[];
  /** The next question that the test has not seen. */
  next(): Promise<Asked>;
  /** Forgets what was asked, but not what was given out. */
  forget(): void;
  /** What was refused because the real one would; tests assert that there is none. */
  readonly refusals: readonly string[];
  /** What was odd, but accepted. */
  readonly notes: readonly string[];
  /** Answers to the next questions that are accepted, first in first out. */
  script(...replies: Reply[]): void;
  /** Answers when nothing is scripted. */
  answerWith(answer: (asked: Asked) => Reply | Promise<Reply>): void;
  /** What there is to choose from, or why that cannot be said. */
  models: ModelEntry[] | Failure | 'reset';
  /** The headers of every question for the list of models. */
  readonly listings: readonly IncomingHttpHeaders[];
  /** If set, other keys are refused as the provider does. That is no refusal in the sense above. */
  keys: Set<string> | undefined;
  /** If set, longer requests are refused as the provider does, at four characters a token. */
  contextTokens: number | undefined;
  /** Fields that are accepted wherever they are, as servers do that only resemble the real ones. */
  readonly extraFields: Set<string>;
}

export interface FakeModelOptions {
  /** So many deltas of an answer are handed to the socket now. */
  onDeltas?: (count: number, asked: Asked) => void;
  /** What else can be got, by path. */
  pages?: Record<string, () => unknown>;
}

const routes: Record<string, Api> = {
  'POST /v1/messages': 'anthropic',
  'POST /v1/responses': 'openai-responses',
  'POST /v1/chat/completions': 'openai-chat',
};
const rules: Record<Api, (body: Json, context: RuleContext) => Problem | undefined> = {
  anthropic: checkAnthropic,
  'openai-responses': checkResponses,
  'openai-chat': checkChat,
};

/** The key of a request; Anthropic prefers its own header. */
function keyOf(api: Api, headers: IncomingHttpHeaders): string | undefined {
  const own = api === 'anthropic' ? headers['x-api-key'] : undefined;
  return own === undefined ? /^Bearer (.+)$/.exec(headers.authorization ?? '')?.[1] : String(own);
}

/** The body, or undefined when the peer left before it was whole. */
async function readBody(request: IncomingMessage): Promise<Buffer | undefined> {
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => chunks.push(chunk));
  request.on('error', () => undefined);
  await new Promise((resolve) => request.once('close', resolve));
  return request.complete ? Buffer.concat(chunks) : undefined;
}

function parse(raw: Buffer): { text: string; body: Json; problem?: Problem } {
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(raw);
    const body: Json = JSON.parse(text);
    const torn = /\\ud[89a-f]/i.test(text) ? findLoneSurrogate(body) : undefined;
    if (!torn) return { text, body };
    return { text, body, problem: rule(torn, 'The request body is not valid JSON: lone surrogate in string.') };
  } catch (error) {
    return { text: '', body: undefined, problem: rule([], `The request body is not valid JSON: ${String(error)}.`) };
  }
}

export async function createFakeModel({ onDeltas = () => undefined, pages = {} }: FakeModelOptions = {}): Promise<FakeModel> {
  const asked: Asked[] = [];
  const refusals: string[] = [];
  const notes: string[] = [];
  const scripted: Reply[] = [];
  const listings: IncomingHttpHeaders[] = [];
  const issued = createIssued();
  let seen = 0;
  let waiting: (() => void)[] = [];
  let answer: (asked: Asked) => Reply | Promise<Reply> = () => [{ text: 'ok' }];
  let finish = (): void => undefined;
  const over = new Promise<undefined>((resolve) => (finish = () => resolve(undefined)));

  function headersOf(api: Api): Record<string, string> {
    const id = api === 'anthropic' ? { 'request-id': newId('req_01') } : { 'x-request-id': newId('req_'), 'openai-processing-ms': '12' };
    return { 'cache-control': 'no-cache', ...id };
  }
  async function send(response: ServerResponse, api: Api, { status, headers, body = errorBody(api, status) }: Failure): Promise<void> {
    if (response.destroyed) return;
    const type = typeof body === 'string' ? 'text/plain' : 'application/json';
    response.writeHead(status, { ...headersOf(api), 'content-type': type, ...headers });
    await new Promise<void>((resolve) => {
      response.once('close', resolve);
      response.end(typeof body === 'string' ? body : JSON.stringify(body), () => resolve());
    });
  }

  /** Why a question is not answered, if so; `strict` when the real server would refuse it, whatever the test has set. */
  function refusalOf(api: Api, headers: IncomingHttpHeaders, parsed: ReturnType<typeof parse>) {
    const key = keyOf(api, headers);
    if (key === undefined) {
      const message = api === 'anthropic' ? 'x-api-key header is required' : `You didn't provide an API key.`;
      return { message, strict: true, failure: { status: 401, body: errorBody(api, 401, { message }) } };
    }
    if (model.keys && !model.keys.has(key)) {
      const shown = `${key.slice(0, 3)}***${key.slice(-4)}`;
      const failure = api === 'anthropic' ? { status: 401 } : badKey(api, shown);
      return { message: `unknown key ${shown}`, strict: false, failure };
    }
    const { body, text } = parsed;
    const known =
      model.extraFields.size === 0 ? body : JSON.parse(text, (name, value) => (model.extraFields.has(name) ? undefined : value));
    const note = (message: string): void => void notes.push(message);
    const problem = parsed.problem ?? rules[api](known, { headers, issued, note });
    if (problem) return { ...refuse(api, problem), strict: true };
    const tokens = toTokens(text.length);
    if (model.contextTokens === undefined || tokens <= model.contextTokens) return undefined;
    return { message: 'over the context', strict: false, failure: overflow(api, tokens, model.contextTokens) };
  }

  /** Whether the peer stayed to the end. */
  async function reply(question: Asked, given: Reply, tokens: number, response: ServerResponse): Promise<boolean> {
    const { api, body } = question;
    if (given === 'reset') {
      response.socket?.resetAndDestroy();
      return true;
    }
    if (isFailure(given)) {
      await send(response, api, given);
      return response.writableFinished;
    }
    const spoken = isSteps(given) ? { steps: given } : given;
    const headers = { ...headersOf(api), 'content-type': 'text/event-stream; charset=utf-8' };
    const tell = (count: number): void => onDeltas(count, question);
    const outlet = createOutlet(response, { headers, chunkBytes: spoken.chunkBytes, onDeltas: tell });
    return speak(spoken, { api, body, tokens, issued, over }, outlet);
  }

  async function ask(api: Api, request: IncomingMessage, response: ServerResponse): Promise<void> {
    const raw = await readBody(request);
    if (!raw) return;
    const parsed = parse(raw);
    const { body } = parsed;
    const refused = refusalOf(api, request.headers, parsed);
    const refusal = refused?.message;
    if (refused?.strict) refusals.push(`${api}: ${refusal}`);
    let close: (how: 'done' | 'left') => void = () => undefined;
    const closed = new Promise<'done' | 'left'>((resolve) => (close = resolve));
    const seenBody = { body, text: newestText(body), toolResults: trailingResults(body) };
    const question: Asked = { api, headers: request.headers, ...seenBody, refusal, closed };
    asked.push(question);
    const ready = waiting;
    waiting = [];
    for (const wake of ready) wake();
    const left = new Promise<undefined>((resolve) => response.once('close', () => resolve(undefined)));
    const given = refused?.failure ?? scripted.shift() ?? (await Promise.race([answer(question), left, over]));
    const isDone = given !== undefined && (await reply(question, given, toTokens(parsed.text.length), response));
    close(isDone ? 'done' : 'left');
  }

  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { pathname, searchParams } = new URL(request.url ?? '/', 'http://localhost');
    const api = routes[`${request.method} ${pathname}`];
    if (api) return ask(api, request, response);
    const page = pages[pathname];
    const form: Api = request.headers['anthropic-version'] === undefined ? 'openai-chat' : 'anthropic';
    if (page) return send(response, form, { status: 200, body: page() });
    if (request.method !== 'GET' || pathname !== '/v1/models') {
      refusals.push(`no such route: ${request.method} ${pathname}`);
      return send(response, form, { status: 404 });
    }
    listings.push(request.headers);
    const key = keyOf(form, request.headers);
    if (key === undefined || (model.keys && !model.keys.has(key))) return send(response, form, { status: 401 });
    if (model.models === 'reset') return void response.socket?.resetAndDestroy();
    if (!Array.isArray(model.models)) return send(response, form, model.models);
    return send(response, form, { status: 200, body: listModels(form, model.models, searchParams) });
  }

  const server = createServer((request, response) => {
    // A fault in what a test gave to say: it is thrown where the test sees it, and nobody waits for the rest.
    void handle(request, response).finally(() => (response.writableEnded ? undefined : response.destroy()));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

  const model: FakeModel = {
    url,
    baseUrl: (api) => (api === 'anthropic' ? url : `${url}/v1`),
    asked,
    async next() {
      while (asked.length <= seen) await new Promise<void>((resolve) => waiting.push(resolve));
      return asked[seen++]!;
    },
    forget() {
      asked.length = 0;
      seen = 0;
    },
    refusals,
    notes,
    script: (...replies) => void scripted.push(...replies),
    answerWith(given) {
      answer = given;
    },
    models: [{ id: 'fake-model' }],
    listings,
    keys: undefined,
    contextTokens: undefined,
    extraFields: new Set(),
    async [Symbol.asyncDispose]() {
      finish();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  return model;
}

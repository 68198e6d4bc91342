import { limits } from '../protocol/limits.js';
import type { Usage } from '../protocol/messages.js';
import { AnswerTooLong, UnexpectedAnswer } from './http/sse-guard.js';
import { hungUpCode } from './http/http-fetch.js';
import type { ModelFailure } from './port.js';
import { scrub } from './secrets.js';

/** What a failure message names: the provider, the model and the source of the key. */
export interface FailureContext {
  provider: string;
  model: string;
  /** The source of the key; null when no key was sent. */
  keySource: string | null;
  /** What to do about a wrong key. */
  remedy: string;
  /** Texts to redact: the key, and values of configured headers. */
  secrets: readonly string[];
}

/** An API error of either SDK. Errors within a stream have no status. */
interface ApiError {
  status: number | undefined;
  headers: Headers | undefined;
  type: string;
  code: string;
  /** The name of the refused request parameter. */
  param: string;
  text: string;
}

const overflowPattern =
  /context[ _](length|window|size)|maximum (context|prompt)|exceed_context|context (the )?overflows|(prompt|input) is too long|too many (input )?tokens|exceed context limit|n_keep.*n_ctx|token (count|limit).*exceed|exceed.*token limit|reduce the length|request too large|longer than the maximum|inputs`? tokens \+.*must be <=/i;
const quotaPattern =
  /insufficient_quota|billing_hard_limit|billing_error|billing_not_active|account_deactivated|spend_limit_reached|organization_on_hold|api usage limits|credit balance|exceeded your current quota|insufficient (funds|credits?|balance)|out of credits|payment required/i;
const transientTypes = /overloaded|rate_limit|api_error|server_error|timeout|unavailable|internal/i;
const certificateCodes = /^(CERT_|DEPTH_ZERO_|SELF_SIGNED_|UNABLE_TO_|ERR_TLS_)/;

const networkMessages: Record<string, string> = {
  ECONNREFUSED: 'connection refused: no server listens at its address',
  ENOTFOUND: 'its host name cannot be resolved (DNS)',
  EAI_AGAIN: 'its host name cannot be resolved now (DNS)',
  ECONNRESET: 'the connection was reset',
  EPIPE: 'the connection was closed',
  ETIMEDOUT: 'the connection timed out',
  EHOSTUNREACH: 'its host cannot be reached',
  ENETUNREACH: 'there is no network',
  [hungUpCode]: 'the connection was closed',
};

/** Describes a network error. */
export function describeTransportError(error: unknown): string {
  return networkMessages[codeOf(error)] ?? deepestMessage(error);
}

/** Converts an error into a failure, with secrets redacted. */
export function toFailure(error: unknown, context: FailureContext): ModelFailure {
  return withoutSecrets(isApiError(error) ? fromApi(readApiError(error), context) : fromTransport(error, context), context);
}

/** Redacts secrets in the cause, which is text of the server. The message is our own text. */
function withoutSecrets(failure: ModelFailure, { secrets }: FailureContext): ModelFailure {
  return failure.cause === undefined ? failure : { ...failure, cause: scrub(failure.cause, secrets) };
}

/** The stream was cut off: the answer is incomplete. */
export function cutFailure({ provider }: FailureContext): ModelFailure {
  return { message: `${provider} stopped in the middle of its answer`, retry: {} };
}

/** An empty answer. One retry often helps. */
export function emptyFailure({ provider, model }: FailureContext, usage: Usage | null): ModelFailure {
  return { message: `${provider}/${model} sent an empty answer`, retry: { once: true }, usage };
}

export function stalledFailure({ provider }: FailureContext, idleMs: number): ModelFailure {
  return { message: `${provider} has sent nothing for ${Math.round(idleMs / 100) / 10} s`, retry: {} };
}

/** An error event within a stream, after the answer began. */
export function inStreamFailure(type: string, text: string, context: FailureContext): ModelFailure {
  return withoutSecrets(fromApi({ status: statusIn(type), headers: undefined, type, code: type, param: '', text }, context), context);
}

/** The request exceeds the context window. */
export function overflowFailure({ provider, model }: FailureContext): ModelFailure {
  return { message: `the conversation is too long for ${provider}/${model}`, overflow: true };
}

const refusals = new Set([400, 404, 422]);

/** Reads the error of a refused request (400, 404, 422); undefined for other errors. */
export function readRefusal(error: unknown): { words: string; param: string } | undefined {
  if (!isApiError(error)) return undefined;
  const { status, type, code, param, text } = readApiError(error);
  return refusals.has(status ?? 0) ? { words: `${type} ${code} ${text}`, param } : undefined;
}

const stackFrame = /^\s*(?:at\s+\S|File ")/;
const inlineFrames = /\s+at (?:async )?\S+ \(?\S+:\d+:\d+\)?.*$/;

/** The error text of a server in one line, without its stack trace, truncated. */
function withoutStackTrace(text: string): string {
  const lines = text.split(/\r?\n|\r|\\n/).filter((line) => line.trim() !== '');
  const frame = lines.findIndex((line) => stackFrame.test(line));
  // A Python traceback has the message at its end, other stack traces at their beginning.
  const isLast = (lines[0] ?? '').startsWith('Traceback (');
  const messageLines = frame === -1 ? lines : isLast ? lines.slice(-1) : lines.slice(0, 1);
  const line = messageLines
    .map((part) => part.trim())
    .join(' ')
    .replace(inlineFrames, '');
  return line.length > limits.modelCauseCharsMax ? `${line.slice(0, limits.modelCauseCharsMax).toWellFormed()}…` : line;
}

function fromApi(error: ApiError, context: FailureContext): ModelFailure {
  const { provider, model } = context;
  const { status, text } = error;
  const cause = `${withoutStackTrace(text)}${status === undefined ? '' : ` (HTTP ${status})`}`;
  const words = `${error.type} ${error.code} ${text}`;
  if (quotaPattern.test(words) || status === 402) return { message: quotaMessage(context), cause: cause };
  if (status === 401 || status === 403 || error.type === 'authentication_error')
    return { message: keyMessage(context, status), cause: cause };
  // A request above the tokens-per-minute limit never succeeds, so it counts as an overflow.
  if (overflowPattern.test(words) && (!isRateLimit(error) || /request too large/i.test(words))) {
    return { ...overflowFailure(context), cause: cause };
  }
  if (status === 413) return { message: `the request is too large for ${provider}`, cause: cause, overflow: true };
  if (status === 404) {
    return { message: `${provider} does not know ${model}, or its base_url is wrong; berth models lists what it has`, cause: cause };
  }
  if (status !== undefined && status >= 300 && status < 400) {
    // The query may repeat parts of the request.
    const to =
      error.headers
        ?.get('location')
        ?.replace(/[?#].*$/s, '')
        .replace(/\/\/[^/]*@/, '//') ?? 'another address';
    return {
      message: `${provider} redirects to ${scrub(to, context.secrets)}; keys are not sent there: if that is right, make it the base_url`,
      cause: cause,
    };
  }
  if (isTransient(error)) {
    const afterMs = readRetryAfter(error.headers);
    return { message: transientMessage(context, error), cause: cause, retry: afterMs === undefined ? {} : { afterMs } };
  }
  return { message: `${provider} refused the request`, cause: cause };
}

function isRateLimit({ status, type, code }: ApiError): boolean {
  return status === 429 || type.includes('rate_limit') || code.includes('rate_limit');
}

function isTransient({ status, headers, type, code }: ApiError): boolean {
  const shouldRetry = headers?.get('x-should-retry');
  if (shouldRetry === 'true' || shouldRetry === 'false') return shouldRetry === 'true';
  // The request was accepted: an in-stream error without a type is the provider's own.
  if (status === undefined) return transientTypes.test(`${type} ${code}`) || type + code === '';
  return status === 408 || status === 409 || status === 429 || status >= 500;
}

function transientMessage({ provider }: FailureContext, error: ApiError): string {
  const { status, type } = error;
  if (isRateLimit(error)) return `${provider}: rate limit reached`;
  if (status === 529 || status === 503 || type.includes('overloaded')) return `${provider} is overloaded`;
  return `${provider} had an internal server error`;
}

function keyMessage({ provider, keySource, remedy }: FailureContext, status: number | undefined): string {
  if (keySource === null) return `${provider} wants a key; add one with berth auth set ${provider}`;
  const verdict = status === 403 ? 'does not let the key' : 'did not accept the key';
  return `${provider} ${verdict} from ${keySource}${status === 403 ? ' do this' : ''}; ${remedy}`;
}

function quotaMessage({ provider, keySource }: FailureContext): string {
  const key = keySource === null ? '' : ` of the key from ${keySource}`;
  return `the account${key} at ${provider} has no credit or quota left; add some there, or choose another model`;
}

function fromTransport(error: unknown, { provider }: FailureContext): ModelFailure {
  if (error instanceof AnswerTooLong) return { message: `${provider} sent an answer that is too long: ${error.message}` };
  if (error instanceof UnexpectedAnswer)
    return { message: `${provider} answered with ${error.message}, not as a model does; is its base_url right?` };
  if (error instanceof SyntaxError) return { message: `${provider} sent something that is not JSON`, retry: {} };
  const code = codeOf(error);
  const networkMessage = networkMessages[code];
  if (networkMessage !== undefined)
    return { message: `${provider}: ${networkMessage}`, ...(code === hungUpCode ? {} : { cause: code }), retry: {} };
  const cause = withoutStackTrace(deepestMessage(error));
  if (certificateCodes.test(code)) return { message: `${provider} has a certificate that is not trusted`, cause: `${code}: ${cause}` };
  if (cause === 'bad port') return { message: `${provider}: its base_url has a port that cannot be used for HTTP`, cause };
  if (isConnectionTrouble(error)) return { message: `${provider}: the connection failed`, cause, retry: {} };
  return { message: `${provider} could not be asked`, cause };
}

function isApiError(error: unknown): error is Error & { status?: unknown; error?: unknown; headers?: unknown; code?: unknown } {
  if (!(error instanceof Error) || !('status' in error)) return false;
  return typeof error.status === 'number' || ('error' in error && error.error !== undefined && error.error !== null);
}

/** Connection errors of the SDKs, whose `status` is undefined, and the TypeError or AbortError of `fetch` for a truncated body. */
function isConnectionTrouble(error: unknown): boolean {
  return error instanceof Error && ('status' in error || error instanceof TypeError || error.name === 'AbortError');
}

function readApiError(error: Error & { status?: unknown; error?: unknown; headers?: unknown; code?: unknown }): ApiError {
  const outer = asRecord(error.error);
  // Anthropic nests the error in another object; the SDK of OpenAI has unwrapped it.
  const inner = asRecord(outer.error);
  const body = typeof inner.message === 'string' || typeof inner.type === 'string' ? inner : outer;
  const status = typeof error.status === 'number' ? error.status : statusIn(body.code);
  return {
    status,
    headers: error.headers instanceof Headers ? error.headers : undefined,
    type: asText(body.type),
    code: asText(body.code) || asText(asRecord(body.details).error_code),
    param: asText(body.param),
    text: asText(body.message) || error.message.replace(`${status} `, ''),
  };
}

/** The HTTP status in the code of an error within a stream. */
function statusIn(code: unknown): number | undefined {
  const status = typeof code === 'string' && /^\d{3}$/.test(code) ? Number(code) : code;
  return typeof status === 'number' && status >= 400 && status < 600 ? status : undefined;
}

function asRecord(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
}

function asText(value: unknown): string {
  return typeof value === 'string' ? value : typeof value === 'number' ? String(value) : '';
}

const tuning = { causesMax: 8 } as const;

function* causesOf(error: unknown): Generator<Error> {
  let at: unknown = error;
  for (let depth = 0; depth < tuning.causesMax && at instanceof Error; depth++) {
    yield at;
    // Several IP addresses were tried: the first error stands for all.
    at = at instanceof AggregateError && at.errors.length > 0 ? (at.errors[0] as unknown) : at.cause;
  }
}

function codeOf(error: unknown): string {
  for (const { code } of causesOf(error) as Iterable<Error & { code?: unknown }>) if (typeof code === 'string' && code !== '') return code;
  return '';
}

function deepestMessage(error: unknown): string {
  let message = String(error);
  for (const cause of causesOf(error)) if (cause.message !== '') message = cause.message;
  return message;
}

function readRetryAfter(headers: Headers | undefined): number | undefined {
  const ms = Number(headers?.get('retry-after-ms') ?? NaN);
  if (ms >= 0) return ms;
  const after = headers?.get('retry-after') ?? '';
  if (after === '') return undefined;
  const seconds = Number(after);
  const waitMs = Number.isNaN(seconds) ? Date.parse(after) - Date.now() : seconds * 1000;
  return Number.isNaN(waitMs) ? undefined : Math.max(0, waitMs);
}

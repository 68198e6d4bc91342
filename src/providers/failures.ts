import { limits } from '../protocol/limits.js';
import type { Usage } from '../protocol/messages.js';
import { AnswerTooLong, OddAnswer } from './http/sse-guard.js';
import { hungUpCode } from './http/http-fetch.js';
import type { ModelFailure } from './port.js';
import { scrub } from './secrets.js';

/** Who failed, for people: what they are told names the provider, the model and the key that was used. */
export interface Asked {
  provider: string;
  model: string;
  /** Where the key came from; null when none was sent. */
  keySource: string | null;
  /** What to do when the key is not the right one. */
  remedy: string;
  /** What must never be repeated: the key, and values of configured headers. */
  secrets: readonly string[];
}

/** What an error of either SDK says of itself. In-stream errors have no status. */
interface ApiError {
  status: number | undefined;
  headers: Headers | undefined;
  type: string;
  code: string;
  /** Which part of the request is wrong. */
  param: string;
  text: string;
}

const overflowWords =
  /context[ _](length|window|size)|maximum (context|prompt)|exceed_context|context (the )?overflows|(prompt|input) is too long|too many (input )?tokens|exceed context limit|n_keep.*n_ctx|token (count|limit).*exceed|exceed.*token limit|reduce the length|request too large|longer than the maximum|inputs`? tokens \+.*must be <=/i;
const quotaWords =
  /insufficient_quota|billing_hard_limit|billing_error|billing_not_active|account_deactivated|spend_limit_reached|organization_on_hold|api usage limits|credit balance|exceeded your current quota|insufficient (funds|credits?|balance)|out of credits|payment required/i;
const passingTypes = /overloaded|rate_limit|api_error|server_error|timeout|unavailable|internal/i;
const certificateCodes = /^(CERT_|DEPTH_ZERO_|SELF_SIGNED_|UNABLE_TO_|ERR_TLS_)/;

const networkWords: Record<string, string> = {
  ECONNREFUSED: 'nothing answers at its address',
  ENOTFOUND: 'its host name is not known',
  EAI_AGAIN: 'its host name cannot be looked up now',
  ECONNRESET: 'the connection was reset',
  EPIPE: 'the connection was closed',
  ETIMEDOUT: 'the connection timed out',
  EHOSTUNREACH: 'its host cannot be reached',
  ENETUNREACH: 'there is no network',
  [hungUpCode]: 'the connection was closed',
};

/** Why nothing could be sent or read, in words. */
export function transportWords(error: unknown): string {
  return networkWords[codeOf(error)] ?? deepestMessage(error);
}

/** A failure of a request, with nothing secret in it. */
export function toFailure(error: unknown, asked: Asked): ModelFailure {
  return withoutSecrets(isApiError(error) ? fromApi(readApiError(error), asked) : fromTransport(error, asked), asked);
}

/** The cause is what a server says: it is repeated without secrets. The message is in our own words. */
function withoutSecrets(failure: ModelFailure, { secrets }: Asked): ModelFailure {
  return failure.cause === undefined ? failure : { ...failure, cause: scrub(failure.cause, secrets) };
}

/** Cut in the middle: what came is not the answer. */
export function cutFailure({ provider }: Asked): ModelFailure {
  return { message: `${provider} stopped in the middle of its answer`, retry: {} };
}

/** Nothing was said. Asking once more often helps; asking for ever does not. */
export function emptyFailure({ provider, model }: Asked, usage: Usage | null): ModelFailure {
  return { message: `${provider}/${model} sent an empty answer`, retry: { once: true }, usage };
}

export function stalledFailure({ provider }: Asked, idleMs: number): ModelFailure {
  return { message: `${provider} has sent nothing for ${Math.round(idleMs / 100) / 10} s`, retry: {} };
}

/** An error that a provider tells in its stream, after the answer began. */
export function inStreamFailure(type: string, text: string, asked: Asked): ModelFailure {
  return withoutSecrets(fromApi({ status: statusIn(type), headers: undefined, type, code: type, param: '', text }, asked), asked);
}

/** The request does not fit, and that is all that is known. */
export function overflowFailure({ provider, model }: Asked): ModelFailure {
  return { message: `the conversation is too long for ${provider}/${model}`, overflow: true };
}

const refusals = new Set([400, 404, 422]);

/** What a provider says of a request that it refuses as it is; undefined for errors of other kinds. */
export function refusalWords(error: unknown): { words: string; param: string } | undefined {
  if (!isApiError(error)) return undefined;
  const { status, type, code, param, text } = readApiError(error);
  return refusals.has(status ?? 0) ? { words: `${type} ${code} ${text}`, param } : undefined;
}

const stackFrame = /^\s*(?:at\s+\S|File ")/;
const inlineFrames = /\s+at (?:async )?\S+ \(?\S+:\d+:\d+\)?.*$/;

/** What a server says went wrong, in a line: neither its stack trace nor its source files are anybody's business. */
function withoutTrace(text: string): string {
  const lines = text.split(/\r?\n|\r|\\n/).filter((line) => line.trim() !== '');
  const frame = lines.findIndex((line) => stackFrame.test(line));
  // Python says what happened after the trace, everybody else before it.
  const isLast = (lines[0] ?? '').startsWith('Traceback (');
  const said = frame === -1 ? lines : isLast ? lines.slice(-1) : lines.slice(0, 1);
  const line = said
    .map((part) => part.trim())
    .join(' ')
    .replace(inlineFrames, '');
  return line.length > limits.modelCauseCharsMax ? `${line.slice(0, limits.modelCauseCharsMax).toWellFormed()}…` : line;
}

function fromApi(error: ApiError, asked: Asked): ModelFailure {
  const { provider, model } = asked;
  const { status, text } = error;
  const said = `${withoutTrace(text)}${status === undefined ? '' : ` (HTTP ${status})`}`;
  const words = `${error.type} ${error.code} ${text}`;
  if (quotaWords.test(words) || status === 402) return { message: quotaMessage(asked), cause: said };
  if (status === 401 || status === 403 || error.type === 'authentication_error') return { message: keyMessage(asked, status), cause: said };
  // A request that is too large for a whole minute's allowance is too large whenever it is sent.
  if (overflowWords.test(words) && (!isRateLimit(error) || /request too large/i.test(words))) {
    return { ...overflowFailure(asked), cause: said };
  }
  if (status === 413) return { message: `the request is too large for ${provider}`, cause: said, overflow: true };
  if (status === 404) {
    return { message: `${provider} does not know ${model}, or its base_url is wrong; berth models lists what it has`, cause: said };
  }
  if (status !== undefined && status >= 300 && status < 400) {
    // What was asked for may be repeated behind it.
    const to =
      error.headers
        ?.get('location')
        ?.replace(/[?#].*$/s, '')
        .replace(/\/\/[^/]*@/, '//') ?? 'elsewhere';
    return {
      message: `${provider} redirects to ${scrub(to, asked.secrets)}; keys are not sent there: if that is right, make it the base_url`,
      cause: said,
    };
  }
  if (isPassing(error)) {
    const afterMs = readRetryAfter(error.headers);
    return { message: passingMessage(asked, error), cause: said, retry: afterMs === undefined ? {} : { afterMs } };
  }
  return { message: `${provider} refused the request`, cause: said };
}

function isRateLimit({ status, type, code }: ApiError): boolean {
  return status === 429 || type.includes('rate_limit') || code.includes('rate_limit');
}

function isPassing({ status, headers, type, code }: ApiError): boolean {
  const told = headers?.get('x-should-retry');
  if (told === 'true' || told === 'false') return told === 'true';
  // The request was accepted: what has no name is the provider's own trouble.
  if (status === undefined) return passingTypes.test(`${type} ${code}`) || type + code === '';
  return status === 408 || status === 409 || status === 429 || status >= 500;
}

function passingMessage({ provider }: Asked, error: ApiError): string {
  const { status, type } = error;
  if (isRateLimit(error)) return `${provider} limits how much may be asked at a time`;
  if (status === 529 || status === 503 || type.includes('overloaded')) return `${provider} is overloaded`;
  return `${provider} had an error of its own`;
}

function keyMessage({ provider, keySource, remedy }: Asked, status: number | undefined): string {
  if (keySource === null) return `${provider} wants a key; add one with berth auth set ${provider}`;
  const verdict = status === 403 ? 'does not let the key' : 'did not accept the key';
  return `${provider} ${verdict} from ${keySource}${status === 403 ? ' do this' : ''}; ${remedy}`;
}

function quotaMessage({ provider, keySource }: Asked): string {
  const key = keySource === null ? '' : ` of the key from ${keySource}`;
  return `the account${key} at ${provider} has no credit or quota left; add some there, or choose another model`;
}

function fromTransport(error: unknown, { provider }: Asked): ModelFailure {
  if (error instanceof AnswerTooLong) return { message: `${provider} sent an answer that does not end: ${error.message}` };
  if (error instanceof OddAnswer)
    return { message: `${provider} answered with ${error.message}, not as a model does; is its base_url right?` };
  if (error instanceof SyntaxError) return { message: `${provider} sent something that is not JSON`, retry: {} };
  const code = codeOf(error);
  const known = networkWords[code];
  if (known !== undefined) return { message: `${provider}: ${known}`, ...(code === hungUpCode ? {} : { cause: code }), retry: {} };
  const cause = withoutTrace(deepestMessage(error));
  if (certificateCodes.test(code)) return { message: `${provider} has a certificate that is not trusted`, cause: `${code}: ${cause}` };
  if (cause === 'bad port') return { message: `${provider}: its base_url has a port that cannot be used for HTTP`, cause };
  if (isConnectionTrouble(error)) return { message: `${provider}: the connection failed`, cause, retry: {} };
  return { message: `${provider} could not be asked`, cause };
}

function isApiError(error: unknown): error is Error & { status?: unknown; error?: unknown; headers?: unknown; code?: unknown } {
  if (!(error instanceof Error) || !('status' in error)) return false;
  return typeof error.status === 'number' || ('error' in error && error.error !== undefined && error.error !== null);
}

/** Connection errors of the SDKs, which have a place for a status and none in it, and what `fetch` throws when a body breaks off. */
function isConnectionTrouble(error: unknown): boolean {
  return error instanceof Error && ('status' in error || error instanceof TypeError || error.name === 'AbortError');
}

function readApiError(error: Error & { status?: unknown; error?: unknown; headers?: unknown; code?: unknown }): ApiError {
  const outer = asRecord(error.error);
  // Anthropic wraps its error once more; the SDK for OpenAI has unwrapped it.
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

/** Errors within a stream have no status but what they say themselves. */
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
    // Several addresses were tried: the first error stands for all.
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

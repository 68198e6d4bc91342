import { randomBytes } from 'node:crypto';
import type { Api, Failure } from './reply.js';
import type { Path, Problem } from './shape.js';

/** The error of a response, before it is put in the form of an API. */
export interface ErrorText {
  message: string;
  /** Anthropic's word for it, or OpenAI's. */
  type?: string;
  param?: string | null;
  code?: string | null;
}

/** An id such as providers give, different each time. */
export function newId(prefix: string, length = 24): string {
  return prefix + randomBytes(length).toString('base64').replace(/[+/=]/g, 'x').slice(0, length);
}

const anthropicErrors: Record<number, [type: string, message: string]> = {
  400: ['invalid_request_error', 'Invalid request'],
  401: ['authentication_error', 'invalid x-api-key'],
  402: ['billing_error', 'There is an issue with your billing or payment information.'],
  403: ['permission_error', 'Your API key does not have permission to use the specified resource.'],
  404: ['not_found_error', 'Not Found'],
  413: ['request_too_large', 'Request exceeds the maximum size'],
  429: ['rate_limit_error', 'This request would exceed the rate limit for your organization of 50 requests per minute.'],
  500: ['api_error', 'Internal server error'],
  503: ['api_error', 'Service temporarily unavailable'],
  504: ['timeout_error', 'Request timed out'],
  529: ['overloaded_error', 'Overloaded'],
};

const openaiErrors: Record<number, [type: string, code: string | null, message: string]> = {
  400: ['invalid_request_error', null, 'Invalid request'],
  401: ['invalid_request_error', 'invalid_api_key', 'Incorrect API key provided. You can find your API key in your account.'],
  403: ['invalid_request_error', 'unsupported_country_region_territory', 'Country, region, or territory not supported'],
  404: ['invalid_request_error', 'model_not_found', 'The model does not exist or you do not have access to it.'],
  413: ['invalid_request_error', null, 'Request entity too large'],
  429: [
    'requests',
    'rate_limit_exceeded',
    'Rate limit reached for requests per min (RPM): Limit 3, Used 3, Requested 1. Please try again in 20s.',
  ],
  500: ['server_error', null, 'The server had an error while processing your request. Sorry about that!'],
  503: ['service_unavailable_error', 'server_is_overloaded', 'Our servers are currently overloaded. Please try again later.'],
};

/** What the provider says with a status, in its own form. */
export function errorBody(api: Api, status: number, text?: ErrorText): unknown {
  if (api === 'anthropic') {
    const [type, message] = anthropicErrors[status] ?? ['api_error', `Error ${status}`];
    return { type: 'error', error: { type: text?.type ?? type, message: text?.message ?? message }, request_id: newId('req_01') };
  }
  const [type, code, message] = openaiErrors[status] ?? ['server_error', null, `Error ${status}`];
  const said = text ?? { message, code };
  return { error: { message: said.message, type: said.type ?? type, param: said.param ?? null, code: said.code ?? null } };
}

function failure(api: Api, status: number, text?: ErrorText, headers: Record<string, string> = {}): Failure {
  return { status, headers, body: errorBody(api, status, text) };
}

/** `retryAfter` is in seconds, at a time, in milliseconds with the header of the SDKs, or a header's value as it is. */
export function rateLimited(api: Api, retryAfter?: number | Date | { ms: number } | string): Failure {
  if (retryAfter === undefined) return failure(api, 429);
  if (typeof retryAfter === 'object' && 'ms' in retryAfter)
    return failure(api, 429, undefined, { 'retry-after-ms': String(retryAfter.ms) });
  const value = retryAfter instanceof Date ? retryAfter.toUTCString() : String(retryAfter);
  return failure(api, 429, undefined, { 'retry-after': value });
}

export function overloaded(api: Api): Failure {
  return failure(api, api === 'anthropic' ? 529 : 503);
}

/** Nothing is left to pay with: waiting does not help. */
export function quota(api: Api): Failure {
  if (api === 'anthropic') {
    const message =
      'Your credit balance is too low to access the Anthropic API. Please go to Plans & Billing to upgrade or purchase credits.';
    return failure(api, 400, { message });
  }
  const message = 'You exceeded your current quota, please check your plan and billing details.';
  return failure(api, 429, { message, type: 'insufficient_quota', code: 'insufficient_quota' });
}

/** A refused key, which the message repeats as careless servers do. */
export function badKey(api: Api, echoedKey: string): Failure {
  if (api === 'anthropic') return failure(api, 401, { message: `invalid x-api-key: ${echoedKey}` });
  const message = `Incorrect API key provided: ${echoedKey}. You can find your API key at https://platform.openai.com/account/api-keys.`;
  return failure(api, 401, { message, code: 'invalid_api_key' });
}

/** The request is longer than the model's context. */
export function overflow(api: Api, tokens = 210_000, maximum = 200_000): Failure {
  if (api === 'anthropic') return failure(api, 400, { message: `prompt is too long: ${tokens} tokens > ${maximum} maximum` });
  const code = 'context_length_exceeded';
  if (api === 'openai-responses') {
    const message = 'Your input exceeds the context window of this model. Please adjust your input and try again.';
    return failure(api, 400, { message, param: 'input', code });
  }
  const message = `This model's maximum context length is ${maximum} tokens. However, your messages resulted in ${tokens} tokens. Please reduce the length of the messages.`;
  return failure(api, 400, { message, param: 'messages', code });
}

function article(word: string): string {
  return /^[aeiou]/.test(word) ? `an ${word}` : `a ${word}`;
}

function kindOf(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'an array';
  return article(typeof value);
}

function quoted(words: readonly string[], or: string): string {
  return words.map((word) => `'${word}'`).join(or);
}

function anthropicWords(problem: Problem): string {
  const at = problem.path.join('.');
  switch (problem.kind) {
    case 'extra':
      return `${at}: Extra inputs are not permitted`;
    case 'missing':
      return `${at}: Field required`;
    case 'type':
      return `${at}: Input should be a valid ${problem.expected}`;
    case 'value':
      return `${at}: Input should be ${quoted(problem.allowed, ' or ')}`;
    case 'minimum':
      return `${at}: Input should be greater than or equal to ${problem.minimum}`;
    case 'pattern':
      return `${at}: String should match pattern '${problem.pattern}'`;
    case 'empty':
      return problem.what === 'string'
        ? `${at}: String should have at least 1 character`
        : `${at}: List should have at least 1 item after validation, not 0`;
    case 'rule':
      return at === '' ? problem.message : `${at}: ${problem.message}`;
  }
}

function openaiPath(path: Path): string {
  return path.map((part, i) => (typeof part === 'number' ? `[${part}]` : i === 0 ? part : `.${part}`)).join('');
}

function openaiWords(problem: Problem): ErrorText {
  const param = openaiPath(problem.path);
  switch (problem.kind) {
    case 'extra':
      return { message: `Unknown parameter: '${param}'.`, param, code: 'unknown_parameter' };
    case 'missing':
      return { message: `Missing required parameter: '${param}'.`, param, code: 'missing_required_parameter' };
    case 'type': {
      const message = `Invalid type for '${param}': expected ${article(problem.expected)}, but got ${kindOf(problem.value)} instead.`;
      return { message, param, code: 'invalid_type' };
    }
    case 'value': {
      const message = `Invalid value: '${String(problem.value)}'. Supported values are: ${quoted(problem.allowed, ', ')}.`;
      return { message, param, code: 'invalid_value' };
    }
    case 'minimum': {
      const message = `Invalid '${param}': integer below minimum value. Expected a value >= ${problem.minimum}, but got ${problem.value} instead.`;
      return { message, param, code: 'integer_below_min_value' };
    }
    case 'pattern': {
      const message = `Invalid '${param}': string does not match pattern. Expected a string that matches the pattern '${problem.pattern}'.`;
      return { message, param, code: 'invalid_value' };
    }
    case 'empty': {
      const message = `Invalid '${param}': empty ${problem.what}. Expected ${article(problem.what)} with minimum length 1, but got an empty ${problem.what} instead.`;
      return { message, param, code: `empty_${problem.what}` };
    }
    case 'rule': {
      // A rule that ends with a stop is a sentence of the provider; the others are about one parameter.
      const message = problem.message.endsWith('.') ? problem.message : `Invalid '${param}': ${problem.message}.`;
      return { message, param: param === '' ? null : param, code: problem.code ?? null };
    }
  }
}

/** A refused request: the words, and the response they come in. */
export function refuse(api: Api, problem: Problem): { message: string; failure: Failure } {
  const text = api === 'anthropic' ? { message: anthropicWords(problem) } : openaiWords(problem);
  const status = (problem.kind === 'rule' ? problem.status : undefined) ?? 400;
  return { message: text.message, failure: failure(api, status, text) };
}

import { expect, test } from 'vitest';
import type { ModelFailure } from '../../src/providers/port.js';
import { apis, type Api } from '../../src/machine/provider-config.js';
import { errorBody, overflow } from '../support/fake-model/failures.js';
import type { Reply } from '../support/fake-model/reply.js';
import { sse } from '../support/fake-model/voice.js';
import { createAsking, failureOf, thinkers } from './asking.js';
import { createStrictModel } from './strict-model.js';

async function failWith(api: Api, reply: Reply): Promise<ModelFailure> {
  await using fake = await createStrictModel();
  fake.script(reply);
  const failure = failureOf(await createAsking(api, fake.baseUrl(api)).ask());
  expect(fake.asked).toHaveLength(1);
  return failure;
}

function tooLong(api: Api): string {
  return `the conversation is too long for ${thinkers[api]}`;
}

const lmStudio =
  'Trying to keep the first 111490 tokens when context the overflows. However, the model is loaded with context length of only 32768 tokens, which is not enough. Try to load the model with a larger context length, or provide a shorter input';
const vllm =
  "This model's maximum context length is 16384 tokens. However, you requested 122946 tokens (112946 in the messages, 10000 in the completion). Please reduce the length of the messages or completion.";

/** What servers say when a request does not fit, each in its own words. */
const texts: [server: string, api: Api, message: string][] = [
  ['Anthropic', 'anthropic', 'prompt is too long: 213462 tokens > 200000 maximum'],
  [
    'Anthropic',
    'anthropic',
    'input length and `max_tokens` exceed context limit: 143653 + 64000 > 200000, decrease input length or `max_tokens` and try again',
  ],
  ['Bedrock', 'anthropic', 'Input is too long for requested model.'],
  ['OpenAI', 'openai-responses', 'Your input exceeds the context window of this model. Please adjust your input and try again.'],
  [
    'OpenAI',
    'openai-chat',
    "This model's maximum context length is 4097 tokens. However, your messages resulted in 4294 tokens. Please reduce the length of the messages.",
  ],
  ['llama.cpp', 'openai-chat', 'request (4476 tokens) exceeds the available context size (4096 tokens), try increasing it'],
  ['llama.cpp', 'openai-chat', 'the request exceeds the available context size. try increasing the context size or enable context shift'],
  ['vLLM', 'openai-chat', vllm],
  [
    'vLLM',
    'openai-chat',
    "This model's maximum context length is 8192 tokens. However, you requested 4096 output tokens and your prompt contains 90000 characters (more than 4096 tokens). Please reduce the length of the input prompt or the number of requested output tokens.",
  ],
  ['vLLM', 'openai-chat', "this model's maximum context length is 8192 tokens, but the prompt contains 9000 input tokens"],
  [
    'LM Studio',
    'openai-chat',
    'The number of tokens to keep from the initial prompt is greater than the context length. Try to load the model with a larger context length, or provide a shorter input',
  ],
  ['LM Studio', 'openai-chat', lmStudio],
  ['LM Studio', 'openai-chat', 'Cannot truncate prompt with n_keep (15028) >= n_ctx (7424)'],
  ['LM Studio', 'openai-chat', 'Context size has been exceeded'],
  [
    'OpenRouter',
    'openai-chat',
    `This endpoint's maximum context length is 32768 tokens. However, you requested about 42832 tokens (42832 of text input). Please reduce the length of either one, or use the "middle-out" transform to compress your prompt automatically.`,
  ],
  ['Mistral', 'openai-chat', 'Prompt contains 65673 tokens and 0 draft tokens, too large for model with 32768 maximum context length'],
  ['Gemini', 'openai-chat', 'The input token count (1196265) exceeds the maximum number of tokens allowed (1048575).'],
  ['Kimi', 'openai-chat', 'Invalid request: Your request exceeded model token limit: 131072'],
  ['MiniMax', 'openai-chat', 'invalid params, context window exceeds limit (2013)'],
  ['xAI', 'openai-chat', "This model's maximum prompt length is 131072 but the request contains 537812 tokens."],
];

test.each(texts)('%s (%s) says that it does not fit: %s', async (_, api, message) => {
  const expected = { message: tooLong(api), overflow: true };
  expect(await failWith(api, { status: 400, body: errorBody(api, 400, { message }) })).toMatchObject(expected);
  // The same within a stream, and bare.
  expect(await failWith(api, [{ error: { type: 'invalid_request_error', message } }])).toMatchObject(expected);
  const bare = await failWith(api, { status: 400, body: { object: 'error', message, type: 'BadRequestError', param: null, code: 400 } });
  expect(bare).toEqual({ ...expected, cause: `${message} (HTTP 400)` });
});

test.each(apis)('%s: what the provider itself says is understood', async (api) => {
  expect(await failWith(api, overflow(api))).toMatchObject({ message: tooLong(api), overflow: true });
});

test('a code says it where the words do not', async () => {
  const error = { message: 'Please adjust your input.', code: 'context_length_exceeded', param: 'input' };
  expect(await failWith('openai-responses', { status: 400, body: errorBody('openai-responses', 400, error) })).toMatchObject({
    overflow: true,
  });
  for (const form of ['flat', 'nested', 'failed'] as const) {
    const reply: Reply = [{ text: 'so' }, { error: { type: 'context_length_exceeded', message: 'Please adjust your input.', form } }];
    expect(await failWith('openai-responses', reply)).toMatchObject({ message: tooLong('openai-responses'), overflow: true });
  }
  const llama = { error: { code: 400, message: 'too big', type: 'exceed_context_size_error', n_prompt_tokens: 4_476, n_ctx: 4_096 } };
  expect(await failWith('openai-chat', { status: 400, body: llama })).toMatchObject({ overflow: true });
});

test.each<[string, Reply]>([
  ['an event named error', [{ raw: sse({ error: { message: lmStudio } }, 'error') }]],
  ['an event with a bare text', [{ raw: sse({ error: lmStudio }) }]],
  ['an event with a number', [{ raw: sse({ error: { message: vllm, type: 'BadRequestError', code: 400 } }) }]],
  ['an event after the answer began', [{ text: '' }, { raw: sse({ error: { message: lmStudio } }, 'error') }]],
  ['a document', { status: 200, body: { error: { message: lmStudio } } }],
  ['a document with a bare text', { status: 200, body: { error: lmStudio } }],
  ['a bare document', { status: 200, body: { object: 'error', message: vllm, code: 400 } }],
])('openai-chat: it is understood in %s that is sent with a status of success', async (_, reply) => {
  expect(await failWith('openai-chat', reply)).toMatchObject({ message: tooLong('openai-chat'), overflow: true });
});

test('a request that is too large for the allowance of a whole minute is too long', async () => {
  const message = 'Request too large for gpt-6.1-sol in organization org-1 on tokens per min (TPM): Limit 30000, Requested 40000.';
  const body = errorBody('openai-responses', 429, { message, type: 'tokens', code: 'rate_limit_exceeded' });
  const failure = await failWith('openai-responses', { status: 429, body });
  expect(failure).toMatchObject({ overflow: true });
  expect(failure).not.toHaveProperty('retry');
});

test.each<[Api, number, string]>([
  ['anthropic', 400, 'messages.1.content.0.text: Input should be a valid string'],
  ['anthropic', 400, 'max_tokens: 200000 > 128000, which is the maximum allowed number of output tokens for claude-sonnet-5-5'],
  ['anthropic', 400, 'messages.0.content.1.image.source.base64: image exceeds 5 MB maximum: 6000000 bytes > 5242880 bytes'],
  [
    'openai-responses',
    400,
    "Invalid 'input[3].call_id': string too long. Expected a string with maximum length 64, but got a string with length 116 instead.",
  ],
  [
    'openai-chat',
    400,
    'max_tokens is too large: 200000. This model supports at most 128000 completion tokens, whereas you provided 200000.',
  ],
  ['openai-chat', 400, "Invalid schema for function 'echo': schema must be of 'type: \"object\"'"],
  ['openai-chat', 404, 'model "qwen4" not found, try pulling it first'],
  ['openai-chat', 503, 'Loading model'],
])('%s: other errors are not taken for it: %i %s', async (api, status, message) => {
  const failure = await failWith(api, { status, body: errorBody(api, status, { message }) });
  expect(failure).not.toHaveProperty('overflow');
  expect(failure.message).not.toContain('credit');
});

import { describe, expect, test } from 'vitest';
import type { Api } from '../../src/machine/provider-config.js';
import { errorBody, type ErrorText } from '../support/fake-model/failures.js';
import type { Failure } from '../support/fake-model/reply.js';
import type { FakeModel } from '../support/fake-model/server.js';
import type { Json } from '../support/fake-model/shape.js';
import { assistant, contentFrom, createAsking, failureOf, result, textOf, thinkers, user } from './asking.js';
import { createStrictModel } from './strict-model.js';

function refusal(api: Api, text: ErrorText, status = 400): Failure {
  return { status, body: errorBody(api, status, text) };
}

/** Asks with a thought in the history, which the provider refuses so often. */
async function askRefused(fake: FakeModel, api: Api, refusals: Failure[]): Promise<{ said: string; bodies: Json[] }> {
  const model = thinkers[api];
  const { ask } = createAsking(api, fake.baseUrl(api), { config: { verbosity: 'low' } });
  fake.script([{ thinking: 'a thought', signature: 'its-signature' }, { text: 'one' }, { call: 'echo', id: 'call_1' }]);
  const content = contentFrom(await ask({ thinking: 'high' }));
  fake.script(...refusals);
  const messages = [user('hello'), assistant(model, ...content), result('call_1', 'fine')];
  const deltas = await ask({ thinking: 'high', messages });
  const said = deltas.at(-1)?.type === 'end' ? textOf(deltas) : `failed: ${failureOf(deltas).cause}`;
  return { said, bodies: fake.asked.slice(1).map(({ body }) => body) };
}

const conversation =
  'messages.1.content.0: Invalid `signature` in `thinking` block. The block is bound to a different conversation. Remove the block, or set `thinking.block_binding.prefix_mismatch_behavior` to "drop_block".';
const notPersisted =
  "Item with id 'rs_68' not found. Items are not persisted when `store` is set to false. Try again with `store` set to true, or remove this item from your input.";
const mustStart =
  'messages.1.content.0.type: Expected `thinking` or `redacted_thinking`, but found `tool_use`. When `thinking` is enabled, a final `assistant` message must start with a thinking block. To avoid this requirement, disable `thinking`.';

describe('thoughts that a provider does not take back', () => {
  test.each<[Api, ErrorText, number?]>([
    ['anthropic', { message: conversation }],
    ['anthropic', { message: 'messages.3.content.1: Invalid `signature` in `thinking` block' }],
    [
      'anthropic',
      {
        message:
          'messages.1.content.0: `thinking` or `redacted_thinking` blocks in the latest assistant message cannot be modified. These blocks must remain as they were in the original response.',
      },
    ],
    ['anthropic', { message: mustStart }],
    ['openai-responses', { message: 'The encrypted content gAAA...abcd could not be verified.', code: 'invalid_encrypted_content' }],
    ['openai-responses', { message: "Item 'rs_68' of type 'reasoning' was provided without its required following item.", param: 'input' }],
    [
      'openai-responses',
      { message: "Item 'fc_68' of type 'function_call' was provided without its required 'reasoning' item: 'rs_68'.", param: 'input' },
    ],
    ['openai-responses', { message: notPersisted, param: 'input' }, 404],
  ])('are left out of one more request to %s: %o', async (api, text, status) => {
    await using fake = await createStrictModel();
    const { said, bodies } = await askRefused(fake, api, [refusal(api, text, status)]);
    expect(said).toBe('ok');
    expect(bodies).toHaveLength(2);
    expect(JSON.stringify(bodies[0])).toContain('its-signature');
    expect(JSON.stringify(bodies[1])).not.toContain('its-signature');
    // It is told to think as before.
    expect([bodies[1].thinking, bodies[1].reasoning]).toEqual([bodies[0].thinking, bodies[0].reasoning]);
  });
});

describe('a level of thinking or of words that a model does not know', () => {
  test.each<[Api, ErrorText, number?]>([
    [
      'anthropic',
      {
        message:
          '"thinking.type.enabled" is not supported for this model. Use "thinking.type.adaptive" and "output_config.effort" to control thinking behavior.',
      },
    ],
    ['anthropic', { message: 'To turn thinking off on this model, send "thinking": {"type": "between_tools"}.' }],
    ['anthropic', { message: 'adaptive thinking is not supported on this model' }],
    ['anthropic', { message: 'This model does not support the effort parameter: output_config.effort: Extra inputs are not permitted' }],
    [
      'openai-responses',
      {
        message: "Unsupported parameter: 'reasoning.effort' is not supported with this model.",
        param: 'reasoning.effort',
        code: 'unsupported_parameter',
      },
    ],
    [
      'openai-responses',
      {
        message:
          "Unsupported value: 'minimal' is not supported with the 'gpt-5.1' model. Supported values are: 'none', 'low', 'medium', and 'high'.",
        param: 'reasoning.effort',
        code: 'unsupported_value',
      },
    ],
    [
      'openai-responses',
      {
        message: "Unsupported value: 'low' is not supported with the 'gpt-4.1' model. Supported values are: 'medium'.",
        param: 'text.verbosity',
        code: 'unsupported_value',
      },
    ],
    ['openai-responses', { message: 'Encrypted content is not supported with this model.', param: 'include' }],
    ['openai-chat', { message: 'Unrecognized request argument supplied: reasoning_effort' }],
    ['openai-chat', { message: '"gemma3:4b" does not support thinking' }],
    [
      'openai-chat',
      { message: "[{'type': 'extra_forbidden', 'loc': ('body', 'reasoning_effort'), 'msg': 'Extra inputs are not permitted'}]" },
    ],
    [
      'openai-chat',
      { message: "[{'type': 'extra_forbidden', 'loc': ('body', 'reasoning_effort'), 'msg': 'Extra inputs are not permitted'}]" },
      422,
    ],
    [
      'openai-chat',
      {
        message:
          "Function tools with reasoning_effort are not supported for gpt-6-sol in /v1/chat/completions. To use function tools, use /v1/responses or set reasoning_effort to 'none'.",
      },
    ],
    [
      'openai-chat',
      { message: "Unsupported value: 'high' is not supported with this model.", param: 'reasoning_effort', code: 'unsupported_value' },
    ],
  ])('is left out of one more request to %s: %o', async (api, text, status) => {
    await using fake = await createStrictModel();
    const { said, bodies } = await askRefused(fake, api, [refusal(api, text, status)]);
    expect(said).toBe('ok');
    expect(bodies).toHaveLength(2);
    for (const field of ['thinking', 'output_config', 'reasoning', 'include', 'reasoning_effort', 'verbosity', 'text']) {
      expect(bodies[1]).not.toHaveProperty(field);
    }
  });
});

test.each<[Api, number, string[]]>([
  ['anthropic', 1, ['max_tokens: Input should be greater than or equal to 1']],
  ['anthropic', 2, [conversation, conversation]],
  ['anthropic', 3, [conversation, 'adaptive thinking is not supported on this model', conversation]],
  ['openai-responses', 1, ["Invalid 'input[0].name': string does not match pattern."]],
  ['openai-chat', 1, ["Invalid 'messages[1].content': expected a string."]],
  ['openai-chat', 2, ['"x" does not support thinking', '"x" does not support thinking']],
])('%s: what is refused all the same is refused after %i requests', async (api, requests, texts) => {
  await using fake = await createStrictModel();
  const { said, bodies } = await askRefused(
    fake,
    api,
    texts.map((message) => refusal(api, { message })),
  );
  expect(said).toBe(`failed: ${texts.at(-1)} (HTTP 400)`);
  expect(bodies).toHaveLength(requests);
});

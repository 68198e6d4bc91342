import { describe, expect, test } from 'vitest';
import { startDaemon } from '../support/daemon.js';
import { openTalk } from '../support/talk.js';
import { holdConversation } from '../e2e/conversation.js';

const anthropic = { key: process.env.ANTHROPIC_API_KEY, model: process.env.BERTH_LIVE_ANTHROPIC ?? 'anthropic/claude-haiku-5-5' };
const openai = { key: process.env.OPENAI_API_KEY, model: process.env.BERTH_LIVE_OPENAI ?? 'openai/gpt-6-luna' };
const wanted = process.env.BERTH_LIVE === '1';
/** A real conversation takes as long as it takes. */
const conversationMs = 600_000;

const providers = {
  chat: { api: 'openai-chat', base_url: 'https://api.openai.com/v1', api_key_env: 'OPENAI_API_KEY' },
};
const partners: [string, string, string, boolean][] = [
  ['anthropic', anthropic.model, openai.key ? openai.model : anthropic.model, Boolean(anthropic.key)],
  ['openai-responses', openai.model, anthropic.key ? anthropic.model : openai.model, Boolean(openai.key)],
  ['openai-chat', `chat/${openai.model.replace(/^openai\//, '')}`, openai.model, Boolean(openai.key)],
];

describe('with real models', () => {
  if (!wanted)
    process.stdout.write(
      '!!! SKIPPED: set BERTH_LIVE=1, and ANTHROPIC_API_KEY or OPENAI_API_KEY, to talk to real models; it costs some cents\n',
    );
  for (const [api, model, other, hasKey] of partners) {
    if (wanted && !hasKey) process.stdout.write(`!!! SKIPPED ${api}: its key is not in the environment\n`);
    test.skipIf(!wanted || !hasKey)(
      `the whole conversation over ${api}`,
      async () => {
        const keys = {
          ...(anthropic.key ? { ANTHROPIC_API_KEY: anthropic.key } : {}),
          ...(openai.key ? { OPENAI_API_KEY: openai.key } : {}),
        };
        await using daemon = await startDaemon({ config: { providers }, env: keys });
        const talk = await openTalk(daemon);
        await holdConversation(talk, { model, other, script: () => undefined });
        expect((await talk.state()).run_state).toBe('idle');
      },
      conversationMs,
    );
  }
});

import { expect, test } from 'vitest';
import { startDaemon } from '../support/daemon.js';
import { done, newSession, refusalOf, say, type Told } from '../support/wire.js';

const textsOf = ({ prompts }: Record<string, Told>): string[] => (prompts as { text: string }[]).map(({ text }) => text);

test('what people have sent is found at once: that of the same directory first, and in every session', async () => {
  await using daemon = await startDaemon();
  const client = await daemon.raw();
  expect(done(await client.call('list_prompts'))).toEqual({ prompts: [], has_more: false });
  const here = await newSession(client, { cwd: daemon.workdir });
  const there = await newSession(client, { cwd: daemon.root });
  await say(client, here, 'say one');
  await say(client, there, 'say Two');
  await say(client, here, 'say one');
  const first = done(await client.call('list_prompts', { session_id: there }));
  expect(first).toEqual({
    prompts: [
      {
        text: 'say Two',
        session_id: there,
        message_id: expect.stringMatching(/^msg_/) as string,
        created_at: expect.any(String) as string,
      },
      { text: 'say one', session_id: here, message_id: expect.stringMatching(/^msg_/) as string, created_at: expect.any(String) as string },
    ],
    has_more: false,
  });
  expect(textsOf(done(await client.call('list_prompts', { session_id: here })))).toEqual(['say one', 'say Two']);
  expect(textsOf(done(await client.call('list_prompts', { session_id: here, query: 'TWO' })))).toEqual(['say Two']);
  expect(done(await client.call('list_prompts', { session_id: here, limit: 1 }))).toMatchObject({ has_more: true });
  expect(refusalOf(await client.call('list_prompts', { session_id: 'ses_none' })).code).toBe('session_not_found');
  const { messages } = done(await client.call('get_messages', { session_id: there }));
  expect((messages as { id: string }[])[0]?.id).toBe((first.prompts as { message_id: string }[])[0]?.message_id);
});

import { expect } from 'vitest';
import type { Reply } from '../support/fake-model/reply.js';
import type { RawLine } from '../support/raw-client.js';
import type { Talk } from '../support/talk.js';

/** Who is talked to: real models say what they like, a scripted one says what the step needs. */
export interface Partner {
  model: string;
  other: string;
  /** What the next responses are, where somebody can decide that. */
  script(...replies: Reply[]): void;
}

function isTextOf(runId: string): (event: RawLine) => boolean {
  return (event) => event.type === 'message_update' && event.payload.run_id === runId && event.payload.delta !== undefined;
}

async function run(talk: Talk, text: string): Promise<void> {
  const runId = await talk.prompt(text);
  expect([text, await talk.ended(runId)]).toEqual([text, 'completed']);
}

/**
 * Everything that a session goes through, once: text, parallel tools with a steer between them, thinking, an abort, a resume, another
 * provider and back, a summary, and a follow-up that comes while it is made.
 */
export async function holdConversation(talk: Talk, { model, other, script }: Partner): Promise<void> {
  await talk.ok('update_session', { model, thinking: 'medium' });

  script([{ text: 'Hello to you. ⚓ 船' }]);
  await run(talk, 'Say hello, with an anchor.');
  expect((await talk.texts('assistant')).at(-1)).not.toBe('');

  script(
    [{ thinking: 'Two tools.' }, { call: 'ask_user', args: { method: 'confirm', title: 'Go on?' } }, { call: 'ls', args: {} }],
    [{ text: 'As you wish.' }],
  );
  const steered = await talk.prompt(
    'In one response call two tools in parallel: first ask_user with method confirm and the title "Go on?", then ls without arguments.',
  );
  const { payload: request } = await talk.until((event) => event.type === 'ui_request' && event.payload.run_id === steered);
  await talk.ok('steer', { text: 'That is enough: call no more tools, just say done.' });
  await talk.ok('ui_response', { request_id: request.request_id, result: true });
  expect(await talk.ended(steered)).toBe('completed');

  script(
    [
      { call: 'glob', args: { pattern: '*' } },
      { call: 'glob', args: { pattern: '*.md' } },
    ],
    [{ text: 'Two lists.' }],
  );
  await run(talk, 'In one response call the tool glob twice: with the pattern *, and with the pattern *.md. Then say what they found.');
  expect((await talk.messages()).filter(({ tool_name }) => tool_name === 'glob').length).toBeGreaterThan(0);

  script([{ thinking: 'Deep thoughts.' }, { text: 'Shallow words.' }], [{ text: 'Yes.' }]);
  await run(talk, 'Think carefully: how many weekdays lie between two Mondays? Answer in one line.');
  await run(talk, 'Are you sure? Answer yes or no.');

  script([{ text: 'One, two, three ' }, { stall: true }]);
  const aborted = await talk.prompt('Count from one to a hundred in words.');
  await talk.until(isTextOf(aborted));
  await talk.ok('abort');
  expect(await talk.ended(aborted)).toBe('aborted');
  script([{ text: 'and so on.' }]);
  const resumed = await talk.ok('resume_run', { run_id: aborted, action: 'continue' });
  expect(await talk.ended(resumed.run_id)).toBe('completed');

  await talk.ok('set_model', { model: other });
  script([{ thinking: 'Where was I?' }, { call: 'ls', args: {} }], [{ text: 'Here.' }]);
  await run(talk, 'Call the tool ls without arguments, then say what it said.');

  await talk.ok('set_model', { model });
  script([{ thinking: 'Back again.' }, { text: 'Home.' }]);
  await run(talk, 'In one sentence: what did we do so far?');

  let go: (value: unknown) => void = () => undefined;
  script([{ text: '## Goal\nTo sail.' }, { gate: new Promise((resolve) => (go = resolve)) }], [{ text: 'After the summary.' }]);
  const compaction = talk.ok('compact_session', { instruction: 'Mention the anchor.' });
  await talk.until((event) => event.type === 'compaction_start');
  const followed = await talk.ok('follow_up', { text: 'Say that you are still there.', if_idle: 'prompt' });
  go(undefined);
  expect((await compaction).summary).not.toBe('');
  expect(await talk.ended(followed.run_id)).toBe('completed');
}

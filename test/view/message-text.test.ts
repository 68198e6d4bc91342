import { expect, test } from 'vitest';
import { messageNotes, messageParts } from '../../src/view/message-text.js';
import { hidden, hostileText, textsIn } from './hostile-text.js';
import { message } from './messages.js';

test('an answer is its texts, thoughts and calls in their order, and what is special about it', () => {
  const parts = messageParts(
    message({
      stop_reason: 'length',
      truncated: true,
      content: [
        { type: 'thinking', thinking: 'hm' },
        { type: 'text', text: 'Look:' },
        { type: 'tool_call', id: 'c', name: 'bash', arguments: { command: 'make' } },
      ],
    }),
  );
  expect(parts).toEqual([
    { kind: 'thinking', text: 'hm' },
    { kind: 'text', text: 'Look:' },
    { kind: 'tool_call', callId: 'c', name: 'bash', headline: '$ make' },
    { kind: 'note', about: 'truncated', text: 'only the beginning is shown' },
    { kind: 'note', about: 'length_limit', text: 'cut: the model reached its length limit' },
  ]);
});

test('images of a prompt are counted, not shown as text', () => {
  const image = { type: 'image' as const, data: 'AAAA', mime_type: 'image/png' };
  const parts = messageParts(message({ role: 'user', content: [{ type: 'text', text: 'see' }, image, image] }));
  expect(parts).toEqual([
    { kind: 'text', text: 'see' },
    { kind: 'note', about: 'images', text: '2 images' },
  ]);
});

test('a result says whether its call ran', () => {
  const result = { role: 'tool_result' as const, tool_call_id: 'c', tool_name: 'read', text: 'no such file' };
  expect(messageParts(message(result))).toEqual([
    { kind: 'tool_result', callId: 'c', name: 'read', outcome: 'done', text: 'no such file' },
  ]);
  expect(messageParts(message({ ...result, is_error: true }))).toMatchObject([{ outcome: 'failed', text: 'no such file' }]);
  expect(messageParts(message({ ...result, is_error: true, skipped: true, text: 'Denied\nby\tthe person.' }))).toEqual([
    { kind: 'tool_result', callId: 'c', name: 'read', outcome: 'skipped', reason: 'Denied by the person.' },
  ]);
});

test('a summary says what it stands for', () => {
  const compaction = { trigger: 'manual' as const, first_kept_entry_id: 'm', tokens_before: 900, tokens_after: 40 };
  expect(messageParts(message({ role: 'compaction', text: 'We did things.', compaction }))).toEqual([
    { kind: 'summary', headline: 'stands for what came before, for the model: about 900 tokens are now 40', text: 'We did things.' },
  ]);
});

test('of an answer that was streamed nothing is said to be missing', () => {
  const broken = message({ stop_reason: 'aborted', truncated: true });
  expect(messageNotes(broken).map(({ about }) => about)).toEqual(['truncated', 'broken_off']);
  expect(messageNotes(broken, { streamed: true })).toEqual([]);
});

test('nothing hidden gets through, whoever wrote it and in whatever part', () => {
  const content = [
    { type: 'text' as const, text: hostileText },
    { type: 'thinking' as const, thinking: hostileText },
    { type: 'tool_call' as const, id: 'c', name: `n${hostileText}`, arguments: { [hostileText]: hostileText } },
  ];
  const messages = [
    message({ content }),
    message({ role: 'user', content }),
    message({ role: 'compaction', text: hostileText }),
    message({ role: 'tool_result', tool_name: hostileText, text: hostileText }),
    message({ role: 'tool_result', tool_name: hostileText, text: hostileText, skipped: true }),
  ];
  for (const text of textsIn(messages.map(messageParts))) expect(hidden.test(text)).toBe(false);
});

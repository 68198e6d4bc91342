import { expect, test } from 'vitest';
import type { Message } from '../../../src/protocol/messages.js';
import type { OpenCallView } from '../../../src/view/tools/open-calls.js';
import { describeToolMessage } from '../../../src/view/tools/tool-view.js';

const part = { name: 'bash', headline: '$ npm test' };
const result = (fields: Partial<Message>): Message =>
  ({ id: 'msg_1', role: 'tool_result', run_id: 'run_1', tool_call_id: 'call_1', text: 'ok', content: [], ...fields }) as Message;

test('a call with a result has its outcome, and what is stored with it in the words of every frontend', () => {
  expect(describeToolMessage(part, result({ details: { duration_ms: 3_200 } }), undefined)).toEqual({
    ...{ state: 'ok', ...part, output: 'ok', took: '3.2 s' },
  });
  expect(describeToolMessage(part, result({ text: 'Denied.', skipped: true, is_error: true }), undefined)).toEqual({
    ...{ state: 'skipped', ...part, output: '', reason: 'Denied.' },
  });
});

test('an artifact that has not all of the output is not said to', () => {
  const details = { duration_ms: 1, artifact_id: 'art_1', counts: { bytes: 90, dropped_bytes: 30 } };
  expect(describeToolMessage(part, result({ details }), undefined).artifact).toBe('the first 60 of 90 bytes: berth artifact art_1');
});

test('a call without a result is as far as its run, and without a run it never gets one', () => {
  const open: OpenCallView = { id: 'call_1', ...part, state: 'asking', requestId: 'req_1', output: 'a\u001b[2J', outputOffset: 0 };
  expect(describeToolMessage(part, undefined, open)).toEqual({ state: 'asking', ...part, output: 'a␛[2J' });
  expect(describeToolMessage(part, undefined, undefined)).toEqual({ state: 'interrupted', ...part, output: '' });
});

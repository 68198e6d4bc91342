import { expect, test } from 'vitest';
import { refusal, rejectionWords } from '../../src/protocol/errors.js';
import { describeRefusal, refusalCode } from '../../src/view/refusal-text.js';
import { hidden, hostileText } from './hostile-text.js';

test('every word of a rejection is a sentence, with the remedy of the frontend behind it', () => {
  for (const word of rejectionWords) expect(describeRefusal(refusal('command_rejected', word))).toMatch(/^[a-z].* .*[a-z]$/);
  const full = refusal('command_rejected', 'queue_full');
  expect(describeRefusal(full)).toBe('the queue is full');
  expect(describeRefusal(full, { queue_full: 'see berth queue' })).toBe('the queue is full; see berth queue');
});

test('a cause says more than the word, and a word of tomorrow is shown as it is', () => {
  expect(describeRefusal(refusal('command_rejected', 'leaf_not_found', {}, 'that message is gone'))).toBe('that message is gone');
  expect(describeRefusal(refusal('command_rejected', 'not_known_yet'))).toBe('not_known_yet');
  expect(describeRefusal(refusal('storage_full', 'the disk is full', {}, 'ENOSPC'))).toBe('the disk is full: ENOSPC');
});

test('programs tell a rejected command by its word and other refusals by their code', () => {
  expect(refusalCode(refusal('command_rejected', 'queue_full'))).toBe('queue_full');
  expect(refusalCode(refusal('command_rejected', 'toString'))).toBe('command_rejected');
  expect(refusalCode(refusal('storage_full', 'queue_full'))).toBe('storage_full');
});

test('nothing hidden gets through', () => {
  const texts = [
    describeRefusal(refusal('command_rejected', hostileText)),
    describeRefusal(refusal('command_rejected', 'queue_full', {}, hostileText)),
    describeRefusal(refusal('invalid_payload', hostileText, {}, hostileText)),
  ];
  for (const text of texts) expect(hidden.test(text)).toBe(false);
});

import { expect, test } from 'vitest';
import { describeEnding } from '../../src/cli/run-ending.js';
import { sessionTitle } from '../../src/cli/session-title.js';
import { describeStatus } from '../../src/cli/status-text.js';
import type { SessionListRow } from '../../src/protocol/views.js';

test('moments to come are told by how far away they are', () => {
  const now = Date.parse('2026-01-01T00:00:00.000Z');
  expect(describeStatus('busy; asked again at 2026-01-01T00:00:38.200Z (1 of 8 failed)', now)).toBe(
    'busy; asked again in 38 s (1 of 8 failed)',
  );
  expect(describeStatus('busy; asked again at 2026-01-01T00:00:00.000Z', now)).toBe('busy; asked again in a moment');
  expect(describeStatus('the disk is full', now)).toBe('the disk is full');
});

test('a run that was stopped says why, and a failed one what to do', () => {
  expect(describeEnding({ outcome: 'aborted', error: { code: 'aborted', message: 'lunch' } }, 'R')).toEqual({
    text: 'stopped: lunch',
    advice: '',
  });
  expect(describeEnding({ outcome: 'failed', error: { code: 'x', message: 'm', cause: 'c' } }, 'R')).toEqual({
    text: 'failed: m (c)',
    advice: 'R tries again',
  });
});

test('a session without a title is called after its first prompt', () => {
  const row = { title: '', first_user_message: 'first', last_user_message: 'last' } as SessionListRow;
  expect(sessionTitle(row)).toBe('first');
  expect(sessionTitle({ ...row, title: 'given' })).toBe('given');
});

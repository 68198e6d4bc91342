import { expect, test } from 'vitest';
import type { SessionListRow } from '../../src/protocol/views.js';
import { describeActivity, sessionTitle } from '../../src/view/session-list.js';

test('a session without a title is called after its first prompt', () => {
  const row = { title: '', first_user_message: 'first', last_user_message: 'last' } as SessionListRow;
  expect(sessionTitle(row)).toBe('first');
  expect(sessionTitle({ ...row, title: 'given' })).toBe('given');
});

test('a list says first what needs a person, then what runs, then why nothing does', () => {
  const idle = { run_state: 'idle', archived: false, last_outcome: 'completed', paused: false } as SessionListRow;
  expect(describeActivity({ ...idle, run_state: 'running' }, true)).toBe('asks you');
  expect(describeActivity({ ...idle, run_state: 'aborting', archived: true }, false)).toBe('stopping');
  expect(describeActivity({ ...idle, run_state: 'running', archived: true }, false)).toBe('running');
  expect(describeActivity({ ...idle, archived: true, last_outcome: 'failed' }, false)).toBe('archived');
  expect(describeActivity({ ...idle, last_outcome: 'failed', paused: true }, false)).toBe('failed');
  expect(describeActivity({ ...idle, last_outcome: 'interrupted' }, false)).toBe('interrupted');
  expect(describeActivity({ ...idle, last_outcome: 'aborted', paused: true }, false)).toBe('paused');
  expect(describeActivity(idle, false)).toBe('idle');
  expect(describeActivity({ ...idle, one_off: true }, false)).toBe('one-off');
  expect(describeActivity({ ...idle, one_off: true, last_outcome: 'failed' }, false)).toBe('failed');
});

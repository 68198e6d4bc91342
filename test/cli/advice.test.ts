import { expect, test } from 'vitest';
import { adviseResume, describePause } from '../../src/cli/advice.js';
import { describeEnding } from '../../src/view/run-outcome.js';

test('the end of a run names the command that does something about it, if there is one', () => {
  const advise = (outcome: 'completed' | 'failed' | 'interrupted' | 'aborted', abandoned = false) =>
    adviseResume(describeEnding({ outcome, error: null, abandoned }), 'berth resume x');
  expect(advise('failed')).toBe('berth resume x tries again');
  expect(advise('interrupted')).toBe('berth resume x continues it');
  expect([advise('completed'), advise('aborted'), advise('failed', true)]).toEqual(['', '', '']);
});

test('a paused queue says how to go on, unless nothing waits in it', () => {
  expect(describePause(1, 'x')).toBe('paused with 1 message waiting; berth queue x resume sends it');
  expect(describePause(2, 'x')).toBe('paused with 2 messages waiting; berth queue x resume sends them');
  expect(describePause(0, 'x')).toBe('');
});

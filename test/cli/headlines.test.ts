import { expect, test } from 'vitest';
import { describeEnding } from '../../src/cli/run-ending.js';

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

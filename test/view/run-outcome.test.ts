import { expect, test } from 'vitest';
import { describeEnding, findRun, resumeActionFor } from '../../src/view/run-outcome.js';
import { emptyView, type SessionView } from '../../src/view/session-view.js';
import { hidden, hostileText } from './hostile-text.js';
import { message } from './messages.js';

test('a run that ended says what became of it, why, and what can be done about it', () => {
  expect(describeEnding({ outcome: 'completed', error: null })).toEqual({ text: 'completed', level: 'info', remedy: null });
  expect(describeEnding({ outcome: 'aborted', error: { code: 'aborted', message: 'lunch' } })).toEqual({
    ...{ text: 'stopped: lunch', level: 'info', remedy: null },
  });
  expect(describeEnding({ outcome: 'failed', error: { code: 'x', message: 'm', cause: 'c' } })).toEqual({
    ...{ text: 'failed: m (c)', level: 'alarm', remedy: 'retry' },
  });
  expect(describeEnding({ outcome: 'interrupted', error: null })).toEqual({
    ...{ text: 'interrupted: the daemon stopped while it ran', level: 'alarm', remedy: 'continue' },
  });
});

test('nobody is advised to resume a run that was abandoned', () => {
  expect(describeEnding({ outcome: 'failed', error: null, abandoned: true })).toEqual({ text: 'failed', level: 'alarm', remedy: null });
});

test('a failed run is tried again, any other goes on from what there is', () => {
  expect((['failed', 'interrupted', 'aborted', 'completed'] as const).map(resumeActionFor)).toEqual([
    'retry',
    'continue',
    'continue',
    'continue',
  ]);
});

test('what a provider says of a failure is one line with nothing hidden in it', () => {
  const { text } = describeEnding({ outcome: 'failed', error: { code: 'x', message: `one\n${hostileText}`, cause: hostileText } });
  expect(hidden.test(text)).toBe(false);
  expect(text).not.toContain('\n');
});

test('a view tells whether a run goes on, how it ended, or that another has followed it', () => {
  const empty = emptyView('s');
  const lastRun = { id: 'r1', outcome: 'failed' as const, error: null, abandoned: false };
  const run = { id: 'r2', aborting: false, abortReason: null, turns: 0, turn: null, message: null, calls: [], usageBefore: null };
  const view: SessionView = { ...empty, state: { ...empty.state, run, lastRun }, messages: [message({ run_id: 'r0' })] };
  expect(findRun(view, 'r2')).toEqual({ state: 'running' });
  expect(findRun(view, 'r1')).toEqual({ state: 'ended', end: lastRun });
  expect(findRun(view, 'r0')).toEqual({ state: 'replaced' });
  expect(findRun(view, 'r3')).toEqual({ state: 'unknown' });
});

import { expect, test } from 'vitest';
import type { EventPayload } from '../../../src/protocol/events.js';
import { limits } from '../../../src/protocol/limits.js';
import { describeToolEnd } from '../../../src/view/tools/tool-result.js';
import { hidden, hostileText, textsIn } from '../hostile-text.js';

function ended(fields: Partial<EventPayload<'tool_execution_end'>>): EventPayload<'tool_execution_end'> {
  return {
    ...{ session_id: 's', run_id: 'r', turn_id: 't', tool_call_id: 'c', tool_name: 'bash', message_id: 'm' },
    ...{ result: '', is_error: false, skipped: false, duration_ms: 1_500 },
    ...fields,
  };
}

test('a command says how it ended once: as its reason, not in its output', () => {
  expect(describeToolEnd(ended({ result: 'oh\n[exit code 3]', is_error: true, exit_code: 3 }))).toEqual({
    ...{ name: 'bash', outcome: 'failed', reason: 'exit code 3', took: '1.5 s', diff: '', output: 'oh', artifact: null },
  });
  expect(describeToolEnd(ended({ result: 'x', is_error: true, exit_code: 137, signal: 'SIGKILL' })).reason).toBe('ended by SIGKILL');
});

test('an output that is nothing but false endings in one line is read once', () => {
  const line = '[exit code '.repeat(100_000);
  expect(describeToolEnd(ended({ result: line, exit_code: 0 })).output).toBe(line);
  expect(describeToolEnd(ended({ result: '[exit code 0]', exit_code: 0 })).output).toBe('');
});

test('what was shown while the call ran is not shown again', () => {
  expect(describeToolEnd(ended({ result: 'one\ntwo\n[exit code 0]', exit_code: 0 }), '\ntwo\n[exit code 0]').output).toBe('\ntwo');
});

test('a failure without an exit code is its own reason', () => {
  const failed = describeToolEnd(ended({ tool_name: 'read', result: 'no such\nfile', is_error: true }));
  expect([failed.outcome, failed.reason, failed.output]).toEqual(['failed', 'no such file', '']);
});

test('a call that never ran has a reason and nothing else', () => {
  expect(describeToolEnd(ended({ result: 'Denied.', is_error: true, skipped: true, duration_ms: null, diff: '-a' }))).toEqual({
    ...{ name: 'bash', outcome: 'skipped', reason: 'Denied.', took: '', diff: '', output: '', artifact: null },
  });
});

test('a change stands for the words about it, and a list that is on the screen for its own', () => {
  const changed = describeToolEnd(ended({ tool_name: 'edit', result: 'Edited.', diff: '-a\n+b\n' }));
  expect([changed.diff, changed.output]).toEqual(['-a\n+b\n', '']);
  expect(describeToolEnd(ended({ tool_name: 'todo', result: '[ ] a' })).output).toBe('');
});

test('an output that is kept says how much of it', () => {
  const kept = (counts?: Record<string, number>) =>
    describeToolEnd(ended({ artifact_id: 'art_1', ...(counts ? { counts } : {}) })).artifact;
  expect(kept({ bytes: 70_000 })).toEqual({ id: 'art_1', kept: 'all 70000 bytes' });
  expect(kept({ bytes: 70_000, dropped_bytes: 20_000 })?.kept).toBe('the first 50000 of 70000 bytes');
  expect(kept()?.kept).toBe('all of it');
});

test('nothing hidden gets through, and a reason stays short', () => {
  const fields = {
    tool_name: hostileText,
    result: `${hostileText}${'x'.repeat(200_000)}`,
    diff: `-${hostileText}`,
    artifact_id: hostileText,
  };
  const results = [
    describeToolEnd(ended(fields)),
    describeToolEnd(ended({ ...fields, diff: '' })),
    describeToolEnd(ended({ ...fields, is_error: true })),
    describeToolEnd(ended({ ...fields, is_error: true, signal: hostileText })),
    describeToolEnd(ended({ ...fields, skipped: true })),
  ];
  for (const text of textsIn(results)) expect(hidden.test(text)).toBe(false);
  for (const { reason } of results) expect(reason.length).toBeLessThanOrEqual(limits.headlineCharsMax);
});

import { expect, test } from 'vitest';
import type { WireEvent } from '../../../src/protocol/events.js';
import { absenceText, sumUpAbsence } from '../../../src/view/replay/absence.js';

function event(type: string, payload: object, seq: number): WireEvent {
  return { v: '1', id: `e${seq}`, ts: '', seq, type, payload } as unknown as WireEvent;
}

test('an absence is summed up by what people ask first: runs, calls, changed files, questions', () => {
  const events = [
    event('agent_start', {}, 1),
    event('tool_execution_start', { tool_call_id: 'a', args: { path: 'x.ts' } }, 2),
    event('tool_execution_end', { tool_call_id: 'a', diff: '+1' }, 3),
    event('tool_execution_start', { tool_call_id: 'b', args: { path: 'x.ts' } }, 4),
    event('tool_execution_end', { tool_call_id: 'b', diff: '+2' }, 5),
    event('ui_request', {}, 6),
    event('message_end', {}, 7),
    event('agent_end', { outcome: 'failed' }, 8),
  ];
  const absence = sumUpAbsence(events);
  expect(absence).toEqual({ runs: 1, failedRuns: 1, calls: 2, changedPaths: ['x.ts'], questions: 1, messages: 1 });
  expect(absenceText(absence, 3_600_000)).toBe(
    'while you were away (1h): 1 run (1 failed), 1 message, 2 calls, 1 file changed, 1 question',
  );
});

test('nothing is said of an absence in which nothing happened', () => {
  expect(absenceText(sumUpAbsence([]), 1_000)).toBe('');
});

import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { UiRequest } from '../../src/protocol/requests/requests.js';
import { createQuestionGate, openQuestions } from '../../src/tui/dock/question-state.js';

test('a key answers once the question was on the screen for 400 ms', () => {
  const gate = createQuestionGate();
  gate.painted('req_1', 1_000);
  expect([1_000, 1_399, 1_400].map((nowMs) => gate.isSettled('req_1', nowMs))).toEqual([false, false, true]);
});

test('a frame that shows the same question again does not begin the time anew', () => {
  const gate = createQuestionGate();
  for (const nowMs of [1_000, 1_016, 1_390]) gate.painted('req_1', nowMs);
  expect(gate.isSettled('req_1', 1_400)).toBe(true);
});

test('a key answers once no key was pressed for 400 ms', () => {
  const gate = createQuestionGate();
  gate.painted('req_1', 0);
  gate.keyPressed(1_000);
  expect([1_001, 1_399, 1_400].map((nowMs) => gate.isSettled('req_1', nowMs))).toEqual([false, false, true]);
});

test('another question in its place has a time of its own', () => {
  const gate = createQuestionGate();
  gate.painted('req_1', 0);
  gate.painted('req_2', 1_000);
  expect([gate.isSettled('req_1', 1_100), gate.isSettled('req_2', 1_399), gate.isSettled('req_2', 1_400)]).toEqual([false, false, true]);
});

test('a question that was hidden has to be read again', () => {
  const gate = createQuestionGate();
  gate.painted('req_1', 0);
  gate.painted(undefined, 1_000);
  expect(gate.isSettled('req_1', 2_000)).toBe(false);
  gate.painted('req_1', 2_000);
  expect([gate.isSettled('req_1', 2_399), gate.isSettled('req_1', 2_400)]).toEqual([false, true]);
});

test('whatever is painted and pressed, nothing is answered within 400 ms of a key or of the first frame', () => {
  const step = fc.record({ afterMs: fc.integer({ min: 0, max: 600 }), what: fc.constantFrom('key', 'paint req_1', 'paint req_2', 'hide') });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
      const gate = createQuestionGate();
      let nowMs = 0;
      let lastKeyMs = -Infinity;
      let shown: { id: string; sinceMs: number } | undefined;
      for (const { afterMs, what } of steps) {
        nowMs += afterMs;
        const isQuiet = nowMs - lastKeyMs >= 400;
        for (const id of ['req_1', 'req_2'])
          expect(gate.isSettled(id, nowMs)).toBe(isQuiet && shown?.id === id && nowMs - shown.sinceMs >= 400);
        if (what === 'key') {
          gate.keyPressed(nowMs);
          lastKeyMs = nowMs;
        } else {
          const id = what === 'hide' ? undefined : what.slice('paint '.length);
          gate.painted(id, nowMs);
          if (id === undefined) shown = undefined;
          else if (shown?.id !== id) shown = { id, sinceMs: nowMs };
        }
      }
    }),
  );
});

test('a question that was answered from here is not shown until the daemon has said so', () => {
  const requests = ['req_1', 'req_2'].map((request_id) => ({ request_id }) as UiRequest);
  expect(openQuestions(requests, new Set(['req_1'])).map(({ request_id }) => request_id)).toEqual(['req_2']);
});

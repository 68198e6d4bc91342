import { expect, test } from 'vitest';
import type { QueuedInput } from '../../../src/protocol/events.js';
import { queueRows } from '../../../src/tui/dock/queue-rows.js';
import { rowText, rowWidth } from '../../../src/tui/rows/row.js';

const input = {
  input_id: 'inp_1',
  kind: 'follow_up',
  text: 'tidy the hold and then the deck',
  hold: false,
  client: 'a client with a long name',
};
const facts = { inputs: [input as QueuedInput], sent: [], isPaused: true, mayResume: true, ownName: 'me', chosenId: undefined };

test.each([20, 40, 80])('what waits has most of the row, whoever sent it, at %i columns', (columns) => {
  const row = queueRows(facts, columns).at(-1)!;
  expect(rowWidth(row)).toBeLessThanOrEqual(columns);
  expect(rowText(row)).toMatch(columns < 40 ? /^✓ tidy/ : /^✓ tidy the hold/);
});

test('who only watches is not told to resume a paused queue', () => {
  const textsOf = (mayResume: boolean): string =>
    queueRows({ ...facts, mayResume }, 80)
      .map(rowText)
      .join(' ');
  expect([textsOf(true), textsOf(false)].map((text) => text.includes('/resume'))).toEqual([true, false]);
});

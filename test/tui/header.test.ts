import { expect, test } from 'vitest';
import { headerRow, type HeaderFacts } from '../../src/tui/dock/header.js';
import { rowText, rowWidth } from '../../src/tui/rows/row.js';
import { emptyView } from '../../src/view/session-view.js';

function header(columns: number, facts: Partial<HeaderFacts> = {}): string {
  const view = emptyView('ses_1');
  const state = { ...view.state, title: 'tour', cwd: '/home/me/project', model: 'offline/guide', approvalMode: 'ask' as const };
  const row = headerRow(
    { view: { ...view, state }, connection: 'here', others: [], home: '/home/me', isObserver: false, ...facts },
    columns,
  );
  expect(rowWidth(row)).toBeLessThanOrEqual(columns);
  return rowText(row);
}

test('says the session, its directory, who is there, the model and the mode', () => {
  expect(header(80, { others: ['berth on pts/3'] })).toMatch(/^ tour {2}~\/project +with berth on pts\/3 · offline\/guide · ask $/);
  expect(header(80, { others: ['a', 'b'] })).toMatch(/2 others · offline\/guide · ask $/);
});

test('keeps the mode and the connection, however long the name of another client is', () => {
  expect(header(80, { others: ['mate '.repeat(100)], connection: 'lost' })).toMatch(
    /reconnecting · with mate mate .*… · offline\/guide · ask $/,
  );
});

test.each([
  [60, /reconnecting · watching · offline\/guide · ask $/],
  [40, /reconnecting · watching · ask $/],
  [30, /reconnecting · ask $/],
  [20, /reconnecting $/],
])('in %i columns has what matters most', (columns, wanted) => {
  expect(header(columns, { others: ['somebody'], connection: 'lost', isObserver: true })).toMatch(wanted);
});

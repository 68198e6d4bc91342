import { expect, test } from 'vitest';
import { layCard, wholeCard } from '../../../src/tui/dock/question-card.js';
import { encodeRow } from '../../../src/tui/rows/encode.js';
import { chooseLook } from '../../../src/tui/rows/look.js';
import { rowText, type Row } from '../../../src/tui/rows/row.js';
import type { CardPart } from '../../../src/view/approval.js';
import type { RequestCard } from '../../../src/view/questions.js';
import { copiedText } from '../rows/copied-text.js';

const diff = '--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n';

function cardOf(...parts: CardPart[]): RequestCard {
  return { kind: 'approval', title: 'edit x', parts, choices: [], preset: '', hint: '', isSecret: false, isDangerous: false };
}

function rowsOf(card: RequestCard, columns = 60): Row[] {
  return layCard({ card, waiting: 0, isFocused: false, hint: 'Ctrl-O answers', chosen: new Set() }, columns, 20).rows;
}

test('the bar of a question is no part of what is copied, beside a diff too', () => {
  const rows = rowsOf(cardOf({ kind: 'diff', text: diff }));
  expect(rows.map(rowText)).toEqual(['┃ edit x', '┃ x', '┃ line 1', '┃ 1   -a', '┃   1 +b', '┃ Ctrl-O answers']);
  expect(rows.map(({ gutter }) => gutter)).toEqual([2, 2, 2, 6, 6, 2]);
  expect(copiedText(rows)).toBe('edit x\nx\nline 1\n-a\n+b\nCtrl-O answers');
  expect(wholeCard(cardOf({ kind: 'diff', text: diff }), 60).map(rowText)).toEqual(['edit x', 'x', 'line 1', '1   -a', '  1 +b', '']);
});

test.each<[CardPart, string]>([
  [{ kind: 'command', text: 'echo “; rm x; “' }, '| $ echo ?; rm x; ?'],
  [{ kind: 'call', text: 'write {"text":"“"}' }, '| write {"text":"?"}'],
  [{ kind: 'arguments', each: [{ name: 'text', text: 'a │ b' }] }, '| text: a ? b'],
  [{ kind: 'diff', text: '@@ -0,0 +1 @@\n+a “b”\n' }, '|   1 +a ?b?'],
])('without UTF-8, nothing that is approved looks like something else: %j', (part, shown) => {
  const look = chooseLook({ env: { LANG: 'C', NO_COLOR: '1' }, background: 'dark' });
  const texts = rowsOf(cardOf(part)).map((one) => encodeRow(one, 60, look).replaceAll(/\u001b\[[\d;]*m/g, '')); // eslint-disable-line no-control-regex
  expect(texts).toContain(shown);
});

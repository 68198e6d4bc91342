import { expect, test } from 'vitest';
import { createLineField } from '../../../src/tui/overlays/line-field.js';
import { createPicker, type PickerItem, type PickerOptions } from '../../../src/tui/overlays/picker.js';
import { createTextPrompt } from '../../../src/tui/overlays/text-prompt.js';
import type { Overlay } from '../../../src/tui/overlays/overlay.js';
import { rowText, rowWidth } from '../../../src/tui/rows/row.js';

function picker(items: readonly PickerItem[], more: Partial<PickerOptions> = {}): Overlay {
  return createPicker({ title: 'Rules', items: () => items, onPick: () => undefined, ...more });
}

function textsOf(overlay: Overlay, columns: number, rows: number): string[] {
  return overlay.frame(columns, rows).rows.map((one) => rowText(one).trimEnd());
}

const long = 'commands that begin with “git commit --amend” in this workspace are allowed without asking';
const rules: PickerItem[] = [
  { id: '1', label: long, detail: 'said by a client with a long name' },
  { id: '2', label: 'a short one', detail: 'config' },
  { id: '3', label: long.replace('--amend', '--all'), detail: 'config.json of the project' },
];

test.each([20, 40, 100])('where a person decides by the items, every one is whole at %i columns', (columns) => {
  // The last row tells keys.
  const texts = textsOf(picker(rules, { wraps: true }), columns, 40).slice(0, -1);
  const words = texts.join(' ').replaceAll(/\s+/g, ' ');
  for (const { label, detail = '' } of rules) for (const word of [...label.split(' '), ...detail.split(' ')]) expect(words).toContain(word);
  expect(words).not.toContain('…');
});

test('elsewhere the item under the cursor is whole, and the others have one row each', () => {
  const list = picker(rules);
  const before = textsOf(list, 40, 12);
  expect(before.join(' ')).toContain('without asking');
  expect(before.filter((text) => text.includes('…'))).toHaveLength(1);
  list.onKey('down');
  expect(textsOf(list, 40, 12).filter((text) => text.includes('…'))).toHaveLength(2);
});

test('the item under the cursor is on the screen whatever the heights are, and a click picks what is shown there', () => {
  const many = Array.from({ length: 50 }, (_, at) => ({ id: String(at), label: `${at} ${'word '.repeat(at % 7)}end` }));
  let picked = '';
  const list = picker(many, { wraps: true, onPick: ({ id }) => (picked = id) });
  for (let at = 0; at < 50; at++) {
    const texts = textsOf(list, 24, 12);
    const row = texts.findIndex((text) => text.startsWith(`▸ ${at} `));
    expect(row).toBeGreaterThan(1);
    expect(texts).toHaveLength(12);
    list.onClick?.(row);
    expect(picked).toBe(String(at));
    list.onKey('down');
  }
});

test('items stand below headings until something is typed', () => {
  const grouped = [
    { id: 'a', label: 'send', group: 'In the editor' },
    { id: 'b', label: 'newline', group: 'In the editor' },
    { id: 'c', label: 'fold', group: 'In the transcript' },
  ];
  const list = picker(grouped);
  expect(textsOf(list, 40, 12).slice(2, 8)).toEqual([' In the editor', '▸ send', '  newline', '', ' In the transcript', '  fold']);
  list.onText('fold');
  expect(textsOf(list, 40, 12).slice(2, 4)).toEqual(['▸ fold', '']);
});

test('a title that does not fit is whole above what is typed', () => {
  const list = picker(rules, { title: long });
  list.onText('xyz');
  const { rows, cursor } = list.frame(30, 20);
  const texts = rows.map(rowText);
  expect(texts.slice(0, cursor?.row).join(' ').replaceAll(/\s+/g, ' ')).toContain('are allowed without asking');
  expect(texts[cursor?.row ?? 0]).toMatch(/^> xyz/);
  expect(cursor?.column).toBe(5);
});

test.each([20, 33, 80])(
  'what is typed is seen at the cursor, however long it is and however wide its letters, at %i columns',
  (columns) => {
    for (const letter of ['x', '漢', '👩‍👩‍👧']) {
      const prompt = createTextPrompt({ title: 'Why?', onSubmit: () => undefined });
      prompt.onText(letter.repeat(100));
      prompt.onText('END');
      const { rows, cursor } = prompt.frame(columns, 10);
      const typed = rows[cursor?.row ?? 0]!;
      expect(rowText(typed)).toMatch(/^> ….*END$/);
      expect(rowWidth(typed)).toBe(cursor?.column);
      expect(cursor?.column).toBeLessThan(columns);
    }
  },
);

test('a message that does not fit says that there is more of it', () => {
  const prompt = createTextPrompt({ title: 'Why?', message: 'line\n'.repeat(30), onSubmit: () => undefined });
  expect(textsOf(prompt, 40, 8).slice(4)).toEqual(['line', '… 27 more rows', '>', ' Enter ok · Esc close']);
});

test('a megabyte in a line field is typed on without reading it again', () => {
  const field = createLineField();
  field.type('x'.repeat(1_000_000));
  for (let at = 0; at < 2_000; at++) field.type('y');
  expect(field.text()).toHaveLength(1_002_000);
  expect(field.spans(20).cursor).toBeLessThan(20);
});

import { expect, test } from 'vitest';
import { createEditor, type Editor } from '../../../src/tui/editor/editor.js';
import { editorRows } from '../../../src/tui/editor/editor-rows.js';
import { encodeRow } from '../../../src/tui/rows/encode.js';
import { chooseLook } from '../../../src/tui/rows/look.js';
import { rowText } from '../../../src/tui/rows/row.js';
import { typeSlowly } from './typing.js';

const look = chooseLook({ env: { NO_COLOR: '1' }, background: 'dark' });

function draw(editor: Editor, columns: number, rowsMax = 10, placeholder = ''): { rows: string[]; cursor: [number, number] } {
  const { rows, cursor } = editorRows(editor, columns, rowsMax, { prompt: '>', placeholder });
  return { rows: rows.map((row) => rowText(row)), cursor: [cursor.row, cursor.column] };
}

function editorWith(text: string): Editor {
  const editor = createEditor();
  typeSlowly(editor, text);
  return editor;
}

test('an empty editor shows its prompt and what it is for', () => {
  expect(draw(createEditor(), 20, 5, 'ask for something, or ? for help')).toEqual({
    rows: ['> ask for something…'.slice(0, 19) + '…'],
    cursor: [0, 2],
  });
  expect(draw(createEditor(), 20)).toEqual({ rows: ['> '], cursor: [0, 2] });
});

test('lines are wrapped by words, and the cursor is behind the last one', () => {
  expect(draw(editorWith('one two three\nfour'), 12)).toEqual({ rows: ['> one two ', '  three', '  four'], cursor: [2, 6] });
  expect(draw(editorWith('abcdefghijklm'), 12)).toEqual({ rows: ['> abcdefghi', '  jklm'], cursor: [1, 6] });
});

test('a space at the end of a full row leads to the next row', () => {
  expect(draw(editorWith('abcdefghi'), 12)).toEqual({ rows: ['> abcdefghi'], cursor: [0, 11] });
  expect(draw(editorWith('abcdefghi '), 12)).toEqual({ rows: ['> abcdefghi ', '  '], cursor: [1, 2] });
  expect(draw(editorWith('abcdefghi j'), 12)).toEqual({ rows: ['> abcdefghi ', '  j'], cursor: [1, 3] });
});

test('wide characters are not split, and are wrapped between them', () => {
  expect(draw(editorWith('漢字漢字漢字'), 12)).toEqual({ rows: ['> 漢字漢字', '  漢字'], cursor: [1, 6] });
  const editor = editorWith('a👩‍👩‍👧b');
  editor.act('left');
  expect(draw(editor, 20).cursor[1]).toBe(editorRows(editorWith('a👩👩👧'), 20, 1, { prompt: '>' }).cursor.column);
});

test('tabs, control characters and hidden characters take the columns that they are drawn with', () => {
  const editor = createEditor();
  editor.paste('a\tb\u001b\u202ec');
  const { rows, cursor } = editorRows(editor, 40, 3, { prompt: '>' });
  expect(rows.map((row) => rowText(row))).toEqual(['> a    b␛<U+202E>c']);
  expect(cursor).toEqual({ row: 0, column: 18 });
  expect(encodeRow(rows[0]!, 40, look)).toContain('a    b␛<U+202E>c');
});

test('placeholders are accented and cut where a row is narrower', () => {
  const editor = createEditor();
  typeSlowly(editor, 'see ');
  editor.paste('line\n'.repeat(50));
  const { rows } = editorRows(editor, 40, 3, { prompt: '>' });
  expect(rows).toEqual([
    { spans: [{ text: '> ', tone: 'accent' }, { text: 'see ' }, { text: '[pasted #1, 50 lines]', tone: 'accent' }], gutter: 2 },
  ]);
  expect(draw(editor, 12)).toEqual({ rows: ['> see ', '  [pasted …'], cursor: [1, 11] });
});

test('the rows follow the cursor, stand still while it is in sight, and say that there is more', () => {
  const editor = editorWith('1\n2\n3\n4\n5\n6');
  expect(draw(editor, 20, 3)).toEqual({ rows: ['↑ 4', '  5', '  6'], cursor: [2, 3] });
  editor.act('up');
  editor.act('up');
  expect(draw(editor, 20, 3)).toEqual({ rows: ['↑ 4', '  5', '  6'], cursor: [0, 3] });
  editor.act('up');
  expect(draw(editor, 20, 3)).toEqual({ rows: ['↑ 3', '  4', '↓ 5'], cursor: [0, 3] });
  editor.act('textStart');
  expect(draw(editor, 20, 3)).toEqual({ rows: ['> 1', '  2', '↓ 3'], cursor: [0, 2] });
  editor.act('textEnd');
  editor.act('deleteToLineStart');
  editor.act('deleteToLineStart');
  expect(draw(editor, 20, 3)).toEqual({ rows: ['↑ 3', '  4', '  5'], cursor: [2, 3] });
});

test('a match of the search is shown in place of the text, with the cursor at what was found', () => {
  const editor = editorWith('draft');
  editor.loadHistory(['first\nsome words']);
  editor.search.open();
  editor.search.type('words');
  expect(draw(editor, 20)).toEqual({ rows: ['> first', '  some words'], cursor: [1, 7] });
  editor.search.cancel();
  expect(draw(editor, 20)).toEqual({ rows: ['> draft'], cursor: [0, 7] });
});

test('one column is enough', () => {
  expect(draw(editorWith('a漢b'), 1, 5)).toEqual({ rows: ['a', '?', 'b'], cursor: [2, 0] });
  expect(draw(editorWith('a漢b'), 2, 5)).toEqual({ rows: ['a', '?', 'b'], cursor: [2, 1] });
});

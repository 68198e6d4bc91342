import { expect, test } from 'vitest';
import { createEditor, type Editor } from '../../../src/tui/editor/editor.js';
import { later, showCursor, typeSlowly } from './typing.js';

function undoAll(editor: Editor): string[] {
  const seen = [showCursor(editor)];
  for (;;) {
    editor.act('undo');
    const now = showCursor(editor);
    if (now === seen.at(-1)) return seen;
    seen.push(now);
  }
}

test('typing is undone word by word', () => {
  const editor = createEditor();
  typeSlowly(editor, 'one two  three');
  expect(undoAll(editor)).toEqual(['one two  three|', 'one two  |', 'one |', '|']);
});

test('a pause begins another group', () => {
  const editor = createEditor();
  typeSlowly(editor, 'on');
  editor.type('e', later());
  expect(undoAll(editor)).toEqual(['one|', 'on|', '|']);
});

test('a move of the cursor begins another group', () => {
  const editor = createEditor();
  typeSlowly(editor, 'ab');
  editor.act('left');
  editor.act('right');
  typeSlowly(editor, 'c');
  expect(undoAll(editor)).toEqual(['abc|', 'ab|', '|']);
});

test('deletions are undone word by word, with the cursor where it was', () => {
  const editor = createEditor();
  editor.setText('one two');
  for (let times = 0; times < 5; times++) editor.act('deleteBackward');
  expect(undoAll(editor)).toEqual(['on|', 'one|', 'one |', 'one two|', '|']);
});

test('what was undone can be done again until something else is typed', () => {
  const editor = createEditor();
  typeSlowly(editor, 'one two');
  editor.act('undo');
  editor.act('undo');
  editor.act('redo');
  expect(showCursor(editor)).toBe('one |');
  editor.act('redo');
  expect(showCursor(editor)).toBe('one two|');
  editor.act('undo');
  editor.type('x', later());
  editor.act('redo');
  expect(showCursor(editor)).toBe('one x|');
});

test('cuts, insertions, swaps and whole texts are each undone at once', () => {
  const editor = createEditor();
  editor.setText('one two');
  editor.act('deleteToSpace');
  editor.act('yank');
  editor.act('transpose');
  editor.setText('new');
  expect(undoAll(editor)).toEqual(['new|', 'one tow|', 'one two|', 'one |', 'one two|', '|']);
});

test('a cleared text comes back by undo', () => {
  const editor = createEditor();
  typeSlowly(editor, 'plan');
  editor.act('left');
  editor.clear();
  expect(showCursor(editor)).toBe('|');
  editor.act('undo');
  expect(showCursor(editor)).toBe('pla|n');
});

test('what was sent does not come back by undo', () => {
  const editor = createEditor();
  typeSlowly(editor, 'sent');
  editor.take();
  editor.act('undo');
  expect(editor.text()).toBe('');
});

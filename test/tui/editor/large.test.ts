import { expect, test } from 'vitest';
import { createEditor, type Editor } from '../../../src/tui/editor/editor.js';
import { editorRows } from '../../../src/tui/editor/editor-rows.js';
import { typeSlowly } from './typing.js';

const units = 1_000_000;

/** Keys of all kinds, each with its frame. What looks at all of a text for each grapheme of it does not end within the time of a test. */
function work(editor: Editor): void {
  const keys = ['left', 'up', 'wordLeft', 'deleteBackward', 'newline', 'deleteBackward', 'right', 'down', 'transpose', 'undo'] as const;
  for (const name of keys) {
    editor.act(name);
    editorRows(editor, 80, 20, { prompt: '>' });
  }
  typeSlowly(editor, 'typed ');
  editor.completion.shown(5);
  editorRows(editor, 80, 20, { prompt: '>' });
}

test.each([
  ['words', 'lorem ipsum '],
  ['letters without a space', 'x'],
  ['CJK', '漢字かな'],
  ['emoji', '👍🎉'],
  ['other scripts', 'Привет, '],
  ['quotes that may begin a path', '@"'],
])('a line of a megabyte of %s can be edited', (_, piece) => {
  const editor = createEditor();
  const line = piece.repeat(units / piece.length);
  editor.setText(line);
  work(editor);
  editor.act('textStart');
  work(editor);
  for (let step = 0; step < 100; step++) editor.act('undo');
  expect(editor.text()).toBe('');
});

test('marks without an end on one character, and flags without an end, can be edited', () => {
  for (const piece of ['\u0301', '🇩🇪']) {
    const editor = createEditor();
    editor.setText(`a${piece.repeat(5_000)}`);
    work(editor);
    expect(editor.isEmpty()).toBe(false);
  }
});

test('a paste of a megabyte is a placeholder that can be expanded and edited', () => {
  const editor = createEditor();
  const text = 'some line of a log\n'.repeat(units / 20);
  expect(editor.paste(text)).toBe(true);
  expect(editor.shownText()).toBe('[pasted #1, 50,000 lines]');
  editor.act('expandPlaceholder');
  expect(editor.text()).toBe(text);
  work(editor);
  for (let step = 0; step < 100; step++) editor.act('undo');
  expect(editor.isEmpty()).toBe(true);
});

test('a paste of a megabyte that comes key by key is taken in', () => {
  const editor = createEditor();
  for (let index = 0; index < units / 4; index++) editor.type('wxyz'.charAt(index % 4), index / 1_000);
  expect(editor.shownText()).toBe('[pasted #1, 250,000 characters]');
  expect(editor.text()).toBe('wxyz'.repeat(units / 16));
});

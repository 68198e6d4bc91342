import { expect, test } from 'vitest';
import { editorActions, type EditorActionName } from '../../../src/tui/editor/editor-actions.js';
import { createEditor, type Editor } from '../../../src/tui/editor/editor.js';
import { limits } from '../../../src/protocol/limits.js';
import { showCursor, typeSlowly } from './typing.js';

function edit(text: string, ...names: EditorActionName[]): string {
  const editor = editorWith(text);
  for (const name of names) editor.act(name);
  return showCursor(editor);
}

/** An editor with a text in which `|` is the cursor. */
function editorWith(marked: string): Editor {
  const [before = '', after = ''] = marked.split('|');
  const editor = createEditor();
  typeSlowly(editor, after);
  editor.act('textStart');
  typeSlowly(editor, before);
  return editor;
}

test('arrows, Home and End move the cursor', () => {
  expect(edit('abc|', 'left')).toBe('ab|c');
  expect(edit('|abc', 'right')).toBe('a|bc');
  expect(edit('ab\n|cd', 'left')).toBe('ab|\ncd');
  expect(edit('ab|\ncd', 'right')).toBe('ab\n|cd');
  expect(edit('ab\ncd|', 'lineStart')).toBe('ab\n|cd');
  expect(edit('a|b\ncd', 'lineEnd')).toBe('ab|\ncd');
  expect(edit('ab\nc|d', 'textStart')).toBe('|ab\ncd');
  expect(edit('a|b\ncd', 'textEnd')).toBe('ab\ncd|');
});

test('a grapheme is one step, whatever it is made of', () => {
  for (const grapheme of ['👩‍👩‍👧', 'e\u0301', '漢', '🇩🇪', '👍🏽', 'ক্ষি', '각']) {
    expect(edit(`a${grapheme}|b`, 'left')).toBe(`a|${grapheme}b`);
    expect(edit(`a|${grapheme}b`, 'right')).toBe(`a${grapheme}|b`);
    expect(edit(`a${grapheme}|b`, 'deleteBackward')).toBe('a|b');
    expect(edit(`a|${grapheme}b`, 'deleteForward')).toBe('a|b');
  }
});

test('the cursor is never left inside of a grapheme that an edit has made', () => {
  const editor = editorWith('👩|👧');
  editor.type('\u200d', 0);
  expect(showCursor(editor)).toBe('👩\u200d👧|');
  expect(edit('ax|\u0301b', 'deleteBackward')).toBe('a\u0301|b');
});

test('words are moved over and cut', () => {
  expect(edit('one two-three|', 'wordLeft')).toBe('one two-|three');
  expect(edit('one two-three|', 'wordLeft', 'wordLeft', 'wordLeft')).toBe('|one two-three');
  expect(edit('|one, two', 'wordRight', 'wordRight')).toBe('one, two|');
  expect(edit('one\n|two', 'wordLeft')).toBe('|one\ntwo');
  expect(edit('cd src/a.ts |', 'deleteToSpace')).toBe('cd |');
  expect(edit('cd src/a.ts|', 'deleteWordBackward')).toBe('cd src/a.|');
  expect(edit('|cd src', 'deleteWordForward')).toBe('| src');
  expect(edit('ab\n|cd', 'deleteToSpace')).toBe('ab|cd');
});

test('lines are cut at the cursor, and joined at their ends', () => {
  expect(edit('ab|cd\nef', 'deleteToLineEnd')).toBe('ab|\nef');
  expect(edit('ab|\nef', 'deleteToLineEnd')).toBe('ab|ef');
  expect(edit('ab\ncd|ef', 'deleteToLineStart')).toBe('ab\n|ef');
  expect(edit('ab\n|ef', 'deleteToLineStart')).toBe('ab|ef');
});

test('what was cut in one go is inserted as one, and what was cut before that instead', () => {
  expect(edit('one two three|', 'deleteToSpace', 'deleteToSpace', 'yank', 'yank')).toBe('one two threetwo three|');
  expect(edit('one two| three', 'deleteToSpace', 'deleteToLineEnd', 'yank')).toBe('one two three|');
  expect(edit('one two|', 'deleteToSpace', 'left', 'deleteToSpace', 'yank', 'yankPop')).toBe('two| ');
  expect(edit('one two|', 'deleteToSpace', 'left', 'deleteToSpace', 'yank', 'yankPop', 'yankPop')).toBe('one| ');
  expect(edit('one|', 'deleteToSpace', 'yank', 'left', 'yankPop')).toBe('on|e');
  expect(edit('one|', 'yank')).toBe('one|');
});

test('characters are swapped around the cursor', () => {
  expect(edit('ab|c', 'transpose')).toBe('acb|');
  expect(edit('abc|', 'transpose')).toBe('acb|');
  expect(edit('👍漢|', 'transpose')).toBe('漢👍|');
  expect(edit('|ab', 'transpose')).toBe('|ab');
  expect(edit('a|', 'transpose')).toBe('a|');
});

test('Up and Down move by rows of the screen and keep their column', () => {
  const editor = editorWith('one two three four|');
  editor.setColumns(11);
  editor.act('up');
  expect(showCursor(editor)).toBe('one two| three four');
  const lines = editorWith('abcdef\nab\nabcd|ef');
  lines.act('up');
  expect(showCursor(lines)).toBe('abcdef\nab|\nabcdef');
  lines.act('up');
  expect(showCursor(lines)).toBe('abcd|ef\nab\nabcdef');
  lines.act('down');
  lines.act('down');
  expect(showCursor(lines)).toBe('abcdef\nab\nabcd|ef');
});

test('without a history Up and Down end at the beginning and the end of the text', () => {
  expect(edit('ab|c', 'up')).toBe('|abc');
  expect(edit('ab|c', 'down')).toBe('abc|');
});

test('a line end comes from its key, or from a backslash before Enter', () => {
  expect(edit('ab|c', 'newline')).toBe('ab\n|c');
  const editor = editorWith('ab\\|');
  expect(editor.enter(10_000)).toBe('newline');
  expect(showCursor(editor)).toBe('ab\n|');
  expect(editor.enter(20_000)).toBe('submit');
  const inside = editorWith('a\\|b');
  expect(inside.enter(10_000)).toBe('submit');
  expect(showCursor(inside)).toBe('a\\|b');
});

test('line ends of other systems and halves of characters are made good', () => {
  const editor = createEditor();
  editor.paste('a\r\nb\rc\ud800');
  expect(editor.text()).toBe('a\nb\nc\ufffd');
});

test('a text that could not be sent is not taken', () => {
  const editor = createEditor();
  const bytesMax = limits.lineBytesMax - limits.envelopeMarginBytes;
  expect(editor.paste('é'.repeat(bytesMax / 2))).toBe(true);
  expect(editor.type('x', 0)).toBe(false);
  expect(editor.paste('more\n'.repeat(10))).toBe(false);
  expect(editor.addText('output', 'x')).toBe(false);
  expect(editor.addImage({ data: 'AAAA', mimeType: 'image/png', name: 'a.png' })).toBe(false);
  expect(editor.text()).toBe('é'.repeat(bytesMax / 2));
  editor.act('deleteBackward');
  expect(editor.type('x', 0)).toBe(true);
  expect(editor.text()).toBe('x');
});

test('changes are told of: of the text, or of the cursor only', () => {
  const editor = createEditor();
  const told: string[] = [];
  const stop = editor.onChange((what) => told.push(what));
  editor.type('ab', 0);
  editor.act('left');
  editor.enter(10_000);
  editor.act('newline');
  editor.take();
  stop();
  editor.type('c', 0);
  expect(told).toEqual(['text', 'cursor', 'text', 'text']);
});

test('no key means two things, and none of them belongs to the app', () => {
  const keys = editorActions.flatMap(({ keys: own }): readonly string[] => own);
  const ofApp = 'enter alt+enter tab escape ? ctrl+c ctrl+d ctrl+g ctrl+l ctrl+o ctrl+p ctrl+r ctrl+s ctrl+z ctrl+up ctrl+down'.split(' ');
  expect(keys.filter((key) => ofApp.includes(key))).toEqual([]);
  expect(new Set(keys).size).toBe(keys.length);
});

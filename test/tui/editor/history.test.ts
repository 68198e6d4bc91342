import { expect, test } from 'vitest';
import { limits } from '../../../src/protocol/limits.js';
import { createEditor, type Editor } from '../../../src/tui/editor/editor.js';
import { later, showCursor, typeSlowly } from './typing.js';

function send(editor: Editor, text: string): void {
  editor.setText(text);
  editor.take();
}

function walk(editor: Editor, name: 'up' | 'down', times: number): string[] {
  return Array.from({ length: times }, () => {
    editor.act(name);
    return showCursor(editor);
  });
}

test('Up goes through the texts of before, and Down brings the draft back whole, cursor included', () => {
  const editor = createEditor();
  send(editor, 'first');
  send(editor, 'second\nof two lines');
  typeSlowly(editor, 'a draft\nof mine');
  editor.act('up');
  editor.act('left');
  const draft = showCursor(editor);
  expect(draft).toBe('a draf|t\nof mine');
  expect(walk(editor, 'up', 3)).toEqual(['second\nof two lines|', 'first|', '|first']);
  expect(walk(editor, 'down', 2)).toEqual(['second\nof two lines|', draft]);
  expect(walk(editor, 'down', 2)).toEqual(['a draft\nof min|e', 'a draft\nof mine|']);
});

test('once the cursor was moved in a text of before, Up and Down move by rows again', () => {
  const editor = createEditor();
  send(editor, 'one');
  send(editor, 'two\nlines');
  editor.act('up');
  editor.act('left');
  expect(walk(editor, 'up', 2)).toEqual(['two|\nlines', 'one|']);
});

test('a walk through the history is one step of undo', () => {
  const editor = createEditor();
  send(editor, 'one');
  send(editor, 'two');
  typeSlowly(editor, 'draft');
  walk(editor, 'up', 2);
  editor.act('undo');
  expect(showCursor(editor)).toBe('draft|');
  expect(walk(editor, 'up', 1)).toEqual(['two|']);
  expect(walk(editor, 'down', 1)).toEqual(['draft|']);
});

test('a changed text of before stays changed until something is sent, and is then found again', () => {
  const editor = createEditor();
  send(editor, 'one');
  send(editor, 'two');
  editor.act('up');
  typeSlowly(editor, '!');
  expect(walk(editor, 'up', 1)).toEqual(['one|']);
  expect(walk(editor, 'down', 1)).toEqual(['two!|']);
  walk(editor, 'up', 1);
  expect(editor.take().text).toBe('one');
  expect(walk(editor, 'up', 4)).toEqual(['one|', 'two!|', 'two|', '|two']);
});

test('a draft that was left for a text of before is found again after that was sent', () => {
  const editor = createEditor();
  send(editor, 'again');
  typeSlowly(editor, 'half a draft');
  editor.act('up');
  expect(editor.take().text).toBe('again');
  expect(walk(editor, 'up', 2)).toEqual(['again|', 'half a draft|']);
});

test('a cleared text is found by Up and by the search', () => {
  const editor = createEditor();
  typeSlowly(editor, 'two hours of planning');
  editor.clear();
  expect(editor.isEmpty()).toBe(true);
  editor.search.open();
  expect(editor.search.state()).toEqual({ query: '', matches: ['two hours of planning'], selected: 0 });
  editor.search.cancel();
  editor.act('up');
  expect(showCursor(editor)).toBe('two hours of planning|');
});

test('texts of the daemon come after those of this editor, each once, and empty ones not at all', () => {
  const editor = createEditor();
  send(editor, 'own');
  editor.loadHistory(['newer', 'own', ' ', 'older\r\nlines']);
  editor.loadHistory(['newer']);
  expect(walk(editor, 'up', 4)).toEqual(['own|', 'newer|', 'older\nlines|', 'older|\nlines']);
});

test('the history is bounded', () => {
  const editor = createEditor();
  editor.loadHistory(Array.from({ length: limits.typedHistoryMax + 50 }, (_, index) => `text ${index}`));
  editor.search.open();
  expect(editor.search.state()?.matches).toHaveLength(limits.typedHistoryMax);
});

test('the search shows what has all words of its query, newest first', () => {
  const editor = createEditor();
  editor.loadHistory(['Fix the test', 'write docs', 'test the fix']);
  editor.search.open();
  editor.type('f', later());
  editor.type('ix t', later());
  expect(editor.search.state()).toEqual({ query: 'fix t', matches: ['Fix the test', 'test the fix'], selected: 0 });
  editor.search.older();
  editor.search.older();
  expect(editor.search.state()?.selected).toBe(1);
  expect(showCursor(editor)).toBe('test the |fix');
  editor.search.newer();
  editor.search.backspace();
  expect(editor.search.state()).toEqual({ query: 'fix ', matches: ['Fix the test', 'test the fix'], selected: 0 });
  editor.search.open();
  expect(editor.search.state()?.selected).toBe(1);
  editor.search.type('zzz');
  expect(editor.search.state()).toEqual({ query: 'fix zzz', matches: [], selected: 0 });
});

test('a search that is cancelled leaves the draft whole, cursor included', () => {
  const editor = createEditor();
  send(editor, 'before');
  typeSlowly(editor, 'draft');
  editor.act('left');
  editor.search.open();
  editor.type('bef', later());
  expect(editor.text()).toBe('draft');
  editor.search.cancel();
  expect(editor.search.state()).toBeUndefined();
  expect(showCursor(editor)).toBe('draf|t');
});

test('an accepted match takes the place of the draft, which comes back by undo or Down', () => {
  const editor = createEditor();
  send(editor, 'before');
  send(editor, 'after');
  typeSlowly(editor, 'draft');
  editor.search.open();
  editor.type('bef', later());
  expect(editor.enter(later())).toBe('newline');
  expect(showCursor(editor)).toBe('before|');
  editor.act('undo');
  expect(showCursor(editor)).toBe('draft|');
  editor.act('redo');
  expect(walk(editor, 'down', 2)).toEqual(['after|', 'draft|']);
});

test('keys of the editor work on an open search', () => {
  const editor = createEditor();
  editor.loadHistory(['one', 'two']);
  typeSlowly(editor, 'draft');
  editor.search.open();
  editor.paste('o');
  editor.act('up');
  expect(showCursor(editor)).toBe('tw|o');
  editor.act('down');
  editor.act('deleteBackward');
  expect(editor.search.state()).toEqual({ query: '', matches: ['one', 'two'], selected: 0 });
  editor.act('lineStart');
  expect(editor.search.state()).toBeUndefined();
  expect(showCursor(editor)).toBe('|one');
});

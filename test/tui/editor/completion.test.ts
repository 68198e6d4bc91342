import { expect, test } from 'vitest';
import type { CommandEntry } from '../../../src/tui/editor/completion/targets.js';
import { createEditor, type Editor } from '../../../src/tui/editor/editor.js';
import { showCursor, typeSlowly } from './typing.js';

const commands: readonly CommandEntry[] = [
  { name: 'help', summary: 'What can be done', aliases: ['?'] },
  {
    name: 'model',
    summary: 'Choose a model',
    argumentHint: '<model>',
    complete: () => [{ text: 'opus', detail: 'large' }, { text: 'haiku' }],
  },
  { name: 'mode', summary: 'What is asked about' },
  { name: 'detach', summary: 'Leave', aliases: ['quit'] },
];

const files = [
  { path: 'src', kind: 'directory' },
  { path: 'src/my file.ts', kind: 'file' },
  { path: 'src/a.ts', kind: 'file' },
];

function editorWith(marked: string): Editor {
  const [before = '', after = ''] = marked.split('|');
  const editor = createEditor(() => commands);
  typeSlowly(editor, after);
  editor.act('textStart');
  typeSlowly(editor, before);
  return editor;
}

function targetIn(marked: string): unknown {
  return editorWith(marked).completion.target();
}

test('the first word of a text that begins with a slash is a command', () => {
  expect(targetIn('/|')).toEqual({ kind: 'command', query: '' });
  expect(targetIn('/he|lp')).toEqual({ kind: 'command', query: 'he' });
  expect(targetIn('|/help')).toBeUndefined();
  expect(targetIn('see /he|')).toBeUndefined();
  expect(targetIn('one\n/he|')).toBeUndefined();
});

test('what follows a command is its argument', () => {
  expect(targetIn('/model op|')).toEqual({ kind: 'argument', command: 'model', query: 'op' });
  expect(targetIn('/quit  now and|')).toEqual({ kind: 'argument', command: 'detach', query: 'now and' });
  expect(targetIn('/unknown x|')).toBeUndefined();
  expect(targetIn('/model x\nop|')).toBeUndefined();
});

test('a path is mentioned with an @ where a word begins', () => {
  expect(targetIn('see @|')).toEqual({ kind: 'path', query: '' });
  expect(targetIn('see @src/a|.ts now')).toEqual({ kind: 'path', query: 'src/a' });
  expect(targetIn('(@src/a|)')).toEqual({ kind: 'path', query: 'src/a' });
  expect(targetIn('see @app/(group)/[id]|')).toEqual({ kind: 'path', query: 'app/(group)/[id]' });
  expect(targetIn('me@example|.org')).toBeUndefined();
  expect(targetIn('@src/a.ts |')).toBeUndefined();
  expect(targetIn('/help @src|')).toEqual({ kind: 'path', query: 'src' });
});

test('a quoted path may have spaces, and lines of a file leave the path as it is', () => {
  expect(targetIn('@"my fi|')).toEqual({ kind: 'path', query: 'my fi' });
  expect(targetIn('@"my fi|le.ts" and')).toEqual({ kind: 'path', query: 'my fi' });
  expect(targetIn('@"my file.ts" and|')).toBeUndefined();
  expect(targetIn('@a.ts#L10-L20|')).toEqual({ kind: 'path', query: 'a.ts' });
  expect(targetIn('@a.ts#|')).toEqual({ kind: 'path', query: 'a.ts' });
  expect(targetIn('@"my file.ts"#L1|')).toEqual({ kind: 'path', query: 'my file.ts' });
});

test('commands are shown by name and alias, with what they do', () => {
  const editor = editorWith('/mod|');
  expect(editor.completion.shown(5)).toEqual({
    items: [
      { text: '/model <model>', detail: 'Choose a model' },
      { text: '/mode', detail: 'What is asked about' },
    ],
    selected: 0,
  });
  expect(editorWith('/qu|').completion.shown(5)).toEqual({ items: [{ text: '/detach', detail: 'Leave' }], selected: 0 });
  expect(editorWith('/zzz|').completion.shown(5)).toBeUndefined();
  expect(editorWith('text|').completion.shown(5)).toBeUndefined();
});

test('an accepted command goes on with its argument', () => {
  const editor = editorWith('/mod|');
  expect(editor.completion.accept()).toBe(true);
  expect(showCursor(editor)).toBe('/model |');
  expect(editor.completion.shown(5)).toEqual({ items: [{ text: 'opus', detail: 'large' }, { text: 'haiku' }], selected: 0 });
  typeSlowly(editor, 'lar');
  expect(editor.completion.shown(5)).toEqual({ items: [{ text: 'opus', detail: 'large' }], selected: 0 });
  expect(editor.completion.accept()).toBe(true);
  expect(showCursor(editor)).toBe('/model opus |');
  expect(editor.completion.shown(5)).toBeUndefined();
  expect(editor.completion.accept()).toBe(false);
  editor.act('undo');
  expect(showCursor(editor)).toBe('/model lar|');
});

test('the whole word is replaced, and a space that is there is not doubled', () => {
  const editor = editorWith('/he|lo there');
  editor.completion.accept();
  expect(showCursor(editor)).toBe('/help |there');
});

test('the selection goes around, and a few candidates around it are shown', () => {
  const editor = editorWith('/|');
  editor.completion.move(-1);
  expect(editor.completion.shown(2)).toEqual({
    items: [
      { text: '/mode', detail: 'What is asked about' },
      { text: '/detach', detail: 'Leave' },
    ],
    selected: 1,
  });
  editor.completion.move(2);
  expect(editor.completion.shown(1)?.items).toEqual([{ text: '/model <model>', detail: 'Choose a model' }]);
  typeSlowly(editor, 'm');
  expect(editor.completion.shown(4)?.selected).toBe(0);
});

test('dismissed candidates stay away until something else is to be completed', () => {
  const editor = editorWith('/m|');
  expect(editor.completion.dismiss()).toBe(true);
  expect(editor.completion.shown(5)).toBeUndefined();
  expect(editor.completion.dismiss()).toBe(false);
  typeSlowly(editor, 'o');
  expect(editor.completion.shown(5)).toBeUndefined();
  typeSlowly(editor, 'de ');
  editor.act('lineStart');
  editor.act('deleteToLineEnd');
  typeSlowly(editor, '/m');
  expect(editor.completion.shown(5)?.items).toHaveLength(2);
});

test('a file is inserted with a space, quoted where it needs quotes, and a directory goes on', () => {
  const editor = editorWith('see @|');
  editor.completion.givePaths('', files);
  expect(editor.completion.shown(5)).toEqual({ items: [{ text: 'src/' }, { text: 'src/my file.ts' }, { text: 'src/a.ts' }], selected: 0 });
  editor.completion.accept();
  expect(showCursor(editor)).toBe('see @src/|');
  expect(editor.completion.target()).toEqual({ kind: 'path', query: 'src/' });
  editor.completion.givePaths('src/', files.slice(1));
  editor.completion.accept();
  expect(showCursor(editor)).toBe('see @"src/my file.ts" |');
  expect(editor.completion.target()).toBeUndefined();
});

test('a directory with a space keeps its quotes open', () => {
  const editor = editorWith('@my|');
  editor.completion.givePaths('my', [{ path: 'my dir/', kind: 'directory' }]);
  editor.completion.accept();
  expect(showCursor(editor)).toBe('@"my dir/|');
  editor.completion.givePaths('my dir/', [{ path: 'my dir/a', kind: 'file' }]);
  editor.completion.accept();
  expect(showCursor(editor)).toBe('@"my dir/a" |');
});

test('lines of a file are kept when its path is completed', () => {
  const editor = editorWith('@sr#L10-L20|');
  editor.completion.givePaths('sr', files.slice(2));
  editor.completion.accept();
  expect(showCursor(editor)).toBe('@src/a.ts#L10-L20 |');
});

test('until its answer is there, a longer query filters the one before; late answers do not count', () => {
  const editor = editorWith('@s|');
  editor.completion.givePaths('s', files);
  typeSlowly(editor, 'rc/a');
  expect(editor.completion.shown(5)?.items).toEqual([{ text: 'src/a.ts' }]);
  editor.completion.givePaths('src/a', [{ path: 'src/abc', kind: 'file' }]);
  editor.completion.givePaths('src', [{ path: 'src/late', kind: 'file' }]);
  editor.completion.givePaths('other', [{ path: 'other', kind: 'file' }]);
  expect(editor.completion.shown(5)?.items).toEqual([{ text: 'src/abc' }]);
});

test('a path with a line end is not offered', () => {
  const editor = editorWith('@|');
  editor.completion.givePaths('', [{ path: 'a\nrm -rf', kind: 'file' }]);
  expect(editor.completion.shown(5)).toBeUndefined();
});

test('arguments can be given later', () => {
  const editor = editorWith('/mode a|');
  expect(editor.completion.shown(5)).toBeUndefined();
  editor.completion.giveArguments('a', [{ text: 'ask' }, { text: 'auto', detail: 'no questions' }]);
  expect(editor.completion.shown(5)?.items).toEqual([{ text: 'ask' }, { text: 'auto', detail: 'no questions' }]);
});

test('it is known that a candidate is written already', () => {
  const editor = editorWith('@src/a|');
  editor.completion.givePaths('src/a', files.slice(2));
  expect(editor.completion.isWritten()).toBe(false);
  typeSlowly(editor, '.ts');
  expect(editor.completion.isWritten()).toBe(true);
});

test('nothing is completed while the history is searched', () => {
  const editor = editorWith('/m|');
  editor.search.open();
  expect(editor.completion.target()).toBeUndefined();
  expect(editor.completion.shown(5)).toBeUndefined();
});

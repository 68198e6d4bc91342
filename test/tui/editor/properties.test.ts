import fc from 'fast-check';
import { expect, test } from 'vitest';
import { editorActions, type EditorActionName } from '../../../src/tui/editor/editor-actions.js';
import { editorRows } from '../../../src/tui/editor/editor-rows.js';
import { createEditor, type Editor } from '../../../src/tui/editor/editor.js';
import { rowStarts } from '../../../src/tui/editor/line-layout.js';
import { graphemesOf } from '../../../src/tui/kit/graphemes.js';
import { textWidth } from '../../../src/tui/rows/cells.js';
import { encodeRow } from '../../../src/tui/rows/encode.js';
import { chooseLook } from '../../../src/tui/rows/look.js';
import { rowWidth } from '../../../src/tui/rows/row.js';

const runs = { numRuns: 60 };

/** Text that joins, is wide, is hidden, or is plain. */
const piece = fc.oneof(
  fc.constantFrom(
    'a',
    'b',
    ' ',
    '\n',
    'é',
    'e\u0301',
    '\u0301',
    '漢',
    '👍',
    '👍🏽',
    '👩‍👧',
    '\u200d',
    '🇩',
    '🇪',
    '\t',
    '\u202e',
    '\ufe0f',
    '한',
    'ᄒ',
    'ᅡ',
    'क्',
    'ष',
    '@',
    '/',
    '"',
    '\\',
    '\u001b',
    '\ud800',
  ),
  fc.string({ unit: 'grapheme', maxLength: 6 }),
  fc.string({ unit: 'binary', maxLength: 6 }),
);

type Key =
  | { kind: 'type'; text: string; afterMs: number }
  | { kind: 'enter'; afterMs: number }
  | { kind: 'act'; name: EditorActionName }
  | { kind: 'paste'; text: string }
  | { kind: 'other'; name: 'image' | 'text' | 'clear' | 'take' | 'search' | 'accept' | 'cancel' | 'complete' | 'dismiss' | 'setText' };

const typed = fc.record({ kind: fc.constant('type' as const), text: piece, afterMs: fc.constantFrom(1, 100, 5_000) });
const act = fc.record({ kind: fc.constant('act' as const), name: fc.constantFrom(...editorActions.map(({ name }) => name)) });
const enter = fc.record({ kind: fc.constant('enter' as const), afterMs: fc.constantFrom(1, 5_000) });
const paste = fc.record({
  kind: fc.constant('paste' as const),
  text: fc.tuple(piece, fc.constantFrom(1, 3, 9)).map(([text, times]) => `${text}\n`.repeat(times)),
});
const changesText = fc.constantFrom('image', 'text', 'clear', 'setText', 'complete') satisfies fc.Arbitrary<string>;
const otherNames = fc.constantFrom('image', 'text', 'clear', 'take', 'search', 'accept', 'cancel', 'complete', 'dismiss', 'setText');
const other = fc.record({ kind: fc.constant('other' as const), name: otherNames });
const anyKey: fc.Arbitrary<Key> = fc.oneof({ weight: 4, arbitrary: typed }, { weight: 6, arbitrary: act }, enter, paste, other);

function createPlayer(): { editor: Editor; press(key: Key): void } {
  const editor = createEditor(() => [{ name: 'a', summary: 'b', complete: () => [{ text: 'aa' }] }]);
  editor.loadHistory(['older\ntext', 'oldest 👍']);
  let nowMs = 0;
  const others: Record<Extract<Key, { kind: 'other' }>['name'], () => unknown> = {
    image: () => editor.addImage({ data: 'AAAA', mimeType: 'image/png', name: '漢.png' }),
    text: () => editor.addText('output', 'some\noutput'),
    clear: () => editor.clear(),
    take: () => editor.take(),
    search: () => editor.search.open(),
    accept: () => editor.search.accept(),
    cancel: () => editor.search.cancel(),
    complete() {
      const target = editor.completion.target();
      if (target?.kind === 'path') editor.completion.givePaths(target.query, [{ path: 'a b', kind: 'file' }]);
      return editor.completion.accept();
    },
    dismiss: () => editor.completion.dismiss(),
    setText: () => editor.setText('set\n[image #1 漢.png]'),
  };
  return {
    editor,
    press(key) {
      if (key.kind === 'type') editor.type(key.text, (nowMs += key.afterMs));
      else if (key.kind === 'enter') editor.enter((nowMs += key.afterMs));
      else if (key.kind === 'act') editor.act(key.name);
      else if (key.kind === 'paste') editor.paste(key.text);
      else others[key.name]();
    },
  };
}

/** A placeholder joins with nothing, whatever a segmenter makes of its character. */
function bordersOf(line: string): number[] {
  let at = 0;
  return [0, ...graphemesOf(line.replaceAll(/[\ud800-\udbff](?![\udc00-\udfff])/g, '\n')).map((grapheme) => (at += grapheme.length))];
}

test('whatever keys are pressed, nothing throws and the cursor stands on a border of a grapheme', () => {
  fc.assert(
    fc.property(fc.array(anyKey, { maxLength: 60, size: 'max' }), (keys) => {
      const { editor, press } = createPlayer();
      for (const key of keys) {
        press(key);
        editor.search.cancel();
        const { lines, cursor } = editor.drawn();
        expect(bordersOf(lines[cursor.line]!.text)).toContain(cursor.unit);
        expect(editor.text().isWellFormed()).toBe(true);
        expect(editor.text()).not.toContain('\r');
      }
    }),
    runs,
  );
});

test('undo of everything gives the empty editor that it began with, and redo gives the end', () => {
  const undone = fc.oneof(typed, act, enter, paste, fc.record({ kind: fc.constant('other' as const), name: changesText }));
  fc.assert(
    fc.property(fc.array(undone, { maxLength: 40, size: 'max' }), (keys) => {
      const { editor, press } = createPlayer();
      for (const key of keys) press(key);
      const end = { text: editor.text(), shown: editor.shownText() };
      const steps = keys.length * 4 + 20;
      for (let step = 0; step < steps; step++) editor.act('undo');
      expect(editor.text()).toBe('');
      for (let step = 0; step < steps; step++) editor.act('redo');
      // A redo that was open is done as well.
      if (!keys.some((key) => key.kind === 'act' && key.name === 'undo'))
        expect({ text: editor.text(), shown: editor.shownText() }).toEqual(end);
    }),
    runs,
  );
});

/** The plainest editor there is: all graphemes of the text, counted anew for each key. */
function createModel(): { text(): string; cursor(): number; press(key: Key): void } {
  let text = '';
  let cursor = 0;

  function borders(): number[] {
    let start = 0;
    return text.split('\n').flatMap((line) => {
      const found = bordersOf(line).map((border) => start + border);
      start += line.length + 1;
      return found;
    });
  }
  function snap(at: number): number {
    return borders().find((border) => border >= at) ?? text.length;
  }
  function replace(from: number, to: number, inserted: string): void {
    text = text.slice(0, from) + inserted + text.slice(to);
    cursor = snap(from + inserted.length);
  }
  const before = (): number => borders().findLast((border) => border < cursor) ?? 0;
  const after = (): number => borders().find((border) => border > cursor) ?? text.length;
  const acts: Partial<Record<EditorActionName, () => void>> = {
    left: () => (cursor = before()),
    right: () => (cursor = after()),
    deleteBackward: () => replace(before(), cursor, ''),
    deleteForward: () => replace(cursor, after(), ''),
    newline: () => replace(cursor, cursor, '\n'),
    lineStart: () => (cursor = cursor === 0 ? 0 : text.lastIndexOf('\n', cursor - 1) + 1),
    lineEnd: () => (cursor = text.includes('\n', cursor) ? text.indexOf('\n', cursor) : text.length),
    textStart: () => (cursor = 0),
    textEnd: () => (cursor = text.length),
  };
  return {
    text: () => text,
    cursor: () => cursor,
    press(key) {
      if (key.kind === 'type') replace(cursor, cursor, key.text.replaceAll(/\r\n?/g, '\n').toWellFormed());
      else if (key.kind === 'act') acts[key.name]?.();
    },
  };
}

test('inserting, deleting and moving does what the plainest editor does', () => {
  const names = ['left', 'right', 'deleteBackward', 'deleteForward', 'newline', 'lineStart', 'lineEnd', 'textStart', 'textEnd'] as const;
  const keys = fc.oneof(
    fc.record({ kind: fc.constant('type' as const), text: piece, afterMs: fc.constant(5_000) }),
    fc.record({ kind: fc.constant('act' as const), name: fc.constantFrom(...names) }),
  );
  fc.assert(
    fc.property(fc.array(keys, { maxLength: 60, size: 'max' }), (pressed) => {
      const { editor, press } = createPlayer();
      const model = createModel();
      for (const key of pressed) {
        press(key);
        model.press(key);
        const { lines, cursor } = editor.drawn();
        const at = lines.slice(0, cursor.line).reduce((units, { text }) => units + text.length + 1, cursor.unit);
        expect({ text: editor.text(), at }).toEqual({ text: model.text(), at: model.cursor() });
      }
    }),
    runs,
  );
});

test('rows are never wider than the screen nor more than allowed, and the cursor is among them', () => {
  const look = chooseLook({ env: {}, background: 'dark' });
  fc.assert(
    fc.property(
      fc.array(anyKey, { maxLength: 40, size: 'max' }),
      fc.integer({ min: 1, max: 30 }),
      fc.integer({ min: 1, max: 6 }),
      (keys, columns, rowsMax) => {
        const { editor, press } = createPlayer();
        for (const key of keys) {
          press(key);
          const { rows, cursor } = editorRows(editor, columns, rowsMax, { prompt: '❯', placeholder: 'ask 漢' });
          expect(rows.length).toBeGreaterThan(0);
          expect(rows.length).toBeLessThanOrEqual(rowsMax);
          expect(cursor.row).toBeLessThan(rows.length);
          expect(cursor.column).toBeLessThan(columns);
          for (const row of rows) {
            expect(rowWidth(row)).toBeLessThanOrEqual(columns);
            expect(encodeRow(row, columns, look)).not.toContain('\u202e');
          }
        }
      },
    ),
    runs,
  );
});

test('a long line that was edited is wrapped as if it had been laid out anew', () => {
  const edit = fc.record({ at: fc.nat(6_000), removed: fc.nat(200), inserted: fc.array(piece, { maxLength: 30 }) });
  const filler = fc.constantFrom('word and ', 'x', '漢字 ', 'some👍thing ', '  a');
  fc.assert(
    fc.property(filler, fc.array(edit, { minLength: 1, maxLength: 8 }), fc.integer({ min: 1, max: 60 }), (fill, edits, columns) => {
      const widths = { widthOf: () => 5 };
      let text = fill.repeat(6_000 / fill.length);
      rowStarts({ text }, columns, widths);
      for (const { at, removed, inserted } of edits) {
        text = `${text.slice(0, at)}${inserted.join('').replaceAll('\n', '')}${text.slice(at + removed)}`.toWellFormed();
        expect(rowStarts({ text }, columns, widths)).toEqual(rowStarts({ text }, columns, { ...widths }));
      }
    }),
    runs,
  );
});

test('the rows hold the whole text in order, and the cursor stands behind the columns of what is before it', () => {
  const parts = fc.array(fc.constantFrom('word', ' ', '漢', 'a', '\n', '👍', 'é', '  ', 'e\u0301'), {
    minLength: 1,
    maxLength: 60,
    size: 'max',
  });
  fc.assert(
    fc.property(parts, fc.nat(80), fc.integer({ min: 8, max: 30 }), (words, steps, columns) => {
      const editor = createEditor();
      editor.setText(words.join(''));
      for (let step = 0; step < steps; step++) editor.act('left');
      const { rows, cursor } = editorRows(editor, columns, 1_000, { prompt: '>' });
      const texts = rows.map(({ spans }) =>
        spans
          .slice(1)
          .map(({ text }) => text)
          .join(''),
      );
      const ends = rows.map((_, index) => (rows[index + 1]?.continues === undefined ? '\n' : ''));
      expect(texts.map((text, index) => `${text}${ends[index]}`).join('')).toBe(`${words.join('')}\n`);
      const { lines, cursor: place } = editor.drawn();
      const before = lines.slice(0, place.line).reduce((units, { text }) => units + text.length + 1, place.unit);
      const above = texts.slice(0, cursor.row).reduce((units, text, index) => units + text.length + ends[index]!.length, 0);
      expect(cursor.column).toBe(2 + textWidth(texts[cursor.row]!.slice(0, before - above)));
      expect(before - above).toBeLessThanOrEqual(texts[cursor.row]!.length);
    }),
    runs,
  );
});

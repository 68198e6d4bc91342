import { expect, test } from 'vitest';
import { limits } from '../../../src/protocol/limits.js';
import { createEditor, type Editor } from '../../../src/tui/editor/editor.js';
import { later, showCursor, typeSlowly } from './typing.js';

const lines = Array.from({ length: 120 }, (_, index) => `line ${index}`).join('\n');
const image = { data: 'iVBORw0KGgo=', mimeType: 'image/png', name: 'shot.png' };

/** Keys that arrive in one go, as a terminal sends a paste that it does not mark. */
function burst(editor: Editor, text: string, startMs = later()): ('submit' | 'newline')[] {
  const answers: ('submit' | 'newline')[] = [];
  Array.from(text).forEach((character, index) => {
    const nowMs = startMs + index / 100;
    if (character === '\n') answers.push(editor.enter(nowMs));
    else editor.type(character, nowMs);
  });
  return answers;
}

test('a long paste is one character with a label, and whole in the text', () => {
  const editor = createEditor();
  typeSlowly(editor, 'see ');
  expect(editor.paste(lines)).toBe(true);
  typeSlowly(editor, ' above');
  expect(editor.shownText()).toBe('see [pasted #1, 120 lines] above');
  expect(editor.text()).toBe(`see ${lines} above`);
  expect(editor.snapshot()).toEqual({ text: `see ${lines} above` });
  editor.act('wordLeft');
  editor.act('left');
  expect(showCursor(editor)).toBe('see [pasted #1, 120 lines]| above');
  editor.act('left');
  expect(showCursor(editor)).toBe('see |[pasted #1, 120 lines] above');
  editor.act('deleteForward');
  expect(editor.text()).toBe('see  above');
  editor.act('undo');
  expect(editor.text()).toBe(`see ${lines} above`);
});

test('a short paste is text, and a long line is counted in characters', () => {
  const editor = createEditor();
  editor.paste('two\nlines');
  editor.paste('x'.repeat(1_001));
  expect(editor.shownText()).toBe('two\nlines[pasted #1, 1,001 characters]');
});

test('a placeholder is expanded in place, from either side of it, and undo brings it back', () => {
  const editor = createEditor();
  editor.paste(lines);
  editor.act('expandPlaceholder');
  expect(editor.shownText()).toBe(lines);
  editor.act('undo');
  expect(editor.shownText()).toBe('[pasted #1, 120 lines]');
  editor.act('left');
  editor.act('expandPlaceholder');
  expect(editor.shownText()).toBe(lines);
});

test('a cut placeholder can be inserted again, and a sent one is whole in the history', () => {
  const editor = createEditor();
  editor.paste(lines);
  editor.act('deleteWordBackward');
  expect(editor.isEmpty()).toBe(true);
  editor.act('yank');
  editor.act('yank');
  expect(editor.take().text).toBe(lines + lines);
  editor.act('up');
  expect(editor.text()).toBe(lines + lines);
  expect(editor.shownText()).toBe('[pasted #1, 120 lines][pasted #1, 120 lines]');
});

test('images are taken in the order of the text, with the place of their labels', () => {
  const editor = createEditor();
  editor.paste(lines);
  expect(editor.addImage(image)).toBe(true);
  expect(editor.addImage({ ...image, name: 'b\u001b[31m\n.png' })).toBe(true);
  editor.act('textStart');
  typeSlowly(editor, 'é 👍 ');
  const { text, tokens } = editor.take();
  expect(text).toBe(`é 👍 ${lines}[image #1 shot.png][image #2 b␛[31m .png]`);
  expect(tokens).toEqual([
    { ...image, label: '[image #1 shot.png]', at: text.indexOf('[image #1') },
    { ...image, name: 'b\u001b[31m\n.png', label: '[image #2 b␛[31m .png]', at: text.indexOf('[image #2') },
  ]);
});

test('an image that came back as its label is the image again', () => {
  const editor = createEditor();
  editor.addImage(image);
  const { text, tokens } = editor.take();
  editor.setText(`again: ${text}`);
  expect(editor.take().tokens).toEqual(tokens.map((token) => ({ ...token, at: 7 })));
});

test('an input takes no more images than its parts allow', () => {
  const editor = createEditor();
  const taken = Array.from({ length: limits.inputPartsMax }, () => editor.addImage(image)).filter((isTaken) => isTaken);
  expect(taken).toHaveLength(Math.floor((limits.inputPartsMax - 1) / 2));
});

test('output that is shared is a placeholder with its own label', () => {
  const editor = createEditor();
  expect(editor.addText('output of npm test', 'all\ngood\n')).toBe(true);
  expect(editor.shownText()).toBe('[output of npm test]');
  expect(editor.text()).toBe('all\ngood\n');
});

test('more placeholders than there are characters for them are no problem when they are gone', () => {
  const editor = createEditor();
  for (let index = 0; index < 3_000; index++) {
    expect(editor.addText(`n ${index}`, `text ${index}`)).toBe(true);
    expect(editor.take().text).toBe(`text ${index}`);
  }
  editor.act('up');
  expect(editor.text()).toBe('text 2999');
});

test('Enter in a burst of keys is a line end, and Enter of a person sends', () => {
  const editor = createEditor();
  expect(burst(editor, 'echo one\necho two\n')).toEqual(['newline', 'newline']);
  expect(editor.text()).toBe('echo one\necho two\n');
  expect(editor.enter(later())).toBe('submit');
  const slow = createEditor();
  typeSlowly(slow, 'yes');
  expect(slow.enter(later())).toBe('submit');
});

test('a few keys that arrive together with Enter are no paste', () => {
  const editor = createEditor();
  expect(burst(editor, 'ok\n')).toEqual(['submit']);
});

test('a long burst becomes a placeholder, and undo takes it away at once', () => {
  const editor = createEditor();
  typeSlowly(editor, 'see ');
  burst(editor, lines);
  expect(editor.shownText()).toBe('see [pasted #1, 120 lines]');
  expect(editor.text()).toBe(`see ${lines}`);
  editor.type('!', later());
  expect(editor.shownText()).toBe('see [pasted #1, 120 lines]!');
  editor.act('undo');
  editor.act('undo');
  expect(showCursor(editor)).toBe('see |');
  editor.act('redo');
  expect(editor.text()).toBe(`see ${lines}`);
});

test('a terminal that marks its pastes sends keys as keys', () => {
  const editor = createEditor();
  editor.paste('marked');
  expect(burst(editor, ' and typed ahead\n')).toEqual(['submit']);
  expect(editor.text()).toBe('marked and typed ahead');
});

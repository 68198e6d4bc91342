import fc from 'fast-check';
import { expect, test } from 'vitest';
import { alignColumns, clipColumns, columnsOf } from '../../src/cli/columns.js';
import { createPage } from '../../src/cli/page.js';
import { createSpoken } from '../../src/cli/spoken.js';
import type { Message } from '../../src/protocol/messages.js';

function openPage() {
  let written = '';
  return { page: createPage((text) => (written += text)), written: () => written };
}

test('no line begins in the middle of another', () => {
  const { page, written } = openPage();
  page.flow('a', 'hel');
  page.flow('a', 'lo');
  page.line('[note]');
  page.flow('b', 'one\ntwo', { indent: '  ' });
  page.flow('b', ' more\n\nthree', { indent: '  ' });
  page.flow('c', 'next');
  page.endLine();
  expect(written()).toBe('hello\n[note]\n  one\n  two more\n\n  three\nnext\n');
});

test('there is never more than one blank line of our own', () => {
  const { page, written } = openPage();
  page.gap();
  page.line('first');
  page.gap();
  page.gap();
  page.flow('a', 'text\n\n');
  page.gap();
  page.line('last');
  expect(written()).toBe('first\n\ntext\n\nlast\n');
});

test('every character of a message is handed out once, however its pieces overlap', () => {
  fc.assert(
    fc.property(fc.string({ maxLength: 40 }), fc.array(fc.tuple(fc.nat(40), fc.nat(40))), (text, cuts) => {
      let said = '';
      const spoken = createSpoken((_id, _kind, piece) => (said += piece));
      for (const [a, b] of cuts) {
        // A piece never begins beyond what was sent before it.
        const from = Math.min(a, said.length);
        spoken.hear({
          session_id: 's',
          run_id: 'r',
          turn_id: '1',
          message_id: 'm',
          block: 0,
          offset: from,
          delta: text.slice(from, from + b),
        });
      }
      spoken.catchUp({ id: 'm', role: 'assistant', blocks: [{ kind: 'text', text: text.slice(0, said.length), toolName: undefined }] });
      expect(spoken.finish({ id: 'm', content: [{ type: 'text', text }] } as Message)).toBe(0);
      expect(said).toBe(text);
    }),
  );
});

test('what was said and then lost is counted', () => {
  const spoken = createSpoken(() => undefined);
  spoken.hear({ session_id: 's', run_id: 'r', turn_id: '1', message_id: 'm', block: 0, offset: 0, delta: 'hello world' });
  expect(spoken.knows('m')).toBe(true);
  expect(spoken.finish({ id: 'm', content: [{ type: 'text', text: 'hello' }] } as Message)).toBe(6);
  expect(spoken.knows('m')).toBe(false);
});

test('columns count what a terminal shows', () => {
  expect(columnsOf('abc')).toBe(3);
  expect(columnsOf('日本')).toBe(4);
  expect(columnsOf('e\u0301')).toBe(1);
  expect(clipColumns('日本語', 4)).toBe('日…');
  expect(clipColumns('abc', 3)).toBe('abc');
  expect(
    alignColumns([
      ['日本', 'x'],
      ['a', 'y'],
    ]),
  ).toEqual(['日本  x', 'a     y']);
});

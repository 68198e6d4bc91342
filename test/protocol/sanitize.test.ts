import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createSystemPrompt } from '../../src/context/system-prompt.js';
import { unreadable } from '../../src/policy/shell/unreadable.js';
import { makeVisible, makeVisibleLine } from '../../src/protocol/sanitize.js';
import { cleanText } from '../../src/tools/output/clean-text.js';
import { shownPath } from '../../src/tools/files/file-paths.js';
import { createPrintableStream, printable, printableJson, printableLine } from '../../src/view/printable.js';

const systemPrompt = createSystemPrompt({ path: () => undefined, now: () => 0 });

/** Everything that puts text from elsewhere before a person, a terminal or a model. */
const sanitizers: Record<string, (text: string) => string> = {
  'an approval': makeVisible,
  'a name': makeVisibleLine,
  'a path that a tool names': (text) => shownPath(`/w/${text}`, '/w'),
  'a terminal': printable,
  'a line of a terminal': printableLine,
  'JSON in a terminal': printableJson,
  'a stream in a terminal': (text) => {
    const stream = createPrintableStream();
    return (
      Array.from(text, (character) => character)
        .map((piece) => stream.push(piece))
        .join('') + stream.end()
    );
  },
  'output of a command': cleanText,
  'the system prompt': (cwd) => {
    const said = systemPrompt({ cwd: `/nowhere/${cwd}`, tools: [] });
    return 'text' in said ? (/Working directory: ([^]*)\nOperating system: /.exec(said.text)?.[1] ?? '') : '';
  },
};

/** Written out by hand: the class of the product is not what it is measured by. */
const hidden = [
  // eslint-disable-next-line no-control-regex
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/u,
  /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/u,
  // eslint-disable-next-line no-misleading-character-class
  /[\u00ad\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200d\u2028\u2029\u2060-\u206f\u3164\ufe00-\ufe0d\ufeff\uffa0\ufff0-\ufffb]/u,
  /[\u{1bca0}-\u{1bca3}\u{1d173}-\u{1d17a}\u{e0000}-\u{e0fff}]/u,
  /(?![\ufe0e\ufe0f])\p{Default_Ignorable_Code_Point}/u,
  // The selectors of emoji hide nothing behind an emoji, and do behind anything else.
  /(?<!\p{Extended_Pictographic})[\ufe0e\ufe0f]/u,
];

const pieces = [
  ...['\u001b', '\u001b[2J', '\u001b[31m', '\u009b31m', '\u001b]0;title\u0007', '\u001b]52;c;eA==\u001b\\', '\u009d0;t\u009c'],
  ...[
    '\u001bP1$r0m\u001b\\',
    '\u0090q\u009c',
    '\u001b_x\u001b\\',
    '\u001b(B',
    '\u001bc',
    '\u0007',
    '\b',
    '\r',
    '\r\n',
    '\n',
    '\t',
    '\u0085',
  ],
  ...['\u007f', '\u00ad', '\u061c', '\u200b', '\u200d', '\u200e', '\u202e', '\u2028', '\u2066', '\u2069', '\u2060', '\u3164', '\ufe00'],
  ...['\ufe0f', '❤\ufe0f', '❤', '👩', '1', '\ufeff', '\ufff9', '\u{e0041}', '\u{e0100}', '\u{1d173}', '\\', '[', ']', ';', 'a', ' '],
];
const hostile = fc.string({ unit: fc.oneof(fc.constantFrom(...pieces), fc.string({ unit: 'binary', maxLength: 2 })), maxLength: 40 });
const honest = fc
  .string({
    unit: fc.oneof(
      fc.constantFrom('❤\ufe0f', '⚠\ufe0f', '🚢', 'é', '漢', 'م', '\u3000', '\u00a0'),
      fc.string({ unit: 'grapheme', maxLength: 1 }),
    ),
  })
  .filter((text) => !hidden.some((some) => some.test(text)) && text.isWellFormed());

/** What is read keeps joiners within emoji and between letters of scripts that are written with them; what is approved keeps none. */
const joined =
  // eslint-disable-next-line no-misleading-character-class
  /(?<=\p{Extended_Pictographic}[\ufe0f\u{1f3fb}-\u{1f3ff}]?)\u200d(?=\p{Extended_Pictographic})|(?<=[\u0620-\u0dff])[\u200c\u200d](?=[\u0620-\u0dff])/gu;
const keepJoiners = new Set(['a terminal', 'a line of a terminal', 'a stream in a terminal', 'output of a command']);

test.each(Object.entries(sanitizers))('nothing hidden is left in what is made for %s', (name, sanitize) => {
  fc.assert(
    fc.property(hostile, (text) => {
      const shown = keepJoiners.has(name) ? sanitize(text).replaceAll(joined, '') : sanitize(text);
      expect(hidden.filter((some) => some.test(shown))).toEqual([]);
    }),
    { numRuns: 500 },
  );
});

test.each(Object.entries(sanitizers).filter(([name]) => !/JSON|line of|system prompt/.test(name)))(
  'text that hides nothing is unchanged for %s',
  (_, sanitize) => {
    fc.assert(
      fc.property(honest, (text) => {
        expect(sanitize(text)).toBe(text);
      }),
      { numRuns: 300 },
    );
  },
);

test.each(['an approval', 'a name', 'a path that a tool names', 'the system prompt'])(
  'two texts that differ look different in %s',
  (name) => {
    for (const piece of pieces.filter((one) => hidden.some((some) => some.test(one)))) {
      const sanitize = sanitizers[name] as (text: string) => string;
      expect(sanitize(`a${piece}b`)).not.toBe(sanitize('ab'));
    }
  },
);

test('a command with anything hidden in it is not taken for understood', () => {
  for (const piece of pieces.filter((one) => hidden.some((some) => some.test(one)))) {
    expect(unreadable(`echo a${piece}b`), JSON.stringify(piece)).toMatch(/^it contains the character U\+/);
  }
  expect(unreadable('git commit -m "❤\ufe0f"')).toBeUndefined();
});

const withJoiners = ['👨\u200d👩\u200d👧', '❤\ufe0f\u200d🔥', '👩🏽\u200d🚀', 'می\u200cخواهم', 'क्\u200dष', 'ශ්\u200dරී'];

test.each([...keepJoiners])('emoji of several parts and scripts that need joiners keep them in %s', (name) => {
  const sanitize = sanitizers[name] as (text: string) => string;
  for (const text of withJoiners) expect(sanitize(text)).toBe(text);
  for (const text of ['r\u200dm', 'a\u200c/b', '\u200dm', 'م\u200d', '👩\u200d', 'م\u200d\u200dم', '1\u200d2']) {
    expect(sanitize(text), JSON.stringify(text)).not.toMatch(/[\u200c\u200d]/u);
  }
});

test.each(['an approval', 'a name', 'a path that a tool names'])('a joiner is spelled out in %s, whatever it joins', (name) => {
  const sanitize = sanitizers[name] as (text: string) => string;
  for (const text of withJoiners) expect(sanitize(text)).toMatch(/^[^\u200c\u200d]*\\u\{200[cd]\}[^\u200c\u200d]*$/u);
});

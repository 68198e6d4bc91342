import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { allActions } from '../../src/tui/keys/actions.js';
import { createKeyMap } from '../../src/tui/keys/key-map.js';
import { createTerminalInput, type TerminalInput } from '../../src/tui/kit/terminal-input.js';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** What is made of bytes that arrive one read after the other, with so many milliseconds between reads. */
function read(reads: readonly (string | Uint8Array)[], gapMs = 5): TerminalInput[] {
  const inputs: TerminalInput[] = [];
  const reader = createTerminalInput((input) => inputs.push(input));
  for (const bytes of reads) {
    reader.push(Buffer.from(bytes));
    vi.advanceTimersByTime(gapMs);
  }
  vi.advanceTimersByTime(1_000);
  reader.close();
  return inputs;
}

function bytesOf(text: string): Uint8Array[] {
  return Array.from(Buffer.from(text), (byte) => Uint8Array.of(byte));
}

const key = (name: string): TerminalInput => ({ kind: 'key', key: name });
const text = (typed: string, isAlone = true): TerminalInput => ({ kind: 'text', text: typed, isAlone });
const marksPastes = '\x1b[?2004;2$y';

describe('a link that delivers each byte apart', () => {
  test.each<[string, string, TerminalInput]>([
    ['an arrow', '\x1b[A', key('up')],
    ['an arrow with Control', '\x1b[1;5A', key('ctrl+up')],
    ['Page Up', '\x1b[5~', key('pageUp')],
    ['Shift and Tab', '\x1b[Z', key('shift+tab')],
    ['Alt and a letter', '\x1bn', key('alt+n')],
    ["Shift and Enter of kitty's keyboard", '\x1b[13;2u', key('shift+enter')],
    ['a press of the mouse', '\x1b[<0;12;7M', { kind: 'mouse', action: 'press', column: 11, row: 6, shift: false }],
    ['the wheel', '\x1b[<65;1;1M', { kind: 'mouse', action: 'wheel_down', column: 0, row: 0, shift: false }],
    ['focus', '\x1b[I', { kind: 'focus', focused: true }],
    ['a paste', '\x1b[200~a\rb\x1b[A\x1b[201~', { kind: 'paste', text: 'a\rb\x1b[A' }],
    ['the background', '\x1b]11;rgb:0000/0000/0000\x07', { kind: 'background', brightness: 0 }],
  ])('%s', (_, bytes, input) => {
    expect(read(bytesOf(bytes), 40)).toEqual([input]);
  });

  test('letters of more than one byte', () => {
    expect(read(bytesOf('ü日🙂'), 40)).toEqual([text('ü'), text('日'), text('🙂')]);
  });

  test('Escape alone counts after 50 ms, and before that begins a sequence', () => {
    expect(read(['\x1b', '[A'], 49)).toEqual([key('up')]);
    expect(read(['\x1b', '[', 'A'], 60)).toEqual([key('escape'), text('['), text('A')]);
  });

  test('a sequence that has begun waits for its end, and none of it is typed', () => {
    expect(read(['\x1b[', 'A'], 300)).toEqual([key('up')]);
    expect(read(['\x1b[1', ';', '5A'], 300)).toEqual([key('ctrl+up')]);
    expect(read(['\x1b[20', '0~a\x1b[201~'], 300)).toEqual([{ kind: 'paste', text: 'a' }]);
    expect(read(['\x1b[<65;1', ';1M', 'x'], 300).at(-1)).toEqual(text('x'));
  });
});

describe('one read', () => {
  test('has a letter outside the basic plane whole', () => {
    expect(read(['🙂'])).toEqual([text('🙂')]);
    expect(read(['a🙂b'])).toEqual([text('a', false), text('🙂', false), text('b', false)]);
  });

  test('has Escape twice', () => {
    expect(read(['\x1b\x1b'])).toEqual([key('escape'), key('escape')]);
  });

  test('has Escape and an arrow', () => {
    expect(read(['\x1b\x1b[A'])).toEqual([key('escape'), key('up')]);
  });

  test('has a letter that is alone, although the terminal answered something at the same time', () => {
    expect(read(['\x1b[?62;22c?\x1b[?2026;2$y'])).toEqual([{ kind: 'device' }, text('?')]);
  });

  test('has typing ahead, in which nothing is alone', () => {
    expect(read(['ab'])).toEqual([text('a', false), text('b', false)]);
  });
});

test.each([
  ['kitty', '\x1b[44:60;4u', 'alt+<'],
  ['kitty', '\x1b[45:95;6u', 'ctrl+_'],
  ['kitty, a letter', '\x1b[110:78;4u', 'shift+alt+n'],
  ['kitty, a key with a name', '\x1b[13;2u', 'shift+enter'],
  ['xterm', '\x1b[27;4;62~', 'alt+>'],
])('a sign that needs Shift is that sign with its modifiers: %s', (_, bytes, name) => {
  expect(read([bytes])).toEqual([key(name)]);
});

describe('a paste that the terminal marks', () => {
  const reads = ['\x1b[200~one\r', 'two\rthree', '\rfour\x1b[201~'];
  const whole: TerminalInput = { kind: 'paste', text: 'one\rtwo\rthree\rfour' };

  test('is one, in whatever reads it comes', () => {
    expect(read([marksPastes, ...reads])).toEqual([whole]);
  });

  test('is one also where the terminal never said that it marks pastes', () => {
    expect(read(reads)).toEqual([whole]);
    expect(read(['\x1b[20', '0~one\r', ...reads.slice(1)])).toEqual([whole]);
  });

  test('of a megabyte is not read again for each of its pieces', () => {
    const piece = 'the harbour master wrote it down\r'.repeat(128);
    const pieces = Array.from({ length: 256 }, () => piece);
    const from = process.cpuUsage();
    expect(read(['\x1b[200~', ...pieces, '\x1b[201~'], 0)).toEqual([{ kind: 'paste', text: pieces.join('') }]);
    expect(process.cpuUsage(from).user / 1_000).toBeLessThan(1_000);
  });
});

describe('a paste that the terminal does not mark', () => {
  test('is told by its line ends: nobody presses Enter and types on within one read', () => {
    expect(read(['one\rtwo'])).toEqual([{ kind: 'paste', text: 'one\rtwo' }]);
  });

  test('is typing where the terminal marks its pastes', () => {
    expect(read([marksPastes, 'a\rb'])).toEqual([text('a', false), key('enter'), text('b', false)]);
  });
});

test('what a terminal says of itself is told apart from what is typed', () => {
  expect(read(['\x1b[?1u', '\x1b[?62;22c'])).toEqual([{ kind: 'kitty_keyboard' }, { kind: 'device' }]);

  const answers = ['\x1bP>|xterm(390)\x1b\\', '\x1b]11;?\x1b\\', '\x1b_Gi=1;OK\x1b\\', '\x1b[?2026;2$y'];
  expect(read(answers)).toEqual([]);
});

/** What terminals of before kitty's keyboard send for a key; undefined where they cannot tell it from another. */
function legacyBytes(name: string): string | undefined {
  const named: Record<string, string> = {
    enter: '\r',
    tab: '\t',
    escape: '\x1b',
    space: ' ',
    backspace: '\x7f',
    up: '\x1b[A',
    down: '\x1b[B',
    right: '\x1b[C',
    left: '\x1b[D',
    home: '\x1b[H',
    end: '\x1b[F',
    pageUp: '\x1b[5~',
    pageDown: '\x1b[6~',
    delete: '\x1b[3~',
    f1: '\x1bOP',
    'shift+tab': '\x1b[Z',
    'alt+enter': '\x1b\r',
    'alt+backspace': '\x1b\x7f',
    'ctrl+_': '\x1f',
  };
  if (named[name] !== undefined) return named[name];
  const [, modifier, arrow] = /^(shift|alt|ctrl)\+(up|down|right|left|home|end)$/.exec(name) ?? [];
  if (modifier !== undefined && arrow !== undefined)
    return `\x1b[1;${{ shift: 2, alt: 3, ctrl: 5 }[modifier as 'shift']}${named[arrow]?.slice(-1)}`;
  const [, held, deleted] = /^(shift|alt|ctrl)\+(delete)$/.exec(name) ?? [];
  if (held !== undefined && deleted !== undefined) return `\x1b[3;${{ shift: 2, alt: 3, ctrl: 5 }[held as 'shift']}~`;
  if (/^.$/.test(name)) return name;
  if (/^alt\+.$/.test(name)) return `\x1b${name.slice(-1)}`;
  if (/^shift\+[a-z]$/.test(name)) return name.slice(-1).toUpperCase();
  if (/^ctrl\+[a-z]$/.test(name)) return String.fromCharCode(name.charCodeAt(name.length - 1) - 96);
  return undefined;
}

/** Keys that only kitty's keyboard, or xterm's modified keys, can tell from others. */
const modernOnly = ['shift+enter', 'shift+backspace', 'ctrl+backspace', 'ctrl+-', 'ctrl+shift+-', 'alt+shift+-', 'ctrl+alt+-'];

test('every key of the inventory means its action when a terminal of any age sends it', () => {
  const { keyMap } = createKeyMap();
  const wrong: string[] = [];
  for (const { name, keys, focus } of allActions) {
    for (const wanted of keys) {
      const bytes = legacyBytes(wanted);
      if (bytes === undefined) {
        if (!modernOnly.includes(wanted)) wrong.push(`${name}: nobody knows what ${wanted} sends`);
        continue;
      }
      const [input] = read([bytes]);
      const heard = input?.kind === 'key' ? input.key : input?.kind === 'text' ? (input.text === ' ' ? 'space' : input.text) : undefined;
      const means = heard === undefined ? undefined : keyMap.find(heard, focus);
      if (means !== name) wrong.push(`${name}: ${wanted} arrives as ${heard} and means ${means}`);
    }
  }
  expect(wrong).toEqual([]);
});

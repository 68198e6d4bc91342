import { describe, expect, test } from 'vitest';
import { createTerminalInput, type TerminalInput } from '../../../src/tui/kit/terminal-input.js';

function read(...chunks: string[]): TerminalInput[] {
  const inputs: TerminalInput[] = [];
  const reader = createTerminalInput((input) => inputs.push(input));
  for (const chunk of chunks) reader.push(Buffer.from(chunk));
  reader.close();
  return inputs;
}

const key = (name: string): TerminalInput => ({ kind: 'key', key: name });
const text = (typed: string, isAlone = false): TerminalInput => ({ kind: 'text', text: typed, isAlone });

describe('what a terminal sends', () => {
  test.each([
    ['\r', 'enter'],
    ['\n', 'ctrl+j'],
    ['\t', 'tab'],
    ['\x1b[Z', 'shift+tab'],
    ['\x03', 'ctrl+c'],
    ['\x7f', 'backspace'],
    ['\x1b[27;2;13~', 'shift+enter'],
    ['\x1b[13;2u', 'shift+enter'],
    ['\x1b\r', 'alt+enter'],
    ['\x1b[1;5A', 'ctrl+up'],
    ['\x1b<', 'alt+<'],
    ['\x1b>', 'alt+>'],
    ['\x1ba', 'alt+a'],
    ['\x1b[5~', 'pageUp'],
  ])('%j is a key', (bytes, name) => {
    expect(read(bytes)).toEqual([key(name)]);
  });

  test('an escape sequence that comes byte by byte is one key', () => {
    expect(read('\x1b', '[', '1', ';', '5', 'A')).toEqual([key('ctrl+up')]);
  });

  test('a character that arrives by itself is told apart from one that arrives with others', () => {
    expect(read('a')).toEqual([text('a', true)]);
    expect(read('ab')).toEqual([text('a'), text('b')]);
  });

  test('a character whose bytes are split over two reads is whole', () => {
    const bytes = Buffer.from('日');
    const inputs: TerminalInput[] = [];
    const reader = createTerminalInput((input) => inputs.push(input));
    reader.push(bytes.subarray(0, 1));
    reader.push(bytes.subarray(1));
    reader.close();
    expect(inputs).toEqual([text('日', true)]);
  });

  test('a marked paste is a paste, whatever is in it', () => {
    expect(read('\x1b[200~one\rtwo\x1b[201~')).toEqual([{ kind: 'paste', text: 'one\rtwo' }]);
  });

  test('Enter with more text behind it in one read is a paste of a terminal that does not mark them', () => {
    expect(read('one\rtwo')).toEqual([{ kind: 'paste', text: 'one\rtwo' }]);
    expect(read('one\r')).toEqual([text('o'), text('n'), text('e'), key('enter')]);
  });

  test('a terminal that knows bracketed paste is believed: keys are keys', () => {
    expect(read('\x1b[?2004;1$y', 'a\rb')).toEqual([text('a'), key('enter'), text('b')]);
  });

  test('the mouse, the focus and what the terminal answers are no text', () => {
    expect(read('\x1b[<0;5;3M')).toEqual([{ kind: 'mouse', action: 'press', column: 4, row: 2, shift: false }]);
    expect(read('\x1b[<64;5;3M')).toEqual([{ kind: 'mouse', action: 'wheel_up', column: 4, row: 2, shift: false }]);
    expect(read('\x1b[O')).toEqual([{ kind: 'focus', focused: false }]);
    expect(read('\x1b]11;rgb:0000/0000/0000\x07')).toEqual([{ kind: 'background', brightness: 0 }]);
    expect(read('\x1b[?62;22c')).toEqual([{ kind: 'device' }]);
    expect(read('\x1bP>|term\x1b\\', '\x1b_Gi=1;OK\x1b\\')).toEqual([]);
  });
});

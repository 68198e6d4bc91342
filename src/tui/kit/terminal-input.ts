import { decodePrintableKey, isKeyRelease, parseKey, setKittyProtocolActive } from '@earendil-works/pi-tui/dist/keys.js';
import { StdinBuffer } from '@earendil-works/pi-tui/dist/stdin-buffer.js';

/** What a person did at the terminal, or what the terminal answered. */
export type TerminalInput =
  | { kind: 'key'; key: string }
  /** Text that was typed: one grapheme, or more from an input method. `isAlone` when nothing else arrived with it, as a paste or typing ahead would. */
  | { kind: 'text'; text: string; isAlone: boolean }
  | { kind: 'paste'; text: string }
  | { kind: 'mouse'; action: 'press' | 'release' | 'drag' | 'wheel_up' | 'wheel_down'; column: number; row: number; shift: boolean }
  | { kind: 'focus'; focused: boolean }
  /** The terminal understands kitty's keyboard protocol; it says so before it says what it is. */
  | { kind: 'kitty_keyboard' }
  | { kind: 'device' }
  | { kind: 'background'; brightness: number };

export interface TerminalInputReader {
  push(bytes: Buffer): void;
  close(): void;
}

/** A lone Escape counts after this time. What has gone on as a sequence waits for its end, however slow the link is. */
const tuning = { escapeMs: 50, pasteGapMs: 20 } as const;

/** Splits what arrives from a terminal into keys, texts, pastes and mouse actions. */
export function createTerminalInput(onInput: (input: TerminalInput) => void): TerminalInputReader {
  const buffer = new StdinBuffer({ timeout: tuning.escapeMs });
  const utf8 = new TextDecoder();
  // Until the terminal says that it has it.
  setKittyProtocolActive(false);
  /** What is made of the read that is being taken apart; undefined when time has made something of what came before. */
  let reading: TerminalInput[] | undefined;
  let pastedMs = -Infinity;
  let marksPastes = false;
  let lastArrived = '';
  let firstHalf = '';
  /** The beginning of a sequence whose end has not arrived in time. */
  let begun = '';

  function take(sequence: string): void {
    if (pasteModeAnswer.test(sequence)) marksPastes = true;
    // Two presses over a slow line; Alt and Escape together means nothing.
    if (sequence === '\x1b\x1b') onInput({ kind: 'key', key: 'escape' });
    const input = readSequence(sequence);
    if (!input) return;
    if (reading) reading.push(input);
    else tell([input]);
  }

  /** A text is alone when nothing else was typed within the same read; what the terminal answers meanwhile was not typed. */
  function tell(inputs: readonly TerminalInput[]): void {
    const isAlone = inputs.filter(({ kind }) => kind === 'text' || kind === 'key' || kind === 'paste').length === 1;
    for (const input of inputs) onInput(input.kind === 'text' ? { ...input, isAlone } : input);
  }

  buffer.on('data', (sequence: string) => {
    // The buffer takes text apart into UTF-16 units, and two Escapes in one read for one with Alt.
    if (isFirstHalf.test(sequence)) firstHalf = sequence;
    else if (!reading && isBegun.test(sequence)) begun = sequence;
    else if (sequence === '\x1b\x1b') for (const escape of sequence) take(escape);
    else {
      take(firstHalf + sequence);
      firstHalf = '';
    }
  });
  buffer.on('paste', (text: string) => {
    if (reading) reading.push({ kind: 'paste', text });
    else tell([{ kind: 'paste', text }]);
  });
  return {
    push(bytes) {
      const arrived = utf8.decode(bytes, { stream: true });
      if (arrived === '') return;
      const nowMs = performance.now();
      // What follows the beginning of a marked paste is a part of it.
      marksPastes ||= (lastArrived + arrived).includes(pasteStart);
      lastArrived = arrived.slice(-pasteStart.length);
      if (!marksPastes && isUnmarkedPaste(arrived, nowMs - pastedMs <= tuning.pasteGapMs)) {
        pastedMs = nowMs;
        onInput({ kind: 'paste', text: arrived });
        return;
      }
      reading = [];
      const whole = begun + arrived;
      begun = '';
      buffer.process(whole);
      const inputs = reading;
      reading = undefined;
      tell(inputs);
    },
    close: () => buffer.destroy(),
  };
}

/**
 * Whether a terminal that does not mark its pastes sent one: nobody presses Enter and types on within one read. What follows at once is
 * the rest of it.
 */
function isUnmarkedPaste(arrived: string, follows: boolean): boolean {
  return /^[^\x00-\x08\x0b\x0c\x0e-\x1f\x7f]+$/.test(arrived) && (follows ? arrived.length > 1 : /[\r\n][^\r\n]/.test(arrived));
}

const pasteStart = '\x1b[200~';
/** Nothing but a sequence begins like this. */
const isBegun = /^\x1b\[[\d;<>?]*$/;
const isFirstHalf = /^[\ud800-\udbff]$/;
const mouse = /^\x1b\[<(\d+);(\d+);(\d+)([Mm])$/;
const kittyAnswer = /^\x1b\[\?\d+u$/;
const deviceAnswer = /^\x1b\[(\?|>)[\d;]*c$/;
/** Alt and a character that the library does not name. */
const altCharacter = /^\x1b([!-~])$/;
/** A terminal that knows bracketed paste (mode 2004), set or not. */
const pasteModeAnswer = /^\x1b\[\?2004;[123]\$y$/;
const backgroundAnswer = /^\x1b\]11;rgb:([\da-f]+)\/([\da-f]+)\/([\da-f]+)(\x07|\x1b\\)$/i;

function readSequence(sequence: string): TerminalInput | undefined {
  // Alt and a character arrive as Escape and the character; the library takes some of them for arrows, and others for nothing.
  const [, held] = /^\x1b([\x21-\x7e])$/.exec(sequence) ?? [];
  if (held !== undefined) return { kind: 'key', key: `alt+${held}` };
  const symbol = readSymbol(sequence);
  if (symbol !== undefined) return { kind: 'key', key: symbol };
  if (sequence === '\x1b[I' || sequence === '\x1b[O') return { kind: 'focus', focused: sequence === '\x1b[I' };
  const [, code, column, row, end] = mouse.exec(sequence) ?? [];
  if (code !== undefined) return readMouse(Number(code), Number(column), Number(row), end === 'M');
  if (kittyAnswer.test(sequence)) {
    setKittyProtocolActive(true);
    return { kind: 'kitty_keyboard' };
  }
  const [, red, green, blue] = backgroundAnswer.exec(sequence) ?? [];
  if (red !== undefined && green !== undefined && blue !== undefined)
    return { kind: 'background', brightness: brightnessOf([red, green, blue]) };
  if (deviceAnswer.test(sequence)) return { kind: 'device' };
  if (/^\x1b\[\?[\d;]*\$y$/.test(sequence) || /^\x1b[\]P_^]/.test(sequence) || isKeyRelease(sequence)) return undefined;
  const printable = decodePrintableKey(sequence);
  if (printable !== undefined) return { kind: 'text', text: printable, isAlone: false };
  // Without kitty's protocol a line feed is Ctrl-J, and Enter a carriage return.
  const key = sequence === '\n' ? 'ctrl+j' : sequence === '\x1b\x1b' ? 'escape' : parseKey(sequence);
  const [, withAlt] = altCharacter.exec(sequence) ?? [];
  if (key === undefined && withAlt !== undefined) return { kind: 'key', key: `alt+${withAlt}` };
  if (key === undefined) return isText(sequence) ? { kind: 'text', text: sequence, isAlone: false } : undefined;
  if (key === 'space') return { kind: 'text', text: ' ', isAlone: false };
  return isText(sequence) ? { kind: 'text', text: sequence, isAlone: false } : { kind: 'key', key };
}

/** The sign that a key with Shift gives on this keyboard, and Alt or Control with it, in the forms of kitty and of xterm: `alt+<`, not `alt+shift+,`. */
function readSymbol(sequence: string): string | undefined {
  const [, code, held] = /^\x1b\[\d+:(\d+)(?::\d+)?;(\d+)(?::[12])?u$/.exec(sequence) ?? [];
  const [, otherHeld, otherCode] = /^\x1b\[27;(\d+);(\d+)~$/.exec(sequence) ?? [];
  const sign = String.fromCodePoint(Number(code ?? otherCode ?? 0));
  const modifiers = Number(held ?? otherHeld ?? 1) - 1;
  const [isShift, isAlt, isControl] = [1, 2, 4].map((bit) => (modifiers & bit) !== 0);
  if (!isShift || !(isAlt || isControl) || !/^[!-/:-@[-`{-~]$/.test(sign)) return undefined;
  return `${isControl ? 'ctrl+' : ''}${isAlt ? 'alt+' : ''}${sign}`;
}

function isText(sequence: string): boolean {
  return /^[^\x00-\x1f\x7f-\x9f]+$/.test(sequence);
}

function readMouse(code: number, column: number, row: number, isPress: boolean): TerminalInput | undefined {
  const at = { column: column - 1, row: row - 1, shift: (code & 4) !== 0 };
  if ((code & 64) !== 0) return { kind: 'mouse', action: (code & 1) === 0 ? 'wheel_up' : 'wheel_down', ...at };
  const isLeft = (code & 3) === 0;
  if ((code & 32) !== 0) return isLeft ? { kind: 'mouse', action: 'drag', ...at } : undefined;
  if (!isPress) return { kind: 'mouse', action: 'release', ...at };
  return isLeft ? { kind: 'mouse', action: 'press', ...at } : undefined;
}

/** From 0 (black) to 1 (white). */
function brightnessOf(parts: readonly string[]): number {
  const [red = 0, green = 0, blue = 0] = parts.map((hex) => parseInt(hex, 16) / (16 ** hex.length - 1));
  return 0.299 * red + 0.587 * green + 0.114 * blue;
}

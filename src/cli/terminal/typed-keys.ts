import type { Interface, Key } from 'node:readline';

interface Deps {
  input: NodeJS.ReadStream;
  /** The only keypress listener of `input`. */
  reader: Interface;
  /** A key was pressed, or a paste begins; the line is unchanged yet. */
  onKey(key: Key): void;
  /** A bracketed paste has ended. */
  onPaste(text: string): void;
  /** The line contains all typed characters. */
  onTyped(): void;
}

export interface TypedKeys {
  /** Whether typed characters are not in the line yet. */
  isWaiting(): boolean;
}

type TakeKey = (text: string | undefined, key: Key) => void;

const controls = /\p{Cc}/u;
/** Control characters, which a terminal would interpret when the line is shown. */
const unpastable = /(?![\t\r\n])\p{Cc}/gu;

/**
 * Filters keypress events for readline. Characters of one read are inserted as one batch, so that a long text does not take quadratic time, and
 * a bracketed paste is one text, even across reads.
 */
export function feedKeys({ input, reader, onKey, onPaste, onTyped }: Deps): TypedKeys {
  const readers = input.listeners('keypress') as TakeKey[];
  let typed = '';
  let pasted: string | undefined;
  let over = false;

  function putTyped(): void {
    const text = typed;
    typed = '';
    if (text === '' || over) return;
    reader.write(text);
    onTyped();
  }

  function addTyped(text: string, key: Key): void {
    if (typed === '') {
      onKey(key);
      // A microtask runs after all keypress events of the same read.
      queueMicrotask(putTyped);
    }
    typed += text;
  }

  function take(text: string | undefined, key: Key): void {
    const leaves = key.ctrl === true && key.name === 'c';
    if (pasted === undefined && text !== undefined && isCharacter(text, key)) return addTyped(text, key);
    putTyped();
    if (pasted === undefined || leaves) onKey(key);
    if (key.name === 'paste-start') pasted = '';
    else if (key.name === 'paste-end') {
      const whole = (pasted ?? '').replaceAll(unpastable, '');
      pasted = undefined;
      onPaste(whole);
    } else if (pasted !== undefined && !leaves) pasted += key.sequence ?? '';
    else for (const takeKey of readers) takeKey(text, key);
    if (!over) onTyped();
  }

  input.removeAllListeners('keypress');
  input.on('keypress', take);
  reader.on('close', () => {
    over = true;
    input.removeListener('keypress', take);
  });
  return { isWaiting: () => typed !== '' || pasted !== undefined };
}

function isCharacter(text: string, { ctrl, meta }: Key): boolean {
  return text !== '' && ctrl !== true && meta !== true && !controls.test(text);
}

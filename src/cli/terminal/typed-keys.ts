import type { Interface, Key } from 'node:readline';

interface Deps {
  input: NodeJS.ReadStream;
  /** The only one that listens to the keys of `input`. */
  reader: Interface;
  /** A key was pressed, or a paste begins; nothing of it is in the line yet. */
  onKey(key: Key): void;
  /** A paste has ended. Nothing in it is a key. */
  onPaste(text: string): void;
  /** All that came is in the line. */
  onTyped(): void;
}

export interface TypedKeys {
  /** Has something come that is not in the line yet? */
  isWaiting(): boolean;
}

type TakeKey = (text: string | undefined, key: Key) => void;

const controls = /\p{Cc}/u;
/** Terminals would act on them when the line is shown. */
const unpastable = /(?![\t\r\n])\p{Cc}/gu;

/**
 * Stands between a terminal and the reader of its lines. Characters that come at once are put in at once, so that the cost of a long
 * text does not grow with its square, and a paste is one text, however many reads it takes.
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
      // The keys that came in the same read are all told before this.
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

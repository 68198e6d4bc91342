import { graphemesOf } from '../kit/graphemes.js';
import { textWidth } from '../rows/cells.js';
import { marks } from '../rows/marks.js';
import { span, type Span } from '../rows/row.js';

/** One line of text that is typed: filters, titles, reasons. */
export interface LineField {
  text(): string;
  setText(text: string): void;
  type(text: string): void;
  /** True when the key was one of editing. */
  onKey(key: string): boolean;
  /** The part of the text around the cursor that has room, and the column of the cursor in it. Secret texts are shown as dots. */
  spans(columns: number): { spans: Span[]; cursor: number };
}

export function createLineField(initial = '', { isSecret = false } = {}): LineField {
  let before: string[] = graphemesOf(initial);
  let after: string[] = [];

  const keys: Partial<Record<string, () => void>> = {
    backspace: () => before.pop(),
    'ctrl+h': () => before.pop(),
    delete: () => after.shift(),
    left: () => move(-1),
    'ctrl+b': () => move(-1),
    right: () => move(1),
    'ctrl+f': () => move(1),
    home: () => move(-before.length),
    'ctrl+a': () => move(-before.length),
    end: () => move(after.length),
    'ctrl+e': () => move(after.length),
    'ctrl+u': () => (before = []),
    'ctrl+k': () => (after = []),
    'ctrl+w'() {
      while (before.at(-1) === ' ') before.pop();
      while (before.length > 0 && before.at(-1) !== ' ') before.pop();
    },
  };

  function move(by: number): void {
    const all = [...before, ...after];
    const at = Math.max(0, Math.min(all.length, before.length + by));
    before = all.slice(0, at);
    after = all.slice(at);
  }

  return {
    text: () => [...before, ...after].join(''),
    setText(text) {
      before = graphemesOf(text);
      after = [];
    },
    type(text) {
      const last = before.pop() ?? '';
      for (const grapheme of graphemesOf(last + text.replaceAll(/[\r\n\t]+/g, ' '))) before.push(grapheme);
    },
    onKey(key) {
      const act = keys[key];
      act?.();
      return act !== undefined;
    },
    spans(columns) {
      const shown = (parts: readonly string[]): readonly string[] => (isSecret ? parts.map(() => '•') : parts);
      const head = endOf(shown(before), Math.max(1, columns - 2));
      // What is drawn is clipped to the screen, which is narrower than that.
      const tail = shown(after.slice(0, columns)).join('');
      return { spans: [span(head), span(tail)], cursor: textWidth(head) };
    },
  };
}

/** The end of a text that has room, with an ellipsis for what is before it. */
function endOf(parts: readonly string[], columns: number): string {
  let from = parts.length;
  for (let width = 0; from > 0; from--) {
    width += textWidth(parts[from - 1] ?? '');
    if (width > columns) break;
  }
  return from === 0 ? parts.join('') : `${marks.ellipsis}${parts.slice(from).join('')}`;
}

import { graphemesOf } from '../kit/graphemes.js';
import { span, spansWidth, type Span } from '../rows/row.js';

/** One line of text that is typed: filters, titles, reasons. */
export interface LineField {
  text(): string;
  setText(text: string): void;
  type(text: string): void;
  /** True when the key was one of editing. */
  onKey(key: string): boolean;
  /** The text and the column of the cursor in it. Secret texts are shown as dots. */
  spans(): { spans: Span[]; cursor: number };
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
      before = graphemesOf(before.join('') + text.replaceAll(/[\r\n\t]+/g, ' '));
    },
    onKey(key) {
      const act = keys[key];
      act?.();
      return act !== undefined;
    },
    spans() {
      const show = (parts: readonly string[]): string => (isSecret ? '•'.repeat(parts.length) : parts.join(''));
      const head = span(show(before));
      return { spans: [head, span(show(after))], cursor: spansWidth([head]) };
    },
  };
}

import type { Editor } from '../../../src/tui/editor/editor.js';

let nowMs = 0;

/** A later time, long after the one before. */
export function later(): number {
  nowMs += 10_000;
  return nowMs;
}

/** Types as a person does: key by key, with Shift+Enter for line ends. */
export function typeSlowly(editor: Editor, text: string): void {
  for (const character of text) {
    if (character === '\n') editor.act('newline');
    else editor.type(character, (nowMs += 100));
  }
}

/** The text as it is shown, with `|` at the cursor. */
export function showCursor(editor: Editor): string {
  const { lines, cursor, tokens } = editor.drawn();
  return lines
    .map(({ text }, line) => (line === cursor.line ? `${text.slice(0, cursor.unit)}|${text.slice(cursor.unit)}` : text))
    .join('\n')
    .replaceAll(/[\ud800-\udbff](?![\udc00-\udfff])/g, (character) => tokens.labelOf(character) ?? '?');
}

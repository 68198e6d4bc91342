import { createEditor } from '../editor/editor.js';
import { editorActions, type EditorActionName } from '../editor/editor-actions.js';
import { editorRows } from '../editor/editor-rows.js';
import { row, span } from '../rows/row.js';
import { leadRows } from './lead-rows.js';
import type { Overlay } from './overlay.js';

export interface EditorPromptOptions {
  title: string;
  message?: string;
  initial?: string;
  /** What Esc does. */
  escape?: string;
  onSubmit(text: string): void;
  /** It was closed without an answer, with this text in it. */
  onClosed?(text: string): void;
}

const byKey = new Map<string, EditorActionName>(editorActions.flatMap(({ name, keys }) => keys.map((key) => [key, name] as const)));

/** Asks for a text of several lines. */
export function createEditorPrompt(options: EditorPromptOptions): Overlay {
  const { title, message = '', initial = '', escape = 'Esc close', onSubmit, onClosed } = options;
  const editor = createEditor();
  editor.setText(initial);
  return {
    frame(columns, rows) {
      const lead = leadRows(title, message, columns, Math.max(1, Math.floor(rows / 2)));
      const written = editorRows(editor, columns, Math.max(1, rows - lead.length - 1), { prompt: '>' });
      const hint = row(span(` Enter ok · Ctrl-J new line · ${escape}`, 'muted'));
      return { rows: [...lead, ...written.rows, hint], cursor: { row: lead.length + written.cursor.row, column: written.cursor.column } };
    },
    onKey(key) {
      const action = byKey.get(key);
      if (key === 'enter') {
        // Enter in the middle of a paste never comes as a key.
        if (editor.enter(Infinity) === 'submit') onSubmit(editor.text());
      } else if (action) editor.act(action);
    },
    onText: (text) => void editor.type(text, performance.now()),
    onPaste: (text) => void editor.paste(text),
    ...(onClosed ? { onClosed: () => onClosed(editor.text()) } : {}),
  };
}

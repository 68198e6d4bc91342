import { row, span } from '../rows/row.js';
import { leadRows } from './lead-rows.js';
import { createLineField } from './line-field.js';
import type { Overlay } from './overlay.js';

export interface TextPromptOptions {
  title: string;
  message?: string;
  initial?: string;
  isSecret?: boolean;
  /** What Esc does. */
  escape?: string;
  onSubmit(text: string): void;
  /** It was closed without an answer, with this text in it. */
  onClosed?(text: string): void;
}

/** Asks for one line of text. */
export function createTextPrompt(options: TextPromptOptions): Overlay {
  const { title, message = '', initial = '', isSecret = false, escape = 'Esc close', onSubmit, onClosed } = options;
  const field = createLineField(initial, { isSecret });
  return {
    frame(columns, rows) {
      const lead = leadRows(title, message, columns, Math.max(1, rows - 2));
      const typed = field.spans(columns - 2);
      const hint = row(span(` Enter ${isSecret ? 'sends it; it is not shown' : 'ok'} · ${escape}`, 'muted'));
      return { rows: [...lead, row(span('> ', 'accent'), ...typed.spans), hint], cursor: { row: lead.length, column: 2 + typed.cursor } };
    },
    onKey(key) {
      if (key === 'enter') onSubmit(field.text());
      else field.onKey(key);
    },
    onText: (text) => field.type(text),
    onPaste: (text) => field.type(text),
    ...(onClosed ? { onClosed: () => onClosed(field.text()) } : {}),
  };
}

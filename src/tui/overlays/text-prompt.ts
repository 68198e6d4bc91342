import { row, span, type Row } from '../rows/row.js';
import { wrapSpans } from '../rows/wrap.js';
import { createLineField } from './line-field.js';
import type { Overlay } from './overlay.js';

export interface TextPromptOptions {
  title: string;
  message?: string;
  initial?: string;
  isSecret?: boolean;
  onSubmit(text: string): void;
  onClosed?(): void;
}

/** Asks for one line of text. */
export function createTextPrompt({ title, message = '', initial = '', isSecret = false, onSubmit, onClosed }: TextPromptOptions): Overlay {
  const field = createLineField(initial, { isSecret });
  return {
    frame(columns, rows) {
      const lead: Row[] = [
        row(span(` ${title} `, { reverse: true, bold: true })),
        ...(message === '' ? [] : wrapSpans([span(message)], columns)),
      ].slice(0, Math.max(1, rows - 2));
      const typed = field.spans();
      const hint = row(span(` Enter ${isSecret ? 'sends it; it is not shown' : 'ok'} · Esc close`, 'muted'));
      return { rows: [...lead, row(span('> ', 'accent'), ...typed.spans), hint], cursor: { row: lead.length, column: 2 + typed.cursor } };
    },
    onKey(key) {
      if (key === 'enter') onSubmit(field.text());
      else field.onKey(key);
    },
    onText: (text) => field.type(text),
    onPaste: (text) => field.type(text),
    ...(onClosed ? { onClosed } : {}),
  };
}

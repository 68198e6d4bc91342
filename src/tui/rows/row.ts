import { textHead, textWidth } from './cells.js';
import { marks } from './marks.js';

/** What a piece of text means; the theme says how that looks. */
export type Tone =
  | 'plain'
  | 'muted'
  | 'accent'
  | 'user'
  | 'good'
  | 'bad'
  | 'warn'
  | 'heading'
  | 'link'
  | 'code'
  | 'keyword'
  | 'string'
  | 'number'
  | 'comment'
  | 'name'
  | 'added'
  | 'removed'
  | 'border';

/** A run of text in one style. Its text is sanitized when a row is encoded, so that no span can hold an escape sequence. */
export interface Span {
  readonly text: string;
  readonly tone?: Tone;
  readonly bold?: boolean;
  readonly italic?: boolean;
  readonly underline?: boolean;
  readonly strike?: boolean;
  readonly dim?: boolean;
  /** Foreground and background swapped: cursors, selections, matches. */
  readonly reverse?: boolean;
  /** No character is drawn as one that looks like it: what a person approves. */
  readonly exact?: boolean;
}

/** One line of the screen. */
export interface Row {
  readonly spans: readonly Span[];
  /** Columns on the left that are decoration: they are never selected or copied. */
  readonly gutter?: number;
  /** Columns on the right that are decoration, too. */
  readonly trailing?: number;
  /** Set on a row that continues the logical line of the row before it: the white space that the wrap took out, often a space or nothing. */
  readonly continues?: string;
}

export const emptyRow: Row = { spans: [] };

export function span(text: string, style: Omit<Span, 'text'> | Tone = {}): Span {
  return typeof style === 'string' ? { text, tone: style } : { text, ...style };
}

export function row(...spans: (Span | string)[]): Row {
  return { spans: spans.map((part) => (typeof part === 'string' ? { text: part } : part)) };
}

/** The text of a row with its decoration. */
export function rowText({ spans }: Row): string {
  return spans.map(({ text }) => text).join('');
}

export function spansWidth(spans: readonly Span[]): number {
  return spans.reduce((width, { text }) => width + textWidth(text), 0);
}

export function rowWidth({ spans }: Row): number {
  return spansWidth(spans);
}

/** Spans that take at most `columns` columns; what is cut off is marked with an ellipsis. */
export function clipSpans(spans: readonly Span[], columns: number, ellipsis: string = marks.ellipsis): readonly Span[] {
  if (spansWidth(spans) <= columns) return spans;
  const room = Math.max(0, columns - textWidth(ellipsis));
  const kept: Span[] = [];
  let used = 0;
  for (const part of spans) {
    const text = textHead(part.text, room - used);
    if (text !== '') kept.push({ ...part, text });
    used += textWidth(text);
    if (text !== part.text) break;
  }
  return ellipsis === '' || columns < textWidth(ellipsis) ? kept : [...kept, { text: ellipsis, tone: 'muted' }];
}

/** A row of exactly `columns` columns: clipped, or padded with spaces on the right. */
export function fitRow(whole: Row, columns: number, ellipsis: string = marks.ellipsis): Row {
  const spans = clipSpans(whole.spans, columns, ellipsis);
  const missing = columns - spansWidth(spans);
  return { ...whole, spans: missing > 0 ? [...spans, { text: ' '.repeat(missing) }] : spans };
}

/** One row with something at its left and something at its right; the left side is clipped when both do not fit. */
export function spreadRow(left: readonly Span[], right: readonly Span[], columns: number): Row {
  const rightWidth = spansWidth(right);
  if (rightWidth >= columns) return { spans: clipSpans(left, columns) };
  const kept = clipSpans(left, Math.max(0, columns - rightWidth - 1));
  const gap = columns - rightWidth - spansWidth(kept);
  return { spans: [...kept, { text: ' '.repeat(gap) }, ...right] };
}

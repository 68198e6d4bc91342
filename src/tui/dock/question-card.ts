import type { CardPart } from '../../view/approval.js';
import type { RequestCard } from '../../view/questions.js';
import { marks } from '../rows/marks.js';
import { clipSpans, row, span, type Row, type Span } from '../rows/row.js';
import { wrapSpans } from '../rows/wrap.js';
import { renderDiff } from '../text/diff.js';

export interface CardFacts {
  card: RequestCard;
  /** How many others wait behind it. */
  waiting: number;
  isFocused: boolean;
  /** Keys answer now; else what to do so that they do. */
  hint: string;
  /** The numbers of chosen options where several may be chosen. */
  chosen: ReadonlySet<number>;
}

const layout = { bodyRows: 8, choiceRows: 9 } as const;

/** A question as rows of the dock. Its texts are those of the view, and so sanitized. */
export function cardRows(facts: CardFacts, columns: number, rowsMax: number): Row[] {
  const { card, waiting, isFocused, hint, chosen } = facts;
  const gutter = [span(`${marks.questionBar} `, isFocused ? { tone: 'warn', bold: true } : 'warn')];
  const inner = (spans: readonly Span[]): Row[] => wrapSpans(spans, columns, { first: gutter, rest: gutter });
  const title = inner([span(card.title, { bold: true }), span(waiting === 0 ? '' : `  (${waiting} more wait)`, 'muted')]);
  const choices = choiceRows(card, chosen, inner, columns - 2);
  const foot = inner([span(hint, isFocused ? 'accent' : 'muted')]);
  const hasDiff = card.parts.some(({ kind }) => kind === 'diff');
  // With a diff, the title has said what the call is.
  const shownParts = card.parts.filter(({ kind }) => !(hasDiff && kind === 'call'));
  const body = shownParts.flatMap((part) => partRows(part, inner, gutter, columns));
  const room = Math.max(1, rowsMax - title.length - choices.length - foot.length);
  const most = Math.min(room, layout.bodyRows);
  const shown =
    body.length <= most
      ? body
      : [
          ...body.slice(0, most - 1),
          row(...gutter, span(`${marks.ellipsis} ${body.length - most + 1} more rows: Ctrl-O v shows all`, 'muted')),
        ];
  return [...title, ...shown, ...choices, ...foot];
}

/** The whole question, for a viewer. */
export function wholeCard(card: RequestCard, columns: number): Row[] {
  const inner = (spans: readonly Span[]): Row[] => wrapSpans(spans, columns);
  const choices = card.choices.flatMap(({ key, label }) => inner([span(`${key}  `, 'accent'), span(label)]));
  return [
    ...inner([span(card.title, { bold: true })]),
    ...card.parts.flatMap((part) => partRows(part, inner, [], columns)),
    row(),
    ...choices,
  ];
}

function choiceRows(card: RequestCard, chosen: ReadonlySet<number>, inner: (spans: readonly Span[]) => Row[], columns: number): Row[] {
  if (card.choices.length === 0) return [];
  const labels = card.choices.map(({ key, label }, at): Span[] => [
    span(` ${key} `, { reverse: true }),
    span(` ${chosen.has(at) ? '[x] ' : ''}${label}`),
  ]);
  const line = labels.flatMap((spans, at) => (at === 0 ? spans : [span('   '), ...spans]));
  const width = card.choices.reduce((sum, { key, label }) => sum + key.length + label.length + 6, 0);
  if (width <= columns) return inner(line);
  const shown = labels.slice(0, layout.choiceRows).flatMap((spans) => inner(clipSpans(spans, columns)));
  return labels.length <= layout.choiceRows
    ? shown
    : [...shown, ...inner([span(`${marks.ellipsis} ${labels.length - layout.choiceRows} more: Ctrl-O shows and filters all`, 'muted')])];
}

function partRows(part: CardPart, inner: (spans: readonly Span[]) => Row[], gutter: readonly Span[], columns: number): Row[] {
  switch (part.kind) {
    case 'message':
      return inner([span(part.text)]);
    case 'asker':
      return inner([span(`asked by ${part.title === '' ? 'this session' : part.title} (${part.model}) in ${part.workspace}`, 'muted')]);
    case 'command':
      return wrapSpans([span(part.text, { tone: 'warn', exact: true })], columns, {
        first: [...gutter, span('$ ', 'accent')],
        rest: [...gutter, span('  ')],
        anywhere: true,
      });
    case 'call':
      return inner([span(part.text, { tone: 'warn', exact: true })]);
    case 'diff':
      return renderDiff(part.text, columns, { lead: gutter });
    case 'arguments':
      return part.each.flatMap(({ name, text }) => inner([span(`${name}: `, 'muted'), span(text, { exact: true })]));
    case 'reasons':
      return inner([span(part.text, 'muted')]);
    case 'sandbox':
      return inner([span(part.text, part.isConfined ? 'muted' : { tone: 'bad', bold: true })]);
  }
}

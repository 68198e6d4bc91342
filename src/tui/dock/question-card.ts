import type { CardPart } from '../../view/approval.js';
import type { Choice, RequestCard } from '../../view/questions.js';
import { marks } from '../rows/marks.js';
import { row, span, spansWidth, type Row, type Span } from '../rows/row.js';
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

const layout = { bodyRows: 8, cutRowsMin: 3, choiceRows: 9 } as const;

export interface LaidCard {
  rows: Row[];
  /** Everything that is asked and every answer is in the rows. */
  isWhole: boolean;
}

/** A question as at most `rowsMax` rows of the dock. Its texts are those of the view, and so sanitized. */
export function layCard(facts: CardFacts, columns: number, rowsMax: number): LaidCard {
  const { card, waiting, isFocused, hint, chosen } = facts;
  const tone = card.isDangerous ? 'bad' : 'warn';
  const gutter = [span(`${marks.questionBar} `, isFocused ? { tone, bold: true } : tone)];
  const inner = (spans: readonly Span[]): Row[] => wrapSpans(spans, columns, { first: gutter, rest: gutter });
  const title = inner([span(card.title, titleStyle(card)), span(waiting === 0 ? '' : `  (${waiting} more wait)`, 'muted')]);
  const choices = choiceRows(card, chosen, inner, columns - 2);
  const foot = inner([span(hint, isFocused ? 'accent' : 'muted')]);
  const hasDiff = card.parts.some(({ kind }) => kind === 'diff');
  // With a diff, the title has said what the call is.
  const shownParts = card.parts.filter(({ kind }) => !(hasDiff && kind === 'call'));
  const body = shownParts.flatMap((part) => partRows(part, inner, gutter, columns));
  const room = Math.min(layout.bodyRows, rowsMax - title.length - choices.length - foot.length);
  if (body.length <= room) return { rows: [...title, ...body, ...choices, ...foot], isWhole: !hasMoreChoices(card) };
  const more = (count: number): Row => row(...gutter, span(`${marks.ellipsis} ${count} more rows: Ctrl-O v shows all`, 'muted'));
  if (room >= layout.cutRowsMin) {
    // What a command does last may matter most.
    const tail = Math.floor((room - 1) / 2);
    const head = room - 1 - tail;
    const cut = [...body.slice(0, head), more(body.length - head - tail), ...body.slice(body.length - tail)];
    return { rows: [...title, ...cut, ...choices, ...foot], isWhole: false };
  }
  const kept = [...title.slice(0, 1), more(title.length - 1 + body.length + choices.length), ...foot];
  return { rows: kept.slice(0, Math.max(1, rowsMax)), isWhole: false };
}

function titleStyle({ isDangerous }: RequestCard): Omit<Span, 'text'> {
  return isDangerous ? { bold: true, tone: 'bad' } : { bold: true };
}

function choiceStyle({ isDangerous }: RequestCard, { answer }: Choice): Omit<Span, 'text'> {
  return isDangerous && answer === true ? { tone: 'bad' } : {};
}

function hasMoreChoices({ choices }: RequestCard): boolean {
  return choices.length > layout.choiceRows;
}

/** The whole question, for a viewer. */
export function wholeCard(card: RequestCard, columns: number): Row[] {
  const inner = (spans: readonly Span[]): Row[] => wrapSpans(spans, columns);
  const choices = card.choices.flatMap((choice) =>
    inner([span(`${choice.key}  `, 'accent'), span(choice.label, choiceStyle(card, choice))]),
  );
  return [
    ...inner([span(card.title, titleStyle(card))]),
    ...card.parts.flatMap((part) => partRows(part, inner, [], columns)),
    row(),
    ...choices,
  ];
}

function choiceRows(card: RequestCard, chosen: ReadonlySet<number>, inner: (spans: readonly Span[]) => Row[], columns: number): Row[] {
  if (card.choices.length === 0) return [];
  const labels = card.choices.map((choice, at): Span[] => [
    span(` ${choice.key} `, { reverse: true, ...choiceStyle(card, choice) }),
    span(` ${chosen.has(at) ? '[x] ' : ''}${choice.label}`, choiceStyle(card, choice)),
  ]);
  const line = labels.flatMap((spans, at) => (at === 0 ? spans : [span('   '), ...spans]));
  if (spansWidth(line) <= columns) return inner(line);
  const shown = labels.slice(0, layout.choiceRows).flatMap(inner);
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

import { printableLine } from '../../view/printable.js';
import type { SessionView } from '../../view/session-view.js';
import { emptyRow, span, type Row, type Span } from '../rows/row.js';
import { wrapSpans } from '../rows/wrap.js';

const margin = [span('  ')];

/** What an empty session shows instead of a transcript. */
export function welcomeRows({ state: { model } }: SessionView, isObserver: boolean, columns: number, height: number): Row[] {
  const guide = isObserver
    ? 'You are only watching: what others say and what comes of it is shown here. ? tells what can be done.'
    : model.startsWith('offline/')
      ? 'This is the offline guide, an embedded stand-in that needs no key and is no model. Say help, run ls, write ahoy to notes.txt, stream 500 words, ask me. berth auth set anthropic brings a real one.'
      : 'Ask for something. Files are changed and commands run when you, a rule or the mode says so.';
  const paragraphs: Span[][] = [
    [span(`Nothing was said here yet. `, { bold: true }), span(printableLine(model), 'accent')],
    [span(guide)],
    isObserver
      ? []
      : [
          span('The daemon keeps this session: close the terminal whenever you like, berth brings it back. ', 'muted'),
          span('Enter sends, Tab queues a follow-up, Esc Esc stops, Ctrl-C Ctrl-C detaches, ? shows everything else.', 'muted'),
        ],
  ];
  const rows = paragraphs.flatMap((spans) => [emptyRow, ...wrapSpans(spans, columns, { first: margin, rest: margin })]).slice(0, height);
  return [...rows, ...Array.from({ length: height - rows.length }, () => emptyRow)];
}

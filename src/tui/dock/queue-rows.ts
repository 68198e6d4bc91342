import type { QueuedInput } from '../../protocol/events.js';
import { printableLine } from '../../view/printable.js';
import { inputKindText, pauseText } from '../../view/queue-text.js';
import type { SentInput, SentState } from '../../view/sent-inputs.js';
import { marks, separator } from '../rows/marks.js';
import { clipSpans, row, span, spreadRow, type Row } from '../rows/row.js';

/** Delivery marks: kept here, committed, taken by the model, held, came back. */
const sentMarks: Record<SentState, string> = {
  kept: marks.kept,
  committed: marks.ok,
  held: marks.held,
  taken: `${marks.ok}${marks.ok}`,
  returned: marks.returned,
};

export interface QueueFacts {
  inputs: readonly QueuedInput[];
  sent: readonly SentInput[];
  isPaused: boolean;
  /** This client can let it go on. */
  mayResume: boolean;
  /** The name of this client, whose inputs need no author. */
  ownName: string;
  /** The input that a person has chosen; undefined while the queue has no focus. */
  chosenId: string | undefined;
}

const layout = { rowsMax: 6, aboutShare: 3, aboutColumnsMin: 9 } as const;

/** What waits: here for a daemon, and in the daemon's queue. */
export function queueRows({ inputs, sent, isPaused, mayResume, ownName, chosenId }: QueueFacts, columns: number): Row[] {
  const kept = sent.filter(({ state, inputId }) => state === 'kept' && !inputs.some(({ input_id }) => input_id === inputId));
  const rows = [
    ...inputs.map(({ input_id, kind, text, hold, client }) => {
      const author = client !== null && client !== ownName ? ` ${printableLine(client)}` : '';
      return queueRow(
        { mark: sentMarks[hold ? 'held' : 'committed'], about: `${inputKindText(kind)}${author}`, text, isChosen: input_id === chosenId },
        columns,
      );
    }),
    ...kept.map(({ text, command }) =>
      queueRow({ mark: sentMarks.kept, about: `${inputKindText(command)}, not sent yet`, text, isChosen: false }, columns),
    ),
  ];
  const shown =
    rows.length > layout.rowsMax
      ? [...rows.slice(0, layout.rowsMax - 1), row(span(`  ${marks.ellipsis} ${rows.length - layout.rowsMax + 1} more wait`, 'muted'))]
      : rows;
  const pause =
    isPaused && inputs.length > 0
      ? [row(span(`${marks.held} queue ${pauseText(inputs.length)}${mayResume ? `${separator}/resume goes on` : ''}`, 'warn'))]
      : [];
  return [...pause, ...shown];
}

function queueRow({ mark, about, text, isChosen }: { mark: string; about: string; text: string; isChosen: boolean }, columns: number): Row {
  const style = isChosen ? { reverse: true } : {};
  // What waits matters more than whose it is.
  const room = Math.max(layout.aboutColumnsMin, Math.floor(columns / layout.aboutShare));
  const right = [span(' '), ...clipSpans([span(about, 'muted')], room), span(' ')];
  return spreadRow([span(`${mark} `, 'accent'), span(printableLine(text), style)], right, columns);
}

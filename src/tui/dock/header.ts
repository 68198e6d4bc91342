import { printableLine } from '../../view/printable.js';
import { shortId } from '../../view/short-ids.js';
import type { SessionView } from '../../view/session-view.js';
import { separator } from '../rows/marks.js';
import { clipSpans, span, spansWidth, spreadRow, type Row, type Span } from '../rows/row.js';

export type Connection = 'here' | 'lost' | 'gone';

export interface HeaderFacts {
  view: SessionView;
  /** The machine of the session, when it is another one. */
  host?: string | undefined;
  connection: Connection;
  /** Names of other clients that are attached. */
  others: readonly string[];
  home: string | undefined;
  isObserver: boolean;
}

/** What matters more stays longer when there is little room. */
type Word = Span & { weight: number };

const layout = { nameColumnsMin: 8, wordColumnsMax: 32 } as const;
const connectionTexts: Record<Connection, string> = { here: '', lost: 'reconnecting', gone: 'no daemon' };

/** Session, directory, model, mode, connection, and who else is attached. */
export function headerRow({ view, host, connection, others, home, isObserver }: HeaderFacts, columns: number): Row {
  const { id, title, cwd, model, approvalMode } = view.state;
  const name = title === '' ? shortId(id) : printableLine(title);
  const left: Span[] = [
    span(` ${name} `, { reverse: true, bold: true }),
    span(` ${host === undefined ? '' : `${printableLine(host)}:`}${shortenPath(printableLine(cwd), home)}`, 'muted'),
  ];
  const company = others.length === 0 ? '' : others.length === 1 ? `with ${printableLine(others[0] ?? '')}` : `${others.length} others`;
  const words: Word[] = [
    { ...span(connectionTexts[connection], { tone: 'bad', bold: true }), weight: 5 },
    { ...span(isObserver ? 'watching' : '', 'warn'), weight: 3 },
    { ...span(company, 'muted'), weight: 1 },
    { ...span(printableLine(model), 'accent'), weight: 2 },
    { ...span(approvalMode.replaceAll('_', ' '), approvalMode === 'full' ? { tone: 'bad', bold: true } : 'warn'), weight: 4 },
  ];
  return spreadRow(left, fitWords(words, columns - layout.nameColumnsMin), columns);
}

/** The words that have room, each clipped: a long name of somebody else takes neither the mode nor the connection off the screen. */
function fitWords(words: readonly Word[], columns: number): Span[] {
  let kept = words.filter(({ text }) => text !== '');
  for (;;) {
    const spans = kept.flatMap(({ weight: _weight, ...word }, at) => [
      ...(at === 0 ? [] : [span(separator, 'muted')]),
      ...clipSpans([word], layout.wordColumnsMax),
    ]);
    if (spansWidth(spans) + 1 <= columns || kept.length <= 1) return [...spans, span(' ')];
    const least = Math.min(...kept.map(({ weight }) => weight));
    kept = kept.filter(({ weight }) => weight !== least);
  }
}

export function shortenPath(path: string, home: string | undefined): string {
  if (home === undefined || home === '' || (path !== home && !path.startsWith(`${home}/`))) return path;
  return `~${path.slice(home.length)}`;
}

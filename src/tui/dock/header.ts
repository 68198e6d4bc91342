import { printableLine } from '../../view/printable.js';
import { shortId } from '../../view/short-ids.js';
import type { SessionView } from '../../view/session-view.js';
import { separator } from '../rows/marks.js';
import { span, spreadRow, type Row, type Span } from '../rows/row.js';

export type Connection = 'here' | 'lost' | 'gone';

export interface HeaderFacts {
  view: SessionView;
  connection: Connection;
  /** Names of other clients that are attached. */
  others: readonly string[];
  home: string | undefined;
  isObserver: boolean;
}

const connectionTexts: Record<Connection, string> = { here: '', lost: 'reconnecting', gone: 'no daemon' };

/** Session, directory, model, mode, connection, and who else is attached. */
export function headerRow({ view, connection, others, home, isObserver }: HeaderFacts, columns: number): Row {
  const { id, title, cwd, model, approvalMode } = view.state;
  const name = title === '' ? shortId(id) : printableLine(title);
  const left: Span[] = [span(` ${name} `, { reverse: true, bold: true }), span(` ${shortenPath(printableLine(cwd), home)}`, 'muted')];
  const company = others.length === 0 ? '' : others.length === 1 ? `with ${printableLine(others[0] ?? '')}` : `${others.length} others`;
  const words: Span[] = [
    ...(connection === 'here' ? [] : [span(connectionTexts[connection], { tone: 'bad', bold: true })]),
    ...(isObserver ? [span('watching', 'warn')] : []),
    ...(company === '' ? [] : [span(company, 'muted')]),
    span(printableLine(model), 'accent'),
    span(approvalMode.replaceAll('_', ' '), approvalMode === 'full' ? { tone: 'bad', bold: true } : 'warn'),
  ];
  const right = words.flatMap((word, at) => (at === 0 ? [word] : [span(separator, 'muted'), word]));
  return spreadRow(left, [...right, span(' ')], columns);
}

export function shortenPath(path: string, home: string | undefined): string {
  if (home === undefined || home === '' || (path !== home && !path.startsWith(`${home}/`))) return path;
  return `~${path.slice(home.length)}`;
}

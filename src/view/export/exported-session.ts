import type { Message } from '../../protocol/messages.js';
import type { StateView } from '../../protocol/views.js';
import { printableLine } from '../printable.js';
import { shortId } from '../short-ids.js';

/** What an export tells of a session beside its messages. */
export type ExportedSession = Pick<
  StateView,
  'session_id' | 'parent_id' | 'title' | 'cwd' | 'model' | 'thinking' | 'approval_mode' | 'leaf_id' | 'usage'
>;

/** Makes the text of an export piece by piece: a writer keeps one turn at most. */
export interface ExportWriter {
  begin(session: ExportedSession): string;
  add(message: Message): string;
  end(): string;
}

/** The title of an export in one sanitized line. */
export function exportTitle({ session_id, title }: ExportedSession): string {
  return printableLine(title) || shortId(session_id);
}

/** Facts of a session below the title of an export, sanitized. */
export function exportFacts({ session_id, cwd, model }: ExportedSession): { name: string; value: string }[] {
  const facts = [
    { name: 'Directory', value: cwd },
    { name: 'Model', value: model },
    { name: 'Session', value: session_id },
  ];
  return facts.map(({ name, value }) => ({ name, value: printableLine(value) })).filter(({ value }) => value !== '');
}

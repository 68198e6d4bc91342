import type { SessionState } from '../../core/session.js';
import { printableLine } from '../../view/printable.js';
import { shortId } from '../../view/short-ids.js';
import { shortenHome } from '../home-path.js';

/** What a session is, in the first line of a view of lines: name, directory, model and mode. */
export function sessionHeading({ id, title, cwd, model, approvalMode }: SessionState): string {
  const sessionName = title === '' ? shortId(id) : `${printableLine(title)} (${shortId(id)})`;
  return `${sessionName} in ${printableLine(shortenHome(cwd))}, ${printableLine(model)}${approvalMode === 'ask' ? '' : `, mode ${approvalMode}`}`;
}

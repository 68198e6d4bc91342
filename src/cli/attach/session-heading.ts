import { printableLine } from '../../view/printable.js';
import type { SessionView } from '../../view/session-view.js';
import { shortId } from '../../view/short-ids.js';
import { shortenHome } from '../home-path.js';

/** What a session is, in the first line of a view of lines: name, directory, model and mode. */
export function sessionHeading({ id, title, cwd, model, approvalMode }: SessionView['state']): string {
  const sessionName = title === '' ? shortId(id) : `${printableLine(title)} (${shortId(id)})`;
  return `${sessionName} in ${printableLine(shortenHome(cwd))}, ${printableLine(model)}${approvalMode === 'ask' ? '' : `, mode ${approvalMode}`}`;
}

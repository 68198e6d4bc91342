import { printableLine } from '../../view/printable.js';
import type { SessionView } from '../../view/session-view.js';
import { shortId } from '../../view/short-ids.js';

/** What a session is called, in one sanitized line. */
export function sessionTitleText({ state: { id, title } }: SessionView): string {
  return title === '' ? shortId(id) : printableLine(title);
}

import type { SessionListRow } from '../protocol/views.js';

/** What a session is called in lists: the title it was given, or else its first prompt, which never changes. */
export function sessionTitle({ title, first_user_message: first, last_user_message: last }: SessionListRow): string {
  return title || first || last;
}

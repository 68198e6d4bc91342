import type { SessionListRow } from '../protocol/views.js';

/** What a session is called in lists: the title it was given, or else its first prompt, which never changes. */
export function sessionTitle({ title, first_user_message: first, last_user_message: last }: SessionListRow): string {
  return title || first || last;
}

/** What a session is doing, or why it does nothing though somebody may think that it does. `asks` when a request of it is open. */
export function describeActivity({ run_state, archived, last_outcome, paused }: SessionListRow, asks: boolean): string {
  if (asks) return 'asks you';
  if (run_state === 'aborting') return 'stopping';
  if (run_state === 'running') return 'running';
  if (archived) return 'archived';
  if (last_outcome === 'failed' || last_outcome === 'interrupted') return last_outcome;
  return paused ? 'paused' : 'idle';
}

import type { SessionListRow } from '../protocol/views.js';

/** The display title of a session: its title, or else its first prompt, which never changes. */
export function sessionTitle({ title, first_user_message: first, last_user_message: last }: SessionListRow): string {
  return title || first || last;
}

/** Describes the activity of a session. `asks` when one of its requests is open. */
export function describeActivity({ run_state, archived, last_outcome, paused }: SessionListRow, asks: boolean): string {
  if (asks) return 'asks you';
  if (run_state === 'aborting') return 'stopping';
  if (run_state === 'running') return 'running';
  if (archived) return 'archived';
  if (last_outcome === 'failed' || last_outcome === 'interrupted') return last_outcome;
  return paused ? 'paused' : 'idle';
}

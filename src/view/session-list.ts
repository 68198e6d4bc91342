import type { SessionListRow } from '../protocol/views.js';

/** What a session is doing, most urgent first. */
export type Activity = 'asks' | 'stopping' | 'running' | 'archived' | 'failed' | 'interrupted' | 'paused' | 'one-off' | 'idle';

/** The mark of an activity in lists; empty for what needs nobody. */
export const activityMarks: Record<Activity, string> = {
  asks: '?',
  stopping: '●',
  running: '●',
  failed: '✗',
  interrupted: '✗',
  paused: '',
  archived: '',
  'one-off': '',
  idle: '',
};

/** The display title of a session: its title, or else its first prompt, which never changes. */
export function sessionTitle({ title, first_user_message: first, last_user_message: last }: SessionListRow): string {
  return title || first || last;
}

/** The activity of a session. `asks` when one of its requests is open. */
export function activityOf({ run_state, archived, last_outcome, paused, one_off }: SessionListRow, asks: boolean): Activity {
  if (asks) return 'asks';
  if (run_state === 'aborting') return 'stopping';
  if (run_state === 'running') return 'running';
  if (archived) return 'archived';
  if (last_outcome === 'failed' || last_outcome === 'interrupted') return last_outcome;
  if (paused) return 'paused';
  return one_off ? 'one-off' : 'idle';
}

/** Describes the activity of a session. `asks` when one of its requests is open. */
export function describeActivity(row: SessionListRow, asks: boolean): string {
  const activity = activityOf(row, asks);
  return activity === 'asks' ? 'asks you' : activity;
}

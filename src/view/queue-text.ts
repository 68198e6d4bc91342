import type { QueuedInput } from '../protocol/events.js';

/** The kind of a waiting input, as people write it. */
export function inputKindText(kind: QueuedInput['kind']): string {
  return kind === 'follow_up' ? 'follow-up' : kind;
}

/** What to say of a queue that is paused with so many inputs. */
export function pauseText(waiting: number): string {
  return `paused with ${waiting === 1 ? '1 message' : `${waiting} messages`} waiting`;
}

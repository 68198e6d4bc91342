import type { QueuedInput } from '../protocol/events.js';

/** The name of an input kind for people. */
export function inputKindText(kind: QueuedInput['kind']): string {
  return kind === 'follow_up' ? 'follow-up' : kind;
}

/** Describes a paused queue. */
export function pauseText(waiting: number): string {
  return `paused with ${waiting === 1 ? '1 message' : `${waiting} messages`} waiting`;
}

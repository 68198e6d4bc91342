import type { QueuedInput } from '../protocol/events.js';

/** The kind of a waiting input, as people write it. */
export function inputKindText(kind: QueuedInput['kind']): string {
  return kind === 'follow_up' ? 'follow-up' : kind;
}

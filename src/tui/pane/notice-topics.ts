import type { WireEvent } from '../../protocol/events.js';
import type { NoticeTopic } from '../app/notice-board.js';

/** What the notices of an event are about, if a later event makes them untrue. */
export function topicOf({ type }: WireEvent): NoticeTopic | undefined {
  if (type === 'error') return 'attempt';
  if (type === 'goodbye') return 'connection';
  return type === 'status' || type === 'compaction_start' ? 'status' : undefined;
}

/** The notices that an event makes untrue: an attempt that is made again has begun, and a run that has ended is neither waited for nor stopped. */
export function outlivedBy({ type }: WireEvent): readonly NoticeTopic[] {
  switch (type) {
    case 'agent_start':
    case 'turn_start':
    case 'message_start':
    case 'message_update':
    case 'tool_execution_start':
      return ['attempt', 'status'];
    case 'compaction_end':
      return ['status'];
    case 'agent_end':
      return ['attempt', 'status', 'stop'];
    default:
      return [];
  }
}

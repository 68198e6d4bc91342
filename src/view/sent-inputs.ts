import type { Refusal } from '../protocol/errors.js';
import type { QueuedInput, WireEvent } from '../protocol/events.js';

/**
 * The delivery state of an input of this client. `kept`: in the outbox, not accepted by a daemon yet. `committed`: durable in the daemon's
 * queue. `held`: queued until released. `taken`: part of a model request. `returned`: refused, or given back by an abort.
 */
export type SentState = 'kept' | 'committed' | 'held' | 'taken' | 'returned';

/** An input of this client and its delivery state. */
export interface SentInput {
  readonly inputId: string;
  readonly command: 'prompt' | 'steer' | 'follow_up';
  readonly text: string;
  /** The time of the first attempt. */
  readonly atMs: number;
  readonly state: SentState;
  /** The log position of the commit, and the run that accepted the input. */
  readonly seq?: number;
  readonly runId?: string;
  /** Why the input was returned, or is still kept although a daemon answered. */
  readonly refusal?: Refusal;
}

/** Applies an event to the sent inputs. Returns the same array when nothing changes. */
export function applyToSent(sent: readonly SentInput[], event: WireEvent): readonly SentInput[] {
  if (event.type === 'turn_start') return change(sent, event.payload.input_ids, { state: 'taken' });
  if (event.type !== 'queue_update') return sent;
  const { op, input, dropped = [] } = event.payload;
  if (op === 'dropped') {
    const droppedIds = dropped.map(({ input_id }) => input_id);
    return change(sent, droppedIds, { state: 'returned' });
  }
  if (!input) return sent;
  const ids = [input.input_id];
  switch (op) {
    case 'added':
    case 'released':
    case 'held':
      return change(sent, ids, { state: stateOf(input) });
    case 'taken':
      return change(sent, ids, { state: 'taken' });
    case 'edited':
      return change(sent, ids, { text: input.text });
    case 'removed': {
      const remaining = sent.filter(({ inputId }) => inputId !== input.input_id);
      return remaining.length === sent.length ? sent : remaining;
    }
    default:
      return sent;
  }
}

/** Applies a new queue snapshot to the sent inputs. Inputs that are not in the queue stay unchanged. */
export function applyQueue(sent: readonly SentInput[], queue: readonly QueuedInput[]): readonly SentInput[] {
  return queue.reduce((all, input) => change(all, [input.input_id], { state: stateOf(input), text: input.text }), sent);
}

function stateOf({ hold }: QueuedInput): SentState {
  return hold ? 'held' : 'committed';
}

function change(sent: readonly SentInput[], ids: readonly string[], fields: Partial<SentInput>): readonly SentInput[] {
  if (!sent.some(({ inputId }) => ids.includes(inputId))) return sent;
  return sent.map((input) => {
    if (!ids.includes(input.inputId)) return input;
    const { refusal: _settled, ...rest } = input;
    return { ...rest, ...fields };
  });
}

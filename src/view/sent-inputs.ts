import type { Refusal } from '../protocol/errors.js';
import type { QueuedInput, WireEvent } from '../protocol/events.js';

/**
 * Where an input that this client sent is. `kept`: here, because no daemon has taken it yet. `committed`: durable in the daemon, and waits.
 * `held`: waits until it is released. `taken`: part of what the model is asked. `returned`: it was refused, or an abort brought it back.
 */
export type SentState = 'kept' | 'committed' | 'held' | 'taken' | 'returned';

/** An input that this client sent, and what became of it. */
export interface SentInput {
  readonly inputId: string;
  readonly command: 'prompt' | 'steer' | 'follow_up';
  readonly text: string;
  /** When it was sent first. */
  readonly atMs: number;
  readonly state: SentState;
  /** The place in the log at which it was committed, and the run that it was accepted for. */
  readonly seq?: number;
  readonly runId?: string;
  /** Why it was returned, or is still kept although a daemon answered. */
  readonly refusal?: Refusal;
}

/** What an event makes of the inputs that were sent. The same array when it says nothing about them. */
export function applyToSent(sent: readonly SentInput[], event: WireEvent): readonly SentInput[] {
  if (event.type === 'turn_start') return change(sent, event.payload.input_ids, { state: 'taken' });
  if (event.type !== 'queue_update') return sent;
  const { op, input, dropped = [] } = event.payload;
  if (op === 'dropped') {
    const gone = dropped.map(({ input_id }) => input_id);
    return change(sent, gone, { state: 'returned' });
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
      const others = sent.filter(({ inputId }) => inputId !== input.input_id);
      return others.length === sent.length ? sent : others;
    }
    default:
      return sent;
  }
}

/** What a queue that was read anew says about the inputs that were sent. Of those that it does not have, nothing is known. */
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
    const { refusal: _settled, ...known } = input;
    return { ...known, ...fields };
  });
}

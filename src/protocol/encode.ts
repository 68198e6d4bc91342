import { clipMessage } from './clip.js';
import { wholeUnits } from './content.js';
import type { DurableEvent, EventPayload, LiveEvent, QueuedInput } from './events.js';
import { limits } from './limits.js';

/** Encodes a durable event as a line without its newline, truncated to the line limit. */
export function encodeDurable(event: DurableEvent): string {
  return JSON.stringify({ v: '1', id: `evt-${event.seq}`, seq: event.seq, type: event.type, ts: event.ts, payload: toWirePayload(event) });
}

function toWirePayload(event: DurableEvent): unknown {
  if (event.type === 'message_end' && event.payload.message) return { ...event.payload, message: clipMessage(event.payload.message) };
  if (event.type === 'compaction_end' && event.payload.message) {
    const { summary = '', message } = event.payload;
    return { ...event.payload, summary: clipText(summary), message: clipMessage(message) };
  }
  if (event.type === 'queue_update') return clipQueueUpdate(event.payload);
  if (event.type === 'tool_execution_end') return { ...event.payload, result: clipText(event.payload.result) };
  if (event.type === 'ui_resolved') return clipResolved(event.payload);
  return event.payload;
}

/** Answers are bounded at input; one that is too long all the same is omitted. */
function clipResolved({ result, ...payload }: EventPayload<'ui_resolved'>): unknown {
  if (payload.secret) return payload;
  const fits = result === undefined || JSON.stringify(result).length <= inlineUnitsMax * 2;
  return fits ? { ...payload, ...(result === undefined ? {} : { result }) } : { ...payload, truncated: true };
}

const inlineUnitsMax = Math.floor(limits.messageInlineBytesMax / 6);

function clipText(text: string): string {
  return text.length > inlineUnitsMax ? text.slice(0, wholeUnits(text, inlineUnitsMax)) : text;
}

/** An input for the wire: a very long text is truncated and marked. */
function clipInput<T extends { text: string }>(input: T): T & { truncated?: true } {
  const text = clipText(input.text);
  return text === input.text ? input : { ...input, text, truncated: true };
}

function clipQueueUpdate(payload: EventPayload<'queue_update'>): unknown {
  const { input, dropped, ...rest } = payload;
  return { ...rest, ...(input ? { input: clipInput(input) } : {}), ...(dropped ? { dropped: clipInputs(dropped) } : {}) };
}

/** Truncates inputs so that all together fit a line, including JSON escapes. */
export function clipInputs<T extends Pick<QueuedInput, 'text' | 'images'>>(inputs: readonly T[]): (T & { truncated?: true })[] {
  let left = inlineUnitsMax * 2;
  return inputs.map((input) => {
    const text = input.text.slice(0, wholeUnits(input.text, Math.min(left, input.text.length)));
    left -= text.length;
    const images = input.images?.filter((image) => (left -= JSON.stringify(image).length) >= 0);
    left = Math.max(0, left);
    if (text === input.text && images?.length === input.images?.length) return input;
    return { ...input, text, ...(images ? { images } : {}), truncated: true };
  });
}

/** Encodes a live event as a line without its newline; the number makes its id unique within one daemon. */
export function encodeLive(event: LiveEvent, number: number, ts: string): string {
  return JSON.stringify({ v: '1', id: `live-${number}`, type: event.type, ts, payload: event.payload });
}

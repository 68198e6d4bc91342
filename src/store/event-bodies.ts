import type { DurableType, EventPayload, Fact, QueuedInput } from '../protocol/events.js';
import type { CallDetails, ResultDetails } from '../protocol/messages.js';
import { currentParams } from '../protocol/requests/old-requests.js';
import type { EntryRows } from './rows/entry-rows.js';
import type { InputRows } from './rows/input-rows.js';

/** A payload as its log row stores it: references to immutable rows instead of their texts. */
type Slim = Record<string, unknown>;
type SlimInput = Omit<QueuedInput, 'text' | 'images'> & { text_at: number };
interface SlimDropped {
  input_id: string;
  kind: QueuedInput['kind'];
  text_at: number;
}
type SlimQueueUpdate = Omit<EventPayload<'queue_update'>, 'input' | 'dropped'> & { input?: SlimInput; dropped?: SlimDropped[] };

/** Normalizes payloads: replaces texts by references when an event is appended, and joins them when it is read. */
export function createEventBodies(entries: EntryRows['read'], inputs: InputRows['read']) {
  function slimInput({ text, images: _images, ...input }: QueuedInput): SlimInput {
    // An input that was never edited has revision 1; a new input has no row yet.
    if (input.revision === 1) return { ...input, text_at: 1 };
    const current = inputs.textRevision(input.input_id);
    // An event is appended before it is projected: a text that is not stored yet gets the new revision.
    return { ...input, text_at: inputs.textAt(input.input_id, current) === text ? current : input.revision };
  }

  function fillInput<T extends { input_id: string }>({ text_at, ...input }: T & { text_at: number }) {
    const images = inputs.imagesOf(input.input_id);
    return { ...input, text: inputs.textAt(input.input_id, text_at), ...(images ? { images } : {}) };
  }

  return {
    slim(fact: Fact): Slim {
      switch (fact.type) {
        case 'message_end': {
          const { message, ...rest } = fact.payload;
          return message ? { ...rest, entry: true } : rest;
        }
        case 'compaction_end': {
          const { message, summary: _summary, ...rest } = fact.payload;
          return message ? { ...rest, entry: true } : rest;
        }
        case 'tool_execution_end': {
          const {
            result: _result,
            diff: _diff,
            exit_code: _code,
            signal: _signal,
            artifact_id: _artifact,
            counts: _counts,
            ...rest
          } = fact.payload;
          return rest;
        }
        case 'queue_update': {
          const { input, dropped, ...rest } = fact.payload;
          return {
            ...rest,
            ...(input ? { input: slimInput(input) } : {}),
            ...(dropped
              ? { dropped: dropped.map(({ input_id, kind }): SlimDropped => ({ input_id, kind, text_at: inputs.textRevision(input_id) })) }
              : {}),
          };
        }
        default:
          return fact.payload;
      }
    },
    fill(type: DurableType, slim: Slim): Fact['payload'] {
      switch (type) {
        case 'message_end': {
          const { entry, ...rest } = slim as unknown as EventPayload<'message_end'> & { entry?: true };
          const message = entry ? entries.find(rest.message_id) : undefined;
          return message ? { ...rest, message } : rest;
        }
        case 'compaction_end': {
          const { entry, ...rest } = slim as unknown as EventPayload<'compaction_end'> & { entry?: true };
          const message = entry ? entries.find(rest.message_id ?? '') : undefined;
          return message ? { ...rest, summary: message.text, message } : rest;
        }
        case 'tool_execution_end': {
          const payload = slim as unknown as EventPayload<'tool_execution_end'>;
          const entry = entries.find(payload.message_id);
          return { ...payload, ...toResultDetails(entry?.details), result: entry?.text ?? '' };
        }
        case 'queue_update': {
          const { input, dropped, ...rest } = slim as unknown as SlimQueueUpdate;
          return {
            ...rest,
            ...(input ? { input: fillInput(input) } : {}),
            ...(dropped ? { dropped: dropped.map(fillInput) } : {}),
          };
        }
        case 'ui_request': {
          const payload = slim as unknown as EventPayload<'ui_request'>;
          return { ...payload, params: currentParams(payload) };
        }
        default:
          return slim as unknown as Fact['payload'];
      }
    },
  };
}

/** The details that a tool_execution_end has. Those of old events are in their own rows. */
function toResultDetails({ title: _title, duration_ms: _duration, ...details }: CallDetails = {}): ResultDetails {
  return details;
}
export type EventBodies = ReturnType<typeof createEventBodies>;

import * as z from 'zod';
import { limits } from './limits.js';

export const textBlock = z.looseObject({
  type: z.literal('text'),
  text: z.string(),
  /** The role of the text within the answer, which some models report and want back. */
  phase: z.string().optional(),
});
export const thinkingBlock = z.looseObject({
  type: z.literal('thinking'),
  thinking: z.string(),
  /** An opaque signature, to be sent back to the same provider. */
  thinking_signature: z.string().nullish(),
  /** The provider hides this thinking: there is a signature and no text. */
  redacted: z.boolean().optional(),
});
export const toolCallBlock = z.looseObject({
  type: z.literal('tool_call'),
  id: z.string(),
  name: z.string(),
  arguments: z.record(z.string(), z.unknown()),
  /** Set when the model's arguments were invalid; the call is not run. */
  problem: z.string().optional(),
});
export const imageBlock = z.looseObject({ type: z.literal('image'), data: z.base64(), mime_type: z.string().max(limits.mimeTypeCharsMax) });

export const contentBlock = z.discriminatedUnion('type', [textBlock, thinkingBlock, toolCallBlock, imageBlock]);
export type ContentBlock = z.infer<typeof contentBlock>;
export type ToolCallBlock = z.infer<typeof toolCallBlock>;

/** Content that a person may send: text and images. */
export const inputContent = z
  .array(
    z.discriminatedUnion('type', [
      z.object({ type: z.literal('text'), text: z.string() }),
      z.object({ type: z.literal('image'), data: z.base64(), mime_type: z.string().max(limits.mimeTypeCharsMax) }),
    ]),
  )
  .min(1)
  .max(limits.inputPartsMax);

/** A `compaction` message is a summary that replaces the earlier messages in model requests. */
export const role = z.enum(['user', 'assistant', 'tool_result', 'compaction']);
export type Role = z.infer<typeof role>;

export const stopReason = z.enum(['stop', 'length', 'tool_use', 'error', 'aborted']);
export type StopReason = z.infer<typeof stopReason>;

export const usage = z.object({
  input: z.number(),
  output: z.number(),
  cache_read: z.number(),
  cache_write: z.number(),
  cost_usd: z.number().nullable(),
});
export type Usage = z.infer<typeof usage>;

export const turnKind = z.enum(['prompt', 'steer', 'follow_up', 'tool_results']);
export type TurnKind = z.infer<typeof turnKind>;

export const compactionTrigger = z.enum(['manual', 'threshold', 'overflow']);
export type CompactionTrigger = z.infer<typeof compactionTrigger>;

/** What a compaction summary replaces. */
export const compactionFacts = z.object({
  trigger: compactionTrigger,
  /** The oldest message that model requests still have whole. */
  first_kept_entry_id: z.string(),
  tokens_before: z.number(),
  tokens_after: z.number(),
});
export type CompactionFacts = z.infer<typeof compactionFacts>;

/** Details of a tool result beside its text, for display. */
export const resultDetails = z.object({
  diff: z.string().optional(),
  exit_code: z.number().optional(),
  signal: z.string().optional(),
  artifact_id: z.string().optional(),
  counts: z.record(z.string(), z.number()).optional(),
});
export type ResultDetails = z.infer<typeof resultDetails>;

/** What the events of a tool call tell beside its result, stored with the tool_result message. */
export const callDetails = resultDetails.extend({
  /** The display title; absent for a call that never started. */
  title: z.string().optional(),
  /** Absent for a call that did not run to its end. */
  duration_ms: z.number().optional(),
});
export type CallDetails = z.infer<typeof callDetails>;

/** An ended message, with the same shape in `get_messages`, `attached` and `message_end`. */
export const message = z.object({
  type: z.literal('message'),
  id: z.string(),
  parent_id: z.string().nullable(),
  role,
  text: z.string(),
  content: z.array(contentBlock),
  run_id: z.string(),
  turn_kind: turnKind,
  created_at: z.string(),
  usage: usage.nullable(),
  stop_reason: stopReason.nullable(),
  model: z.string().nullable(),
  tool_call_id: z.string().optional(),
  tool_name: z.string().optional(),
  is_error: z.boolean().optional(),
  /** The call never ran: it was denied or replaced. */
  skipped: z.literal(true).optional(),
  /** Of a tool_result message; absent when there is nothing to tell, and from messages of older daemons. */
  details: callDetails.optional(),
  compaction: compactionFacts.optional(),
  truncated: z.literal(true).optional(),
  artifact_id: z.string().optional(),
});
export type Message = z.infer<typeof message>;

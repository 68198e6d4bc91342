import * as z from 'zod';

export const textBlock = z.looseObject({ type: z.literal('text'), text: z.string() });
export const thinkingBlock = z.looseObject({
  type: z.literal('thinking'),
  thinking: z.string(),
  thinking_signature: z.string().nullish(),
});
export const toolCallBlock = z.looseObject({
  type: z.literal('tool_call'),
  id: z.string(),
  name: z.string(),
  arguments: z.record(z.string(), z.unknown()),
  /** Set by the daemon when what the model sent could not be used as arguments; the call is not run. */
  problem: z.string().optional(),
});
export const imageBlock = z.looseObject({ type: z.literal('image'), data: z.base64(), mime_type: z.string().max(100) });

export const contentBlock = z.discriminatedUnion('type', [textBlock, thinkingBlock, toolCallBlock, imageBlock]);
export type ContentBlock = z.infer<typeof contentBlock>;
export type ToolCallBlock = z.infer<typeof toolCallBlock>;

/** What a person may send: text and images, and nothing beside. */
export const inputContent = z
  .array(
    z.discriminatedUnion('type', [
      z.object({ type: z.literal('text'), text: z.string() }),
      z.object({ type: z.literal('image'), data: z.base64(), mime_type: z.string().max(100) }),
    ]),
  )
  .min(1)
  .max(64);

export const role = z.enum(['user', 'assistant', 'tool_result']);
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

/** A message that has ended: the same shape in `get_messages`, `attached` and `message_end`. */
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
  truncated: z.literal(true).optional(),
  artifact_id: z.string().optional(),
});
export type Message = z.infer<typeof message>;

import { z } from 'zod';
import { limits } from './limits.js';
import { message, wireText } from './messages.js';

/** A row of the command table. `observer` commands change nothing. */
export interface CommandRow {
  summary: string;
  payload: z.ZodObject;
  reply: { type: string; payload: z.ZodObject };
  role: 'controller' | 'observer';
  /** Answered when its work is done; blocks nobody meanwhile. */
  waits?: true;
}

/** What rows of the table share. */
export const id = z.string().min(1).max(200);
export const inputId = z
  .string()
  .max(limits.inputIdCharsMax)
  .regex(/^[A-Za-z0-9_.:-]{1,128}$/, '1 to 128 of A-Z a-z 0-9 _ . : -');
export const inSession = { session_id: id.optional() };
export const count = z.int().min(1).max(limits.pageRowsMax);
export const title = wireText.pipe(z.string().max(limits.titleCharsMax));
export const path = z.string().min(1).max(limits.pathBytesMax);
export const modelName = z
  .string()
  .max(200)
  .regex(/^[^\s/]+\/\S+$/, 'a model is named provider/model');

export const nothing = z.looseObject({ ...inSession });
export const page = { limit: count.optional() };

export function accepted<T extends string, S extends z.ZodRawShape>(command: T, shape: S) {
  return { type: 'accepted', payload: z.object({ command: z.literal(command), ...shape }) } as const;
}
export const forSession = { session_id: z.string() };
export const forRun = { run_id: z.string() };
export const submitted = { run_id: z.string(), session_id: z.string(), input_id: z.string() };
export const messagesReply = {
  session_id: z.string(),
  messages: z.array(message),
  leaf_id: z.string().nullable(),
  seq: z.number(),
  has_more: z.boolean(),
};

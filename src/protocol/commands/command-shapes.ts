import * as z from 'zod';
import { limits } from '../limits.js';
import { message } from '../messages.js';
import { lazy } from '../lazy.js';

type Normalize = (payload: Record<string, unknown>) => Record<string, unknown>;

interface CommandSource<P, T extends string, R> {
  summary: string;
  normalize?: Normalize;
  payload: () => P;
  reply: { type: T; payload: () => R };
  role: 'controller' | 'observer';
  waits?: true;
}

/** A row of the command table. `observer` commands change no session, and repeating them is harmless; deferred ones are answered when their work is done. */
export interface CommandRow<P = z.ZodObject, T extends string = string, R = z.ZodObject> {
  summary: string;
  /** Normalizes an equivalent payload before validation. */
  normalize?: Normalize;
  readonly payload: P;
  reply: { type: T; readonly payload: R };
  role: 'controller' | 'observer';
  waits?: true;
}

/** Makes a row whose schemas are built lazily: an idle daemon has built none. */
export function command<P, const T extends string, R>({ payload, reply, ...row }: CommandSource<P, T, R>): CommandRow<P, T, R> {
  const payloadOnce = lazy(payload);
  const replyOnce = lazy(reply.payload);
  return {
    ...row,
    get payload() {
      return payloadOnce();
    },
    reply: {
      type: reply.type,
      get payload() {
        return replyOnce();
      },
    },
  };
}

/** Fields that several commands share. */
export const id = z.string().min(1).max(limits.idCharsMax);
export const inputId = z
  .string()
  .max(limits.inputIdCharsMax)
  .regex(/^[A-Za-z0-9_.:-]{1,128}$/, '1 to 128 of A-Z a-z 0-9 _ . : -');
export const inSession = { session_id: id.optional() };
export const count = z.int().min(1).max(limits.pageRowsMax);
export const title = z.string().max(limits.titleCharsMax, `at most ${limits.titleCharsMax} characters`);
export const path = z.string().min(1).max(limits.pathBytesMax);
export const modelName = z
  .string()
  .max(limits.modelIdCharsMax)
  .regex(/^[^\s/]+\/\S+$/, 'a model is named provider/model');

export const nothing = z.looseObject({ ...inSession });
export const page = { limit: count.optional() };

export function accepted<T extends string, S extends z.ZodRawShape>(name: T, shape: () => S) {
  return { type: 'accepted' as const, payload: () => z.object({ command: z.literal(name), ...shape() }) };
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

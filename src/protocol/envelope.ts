import * as z from 'zod';
import { errorCodes } from './errors.js';
import { limits } from './limits.js';

export const supportedVersions = ['1'] as const;

/** A line from a client. `payload`, `meta` and `v` may be absent. */
export const commandEnvelope = z.looseObject({
  v: z.unknown().optional(),
  id: z.string().min(1).max(limits.envelopeIdCharsMax),
  type: z.string().min(1).max(limits.envelopeTypeCharsMax),
  payload: z.record(z.string(), z.unknown()).optional(),
  meta: z.record(z.string(), z.unknown()).optional(),
});

/** The reply to a successful command; `seq` is the log position that it reflects. */
export const okReply = z.object({
  v: z.literal('1'),
  id: z.string(),
  type: z.string(),
  ok: z.literal(true),
  seq: z.number(),
  payload: z.record(z.string(), z.unknown()),
});

/** The reply to a refused command. */
export const errorReply = z.object({
  v: z.literal('1'),
  id: z.string(),
  type: z.literal('error'),
  ok: z.literal(false),
  payload: z.object({}),
  error: z.object({
    code: z.enum(errorCodes),
    message: z.string(),
    cause: z.string().optional(),
    retryable: z.boolean(),
    details: z.record(z.string(), z.unknown()),
  }),
});

/** A line on the event socket. Durable events have `seq`, live ones do not. */
export const eventEnvelope = z.object({
  v: z.literal('1'),
  id: z.string(),
  seq: z.number().optional(),
  type: z.string(),
  ts: z.string(),
  payload: z.record(z.string(), z.unknown()),
});

import type { z } from 'zod';
import { refusal, type Refusal } from '../protocol/errors.js';

/** The refusal of a payload that zod rejected: names the field and the problem. */
export function toPayloadRefusal(error: z.ZodError): Refusal {
  const [issue] = error.issues;
  const field = issue?.path.map(String).join('.') ?? '';
  return refusal('invalid_payload', `${field || 'payload'}: ${issue?.message ?? 'is not valid'}`, { field: field || 'payload' });
}

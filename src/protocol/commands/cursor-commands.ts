import * as z from 'zod';
import { limits } from '../limits.js';
import { accepted, command } from './command-shapes.js';

const name = z
  .string()
  .max(limits.cursorNameCharsMax)
  .regex(/^[A-Za-z0-9_][A-Za-z0-9_.-]*$/, `a name has 1 to ${limits.cursorNameCharsMax} of A-Z a-z 0-9 _ . - and begins with no . or -`);

/** Commands about named cursors: how far somebody who follows the log has got with it, kept by the daemon. */
export const cursorCommands = {
  ack_cursor: command({
    summary:
      'Acknowledges the log up to `seq` under a name, and answers where that name stands. It never goes back, so that saying it again is harmless. A new name begins at the newest event unless a `seq` says where.',
    payload: () => z.looseObject({ name, seq: z.int().min(0).optional() }),
    reply: accepted('ack_cursor', () => ({ name: z.string(), seq: z.number() })),
    role: 'observer',
  }),
  list_cursors: command({
    summary: 'The named cursors, by name. One with a `seq` below `floor` has missed events, which were pruned.',
    payload: () => z.looseObject({}),
    reply: {
      type: 'cursors',
      payload: () =>
        z.object({
          cursors: z.array(z.object({ name: z.string(), seq: z.number(), used_at: z.string() })),
          /** The newest seq of the log. */
          head: z.number(),
          floor: z.number(),
          log_id: z.string(),
        }),
    },
    role: 'observer',
  }),
  remove_cursor: command({
    summary: 'Forgets a named cursor; `removed` says whether there was one.',
    payload: () => z.looseObject({ name }),
    reply: accepted('remove_cursor', () => ({ name: z.string(), removed: z.boolean() })),
    role: 'controller',
  }),
} as const;

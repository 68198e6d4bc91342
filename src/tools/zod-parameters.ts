import * as z from 'zod';
import type { ToolParameters } from './port.js';

/** Tool parameters from one zod schema, which becomes the JSON Schema and validates the arguments. */
export function zodParameters<Args>(schema: z.ZodType<Args>): ToolParameters<Args> {
  return {
    jsonSchema: z.toJSONSchema(schema, { unrepresentable: 'any' }),
    parse(args) {
      const parsed = schema.safeParse(args);
      if (parsed.success) return { ok: true, args: parsed.data };
      return { ok: false, problems: parsed.error.issues.map(({ path, message }) => ({ field: path.join('.'), message })) };
    },
  };
}

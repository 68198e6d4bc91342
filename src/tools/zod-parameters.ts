import * as z from 'zod';
import type { ToolParameters } from './port.js';

/** The parameters of a tool from one zod schema: it becomes the JSON Schema, and it checks the arguments. */
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

import { toolText, type Tool, type ToolParameters } from '../../src/tools/port.js';

/** A schema as others write it, and a parse that knows no zod. */
const cityParameters: ToolParameters<{ city: string }> = {
  jsonSchema: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
  parse(args) {
    const { city } = args as { city?: unknown };
    if (typeof city === 'string') return { ok: true, args: { city } };
    return { ok: false, problems: [{ field: 'city', message: 'must be a string' }] };
  },
};

/** A tool that berth knows nothing about. */
export function foreignTool(changes: Partial<Tool<{ city: string }>> = {}): Tool {
  const tool: Tool<{ city: string }> = {
    name: 'weather',
    description: 'Says what the weather is like in a city.',
    parameters: cityParameters,
    readOnly: false,
    resumable: false,
    title: ({ city }) => `Weather in ${city}`,
    run: ({ city }) => Promise.resolve(toolText(`It rains in ${city}.`)),
    ...changes,
  };
  return tool;
}

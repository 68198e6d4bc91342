import type { ChatCompletionChunk } from 'openai/resources/chat/completions';
import type { ModelDelta } from './port.js';

type Fragment = Partial<ChatCompletionChunk.Choice.Delta.ToolCall>;
type CallDelta = Extract<ModelDelta, { type: 'tool_call' | 'tool_arguments' }>;

interface OpenCall {
  number: number;
  id: string;
  /** Calls are told of once their name is known. */
  name: string;
  json: string;
}

/**
 * Finds out which call each fragment belongs to. Some servers give every call the index 0, or none: then a new id is a new call, and
 * without ids a name that comes after whole arguments.
 */
export function createCallReader(placeOf: (number: number) => number): { read(fragment: Fragment): CallDelta[] } {
  const open = new Map<number, OpenCall>();
  let count = 0;

  function begins(call: OpenCall, { id, function: named }: Fragment): boolean {
    if (id && call.id !== '') return id !== call.id && Boolean(named?.name);
    return !id && call.id === '' && Boolean(named?.name) && call.name !== '' && isWhole(call.json);
  }

  return {
    read(fragment) {
      const { index = 0, id, function: named } = fragment;
      let call = open.get(index);
      if (!call || begins(call, fragment)) open.set(index, (call = { number: count++, id: '', name: '', json: '' }));
      const json = named?.arguments ?? '';
      const isNamed = call.name !== '';
      call.id ||= id ?? '';
      call.name ||= named?.name ?? '';
      call.json += json;
      if (call.name === '') return [];
      const block = placeOf(call.number);
      const said = isNamed ? json : call.json;
      return [
        ...(isNamed ? [] : [{ type: 'tool_call' as const, block, id: call.id, name: call.name }]),
        ...(said === '' ? [] : [{ type: 'tool_arguments' as const, block, json: said }]),
      ];
    },
  };
}

function isWhole(json: string): boolean {
  try {
    JSON.parse(json);
    return true;
  } catch (error) {
    if (error instanceof SyntaxError) return false;
    throw error;
  }
}

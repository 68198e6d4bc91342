import type { ChatCompletionChunk } from 'openai/resources/chat/completions';
import { limits } from '../../protocol/limits.js';
import { AnswerTooLong } from '../http/sse-guard.js';
import type { ModelDelta } from '../port.js';
import { toJson, toWord } from './coerce.js';

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

  function begins(call: OpenCall, id: string, name: string): boolean {
    if (id !== '' && call.id !== '') return id !== call.id && name !== '';
    if (id !== '' || call.id !== '' || name === '' || call.name === '') return false;
    // One without arguments is over when another name comes.
    return call.json === '' ? name !== call.name : isWhole(call.json);
  }

  return {
    read(fragment) {
      const { index = 0, function: named } = fragment;
      const id = toWord(fragment.id);
      const name = toWord(named?.name);
      let call = open.get(index);
      if (!call || begins(call, id, name)) open.set(index, (call = { number: count++, id: '', name: '', json: '' }));
      const json = toJson(named?.arguments);
      const isNamed = call.name !== '';
      call.id ||= id;
      call.name ||= name;
      const said = isNamed ? json : call.json + json;
      // Longer arguments are no good to anybody, and need not be known here once they are told.
      if (call.json.length <= limits.toolArgumentsBytesMax) call.json += json;
      else if (call.name === '') throw new AnswerTooLong('a call that has arguments and no name');
      if (call.name === '') return [];
      const block = placeOf(call.number);
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

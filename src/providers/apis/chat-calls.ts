import type { ChatCompletionChunk } from 'openai/resources/chat/completions';
import { limits } from '../../protocol/limits.js';
import { AnswerTooLong } from '../http/sse-guard.js';
import type { ModelDelta } from '../port.js';
import { coerceJson, coerceText } from './coerce.js';

type Fragment = Partial<ChatCompletionChunk.Choice.Delta.ToolCall>;
type CallDelta = Extract<ModelDelta, { type: 'tool_call' | 'tool_arguments' }>;

interface OpenCall {
  number: number;
  id: string;
  /** A tool_call delta is sent once the name is known. */
  name: string;
  json: string;
}

/**
 * Assigns streamed fragments to tool calls. Some servers give every call the index 0, or none: then a new id begins a new call, and without ids
 * a name that comes after complete JSON arguments.
 */
export function createCallReader(blockNumber: (number: number) => number): { read(fragment: Fragment): CallDelta[] } {
  const open = new Map<number, OpenCall>();
  let count = 0;

  function isNewCall(call: OpenCall, id: string, name: string): boolean {
    if (id !== '' && call.id !== '') return id !== call.id && name !== '';
    if (id !== '' || call.id !== '' || name === '' || call.name === '') return false;
    // A call without arguments ends when another name comes.
    return call.json === '' ? name !== call.name : isCompleteJson(call.json);
  }

  return {
    read(fragment) {
      const { index = 0, function: called } = fragment;
      const id = coerceText(fragment.id);
      const name = coerceText(called?.name);
      let call = open.get(index);
      if (!call || isNewCall(call, id, name)) open.set(index, (call = { number: count++, id: '', name: '', json: '' }));
      const json = coerceJson(called?.arguments);
      const isNamed = call.name !== '';
      call.id ||= id;
      call.name ||= name;
      const newJson = isNamed ? json : call.json + json;
      // Arguments beyond the limit are refused later; they need not be buffered here once the name was sent.
      if (call.json.length <= limits.toolArgumentsBytesMax) call.json += json;
      else if (call.name === '') throw new AnswerTooLong('a call that has arguments and no name');
      if (call.name === '') return [];
      const block = blockNumber(call.number);
      return [
        ...(isNamed ? [] : [{ type: 'tool_call' as const, block, id: call.id, name: call.name }]),
        ...(newJson === '' ? [] : [{ type: 'tool_arguments' as const, block, json: newJson }]),
      ];
    },
  };
}

function isCompleteJson(json: string): boolean {
  try {
    JSON.parse(json);
    return true;
  } catch (error) {
    if (error instanceof SyntaxError) return false;
    throw error;
  }
}

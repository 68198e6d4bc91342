import { limits } from '../../protocol/limits.js';
import type { ContentBlock, StopReason, ToolCallBlock } from '../../protocol/messages.js';
import type { LiveMessages, OpenMessage } from '../live/live-messages.js';

/** The content of an ended message. Tool calls of a message that reached its output limit were truncated and are left out. */
export function assembleContent(message: OpenMessage, live: LiveMessages, stopReason: StopReason): ContentBlock[] {
  const ids = new Set<string>();
  const content: ContentBlock[] = [];
  for (const [index, block] of message.blocks.entries()) {
    if (block.kind !== 'tool_call') content.push(...live.contentOf(message, index));
    else if (stopReason !== 'length' && ids.size < limits.toolCallsPerMessageMax) {
      content.push(toCall(block.toolCallId ?? '', block.toolName ?? '', live.argumentsOf(message, index), ids));
    }
  }
  return content;
}

/** Validates a tool call: its id is unique within the message, its arguments are an object. */
function toCall(id: string, name: string, json: string, ids: Set<string>): ToolCallBlock {
  const base = id === '' ? 'call' : id.slice(0, limits.toolCallIdCharsMax).toWellFormed();
  let unique = base;
  for (let n = 2; ids.has(unique); n++) unique = `${base}_${n}`;
  ids.add(unique);
  const call = { type: 'tool_call' as const, id: unique, name: name.slice(0, limits.toolNameCharsMax).toWellFormed() };
  if (json.length > limits.toolArgumentsBytesMax) return { ...call, arguments: {}, problem: 'The arguments are too long.' };
  const parsed = parseArguments(json);
  return parsed ? { ...call, arguments: parsed } : { ...call, arguments: {}, problem: 'The arguments are not a JSON object.' };
}

function parseArguments(json: string): Record<string, unknown> | undefined {
  if (json.trim() === '') return {};
  try {
    const value: unknown = JSON.parse(json);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : undefined;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

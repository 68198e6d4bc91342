import type { IncomingHttpHeaders } from 'node:http';
import type { Api } from './reply.js';
import type { Json } from './shape.js';

export interface ToolResult {
  id: string;
  text: string;
  /** Only Anthropic says so. */
  isError: boolean;
}

/** A question to the model, as it came over the wire. */
export interface Asked {
  readonly api: Api;
  readonly headers: IncomingHttpHeaders;
  readonly body: Json;
  /** Why it was not answered. */
  readonly refusal: string | undefined;
  /** What the person said last. */
  readonly text: string;
  /** The results that came after the model spoke last. */
  readonly toolResults: readonly ToolResult[];
  /** Answered to the end, be it a bitter one, or the peer went away first. */
  readonly closed: Promise<'done' | 'left'>;
}

function listOf(value: unknown): Json[] {
  return Array.isArray(value) ? value : [];
}

function textOf(content: unknown): string {
  if (typeof content === 'string') return content;
  return listOf(content)
    .map((part) => part?.text ?? '')
    .join('');
}

function messagesOf(body: Json): Json[] {
  return typeof body?.input === 'string' ? [{ role: 'user', content: body.input }] : listOf(body?.messages ?? body?.input);
}

function byModel({ role, type }: Json): boolean {
  return role === 'assistant' || type === 'function_call' || type === 'reasoning';
}

/** What the person said last in a request of any of the APIs; nothing is taken for granted, as it may be a refused one. */
export function newestText(body: Json): string {
  const texts = messagesOf(body).flatMap((message) => (message?.role === 'user' ? [textOf(message.content)] : []));
  return texts.findLast((text) => text !== '') ?? '';
}

export function trailingResults(body: Json): ToolResult[] {
  const messages = messagesOf(body).filter((message) => typeof message === 'object' && message !== null);
  return messages.slice(messages.findLastIndex(byModel) + 1).flatMap((message): ToolResult[] => {
    if (message.role === 'tool') return [{ id: message.tool_call_id, text: textOf(message.content), isError: false }];
    if (message.type === 'function_call_output') return [{ id: message.call_id, text: textOf(message.output), isError: false }];
    return listOf(message.content)
      .filter((block) => block?.type === 'tool_result')
      .map((block) => ({ id: block.tool_use_id, text: textOf(block.content), isError: block.is_error === true }));
  });
}

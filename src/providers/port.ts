import type { ContentBlock, StopReason, Usage } from '../protocol/messages.js';

/** One message of the history as a provider is given it. */
export interface ModelMessage {
  role: 'user' | 'assistant' | 'tool_result';
  content: ContentBlock[];
  toolCallId?: string;
  toolName?: string;
  isError?: boolean;
}

/** What a model is told when it has to go on with an answer of its own that was cut short. */
export const goOn = 'Go on from where you stopped.';

export interface ToolSpec {
  name: string;
  description: string;
  /** JSON Schema of the arguments. */
  parameters: Record<string, unknown>;
}

/** A request to a model. For every tool call in `messages` there is exactly one tool result. */
export interface ModelRequest {
  model: string;
  thinking: 'off' | 'low' | 'medium' | 'high';
  messages: ModelMessage[];
  tools: ToolSpec[];
}

/**
 * What a model says, piece by piece. `begin` comes once, when the response begins; blocks are counted from 0 in the order in
 * which they begin; a tool call's arguments come as fragments of one JSON text. The stream ends with `end` or `failure`:
 * failures are data, a provider never throws but for bugs. After an abort it may end without either.
 */
export type ModelDelta =
  | { type: 'begin' }
  | { type: 'text'; block: number; text: string }
  | { type: 'thinking'; block: number; text: string; signature?: string }
  | { type: 'tool_call'; block: number; id: string; name: string }
  | { type: 'tool_arguments'; block: number; json: string }
  | { type: 'end'; stopReason: StopReason; usage: Usage | null }
  | { type: 'failure'; code: string; message: string; cause?: string };

export interface Provider {
  stream(request: ModelRequest, signal: AbortSignal): AsyncIterable<ModelDelta>;
}

/** Finds who speaks for a model named `provider/model`. */
export interface Providers {
  /** Undefined when nobody does. */
  find(model: string): Provider | undefined;
  list(): { model: string; title: string }[];
}

import type { ContentBlock, StopReason, Usage } from '../protocol/messages.js';
import type { ListedModel, ListedProvider } from '../protocol/views.js';
import type { Price } from '../machine/provider-config.js';

/** One message of the history as a provider is given it. */
export interface ModelMessage {
  role: 'user' | 'assistant' | 'tool_result';
  content: ContentBlock[];
  /** Who said it, as `provider/model`: thinking is given back only to the model that thought it. */
  model?: string | null;
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

export type ThinkingLevel = 'off' | 'low' | 'medium' | 'high';

/** A request to a model. For every tool call in `messages` there is exactly one tool result, right after it. */
export interface ModelRequest {
  /** The whole name, `provider/model`. */
  model: string;
  /** Requests of one session are alike at their beginning: a provider that keeps prompts may keep this one by its name. */
  sessionId: string;
  thinking: ThinkingLevel;
  system: string;
  messages: ModelMessage[];
  tools: ToolSpec[];
  /** At most so many tokens of answer; the model's own bound when absent. */
  maxOutput?: number;
}

/** Why there is no answer, or only half of one. No secret is in it. */
export interface ModelFailure {
  message: string;
  cause?: string;
  /** The same request may work later, after at least `afterMs` when the provider says so; `once` when more would be a waste. */
  retry?: { afterMs?: number; once?: true };
  /** The request does not fit the model's context window. */
  overflow?: true;
  /** What was used up nevertheless. */
  usage?: Usage | null;
}

/** What a text is in its answer, where a model says so and wants it back. */
export type Phase = 'commentary' | 'final_answer';

/**
 * What a model says, piece by piece. `begin` comes once, when the response begins; blocks are counted from 0 in the order in
 * which they begin; a tool call's arguments come as fragments of one JSON text. A thinking block's `signature` is what its
 * provider wants back with it; a `redacted` block has a signature and no words. The stream ends with `end` or `failure`:
 * failures are data, a provider never throws but for bugs. After an abort it may end without either.
 */
export type ModelDelta =
  | { type: 'begin' }
  | { type: 'text'; block: number; text: string; phase?: Phase }
  | { type: 'thinking'; block: number; text: string; signature?: string; redacted?: true }
  | { type: 'tool_call'; block: number; id: string; name: string }
  | { type: 'tool_arguments'; block: number; json: string }
  | { type: 'end'; stopReason: StopReason; usage: Usage | null }
  | ({ type: 'failure' } & ModelFailure);

export interface Provider {
  /** Deltas that came together may be handed over together: waiting for each of many costs more than reading it. */
  stream(request: ModelRequest, signal: AbortSignal): AsyncIterable<ModelDelta | readonly ModelDelta[]>;
}

/** What a stream handed over at once, as a list. */
export function together(came: ModelDelta | readonly ModelDelta[]): readonly ModelDelta[] {
  return 'type' in came ? [came] : came;
}

/** What is known about a model; null where nobody knows. */
export interface ModelFacts {
  /** Tokens that a request and its answer may have together. */
  contextWindow: number | null;
  maxOutput: number | null;
  price: Price | null;
}

/** Finds who speaks for a model named `provider/model`. */
export interface Providers {
  /** Undefined when nobody does. */
  find(model: string): Provider | undefined;
  facts(model: string): ModelFacts;
  /** Names of the providers there are. */
  names(): string[];
  /** Asks providers for their models, within a bounded time. */
  list(): Promise<{ models: ListedModel[]; providers: ListedProvider[] }>;
}

import type { ContentBlock, StopReason, Usage } from '../protocol/messages.js';
import type { ListedModel, ListedProvider } from '../protocol/views.js';
import type { Price } from '../machine/provider-config.js';

/** One message of the history in a model request. */
export interface ModelMessage {
  role: 'user' | 'assistant' | 'tool_result';
  content: ContentBlock[];
  /** The author as `provider/model`: thinking is sent back only to the model that produced it. */
  model?: string | null;
  toolCallId?: string;
  toolName?: string;
  isError?: boolean;
}

/** The prompt that makes a model continue a truncated answer. */
export const continuePrompt = 'Go on from where you stopped.';

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
  /** A prompt cache key: requests of one session share a prefix. */
  sessionId: string;
  thinking: ThinkingLevel;
  system: string;
  messages: ModelMessage[];
  tools: ToolSpec[];
  /** The limit of output tokens; the model's own limit when absent. */
  maxOutput?: number;
}

/** Why there is no answer, or only a part of one. Secrets are redacted. */
export interface ModelFailure {
  message: string;
  cause?: string;
  /** A transient failure: retry the same request, after `afterMs` if the provider says so; `once` when one retry is enough. */
  retry?: { afterMs?: number; once?: true };
  /** The request does not fit the model's context window. */
  overflow?: true;
  /** Tokens that were used nevertheless. */
  usage?: Usage | null;
}

/** The role of a text within an answer, for models that report it and want it back. */
export type Phase = 'commentary' | 'final_answer';

/**
 * A streaming delta of a model. `begin` comes once, when the response begins; blocks are numbered from 0 in the order in which they begin; a
 * tool call's arguments come as fragments of one JSON text. The `signature` of a thinking block must be sent back with it; a `redacted` block
 * has a signature and no text. The stream ends with `end` or `failure`: failures are data, a provider throws only for bugs. After an abort the
 * stream may end without either.
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
  /** Deltas that arrived together may be yielded as one batch: an await for each costs more than reading it. */
  stream(request: ModelRequest, signal: AbortSignal): AsyncIterable<ModelDelta | readonly ModelDelta[]>;
}

/** A delta or a batch of deltas as a list. */
export function toDeltaList(deltas: ModelDelta | readonly ModelDelta[]): readonly ModelDelta[] {
  return 'type' in deltas ? [deltas] : deltas;
}

/** Limits and price of a model; null where unknown. */
export interface ModelFacts {
  /** Tokens of a request and its answer together. */
  contextWindow: number | null;
  maxOutput: number | null;
  price: Price | null;
}

/** The registry of providers, by model name `provider/model`. */
export interface Providers {
  /** Undefined for an unknown provider. */
  find(model: string): Provider | undefined;
  facts(model: string): ModelFacts;
  /** Names of all providers. */
  names(): string[];
  /** Fetches the model lists of all providers, with a timeout. */
  list(): Promise<{ models: ListedModel[]; providers: ListedProvider[] }>;
}

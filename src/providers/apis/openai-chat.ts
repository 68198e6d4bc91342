import type * as Chat from 'openai/resources/chat/completions';
import { limits } from '../../protocol/limits.js';
import type { StopReason, Usage } from '../../protocol/messages.js';
import { createCallReader } from './chat-calls.js';
import { inStreamFailure, overflowFailure, type FailureContext } from '../failures.js';
import type { RequestFeatures } from './request-fallbacks.js';
import { nothingFromTheEnvironment } from './openai-reasoning.js';
import { readOpenAiStream } from './openai-stream.js';
import { withOwnHeaders } from '../http/own-headers.js';
import { createBlockNumbers } from './block-numbers.js';
import type { ModelRequest, Provider } from '../port.js';
import { modelIdOf, type KnownModel, type ProviderSettings } from '../settings.js';
import { streamResponse, type Dialect, type Reader } from './stream-response.js';
import { isFilledText, coerceText, coerceParts } from './coerce.js';
import { textOfParts, toTurns, type Part, type WireTurn } from './model-turns.js';

type Chunk = Chat.ChatCompletionChunk;
type Message = Chat.ChatCompletionMessageParam;
/** The field names of servers for reasoning text. */
const reasoningFields = ['reasoning_content', 'reasoning', 'reasoning_text'] as const;
type ReasoningField = (typeof reasoningFields)[number];
type Delta = Chat.ChatCompletionChunk.Choice.Delta & Partial<Record<ReasoningField, unknown>>;

const stopReasons: Record<string, StopReason> = {
  stop: 'stop',
  length: 'length',
  tool_calls: 'tool_use',
  function_call: 'tool_use',
};
/** Finish reasons of an answer that was aborted. */
const abortReasons = new Set(['error', 'abort', 'aborted', 'cancelled', 'timeout', 'network_error', 'insufficient_system_resource']);
const overflowReasons = new Set(['model_context_window_exceeded', 'context_length_exceeded']);

/** Adapter for the Chat Completions API, as of Ollama, llama.cpp, vLLM, LM Studio, OpenRouter and many more. */
export function createChatProvider(settings: ProviderSettings, factsOf: (model: string) => KnownModel): Provider {
  return {
    stream(request, signal) {
      const dialect: Dialect<Chunk> = {
        pieceBytes: limits.openAiPieceBytes,
        async open(features, options, stop) {
          const { OpenAI, APIError } = await import('openai');
          const client = withOwnHeaders(new OpenAI({ ...options, ...nothingFromTheEnvironment }), options);
          const body = toBody(request, factsOf(request.model), settings, features);
          const response = await client.chat.completions.create(body, { signal: stop }).asResponse();
          return readOpenAiStream<Chunk>(response, APIError);
        },
        reader: createReader,
      };
      return streamResponse(dialect, settings, request, signal);
    },
  };
}

function toBody(
  request: ModelRequest,
  model: KnownModel,
  { baseUrl, verbosity }: ProviderSettings,
  { thoughts, level, ids }: RequestFeatures,
): Chat.ChatCompletionCreateParamsStreaming {
  const maxOutput = request.maxOutput ?? model.maxOutput;
  // OpenAI has renamed max_tokens; compatible servers may know only the old name.
  const limitField = new URL(baseUrl).hostname === 'api.openai.com' ? 'max_completion_tokens' : 'max_tokens';
  return {
    model: modelIdOf(request.model),
    stream: true,
    stream_options: { include_usage: true },
    messages: [...toSystem(request.system), ...toTurns(request, model, (name) => (thoughts ? name : undefined), ids).flatMap(toMessages)],
    ...(maxOutput === null ? {} : { [limitField]: maxOutput }),
    ...(verbosity === undefined || !level ? {} : { verbosity }),
    ...(request.thinking === 'off' || !level ? {} : { reasoning_effort: request.thinking }),
    ...(request.tools.length === 0 ? {} : { tools: request.tools.map(toTool) }),
  };
}

function toSystem(system: string): Message[] {
  return system.trim() === '' ? [] : [{ role: 'system', content: system }];
}

function toTool({ name, description, parameters }: ModelRequest['tools'][number]): Chat.ChatCompletionFunctionTool {
  return { type: 'function', function: { name, description, parameters } };
}

function toMessages(turn: WireTurn): Message[] {
  if (turn.role === 'assistant') return toAssistant(turn.blocks);
  const results = turn.answers.map(({ id, parts }): Message => {
    const text = textOfParts(parts);
    return { role: 'tool', tool_call_id: id, content: text === '' ? '(an image, shown below)' : text };
  });
  // Tool results are text only: their images follow in a user message.
  const parts = [...turn.answers.flatMap((answer) => answer.parts.filter((part) => part.type === 'image')), ...turn.parts];
  return parts.length === 0 ? results : [...results, { role: 'user', content: toContent(parts) }];
}

/** Text goes as a string: not every server accepts content parts. */
function toContent(parts: Part[]): string | Chat.ChatCompletionContentPart[] {
  if (parts.every((part) => part.type === 'text')) return parts.map(({ text }) => text).join('\n\n');
  return parts.map((part) =>
    part.type === 'text'
      ? { type: 'text', text: part.text }
      : { type: 'image_url', image_url: { url: `data:${part.mimeType};base64,${part.data}` } },
  );
}

/** Reasoning before tool calls goes back under its original field name: some servers refuse to continue without it. */
function toReasoning(blocks: (WireTurn & { role: 'assistant' })['blocks']): Partial<Record<ReasoningField, string>> {
  const thoughts = blocks.filter((block) => block.type === 'thinking');
  const name = reasoningFields.find((one) => thoughts.some(({ signature }) => signature === one));
  return name === undefined ? {} : { [name]: thoughts.map(({ text }) => text).join('') };
}

function toAssistant(blocks: (WireTurn & { role: 'assistant' })['blocks']): Message[] {
  const text = blocks.flatMap((block) => (block.type === 'text' ? [block.text] : [])).join('');
  const calls = blocks.flatMap((block): Chat.ChatCompletionMessageFunctionToolCall[] =>
    block.type === 'call'
      ? [{ type: 'function', id: block.id, function: { name: block.name, arguments: JSON.stringify(block.args) } }]
      : [],
  );
  if (text === '' && calls.length === 0) return [];
  return [
    {
      role: 'assistant',
      ...(text === '' ? {} : { content: text }),
      ...(calls.length === 0 ? {} : { ...toReasoning(blocks), tool_calls: calls }),
    },
  ];
}

/** Compatible servers omit fields that the SDK's types require. */
interface LooseChunk extends Partial<Omit<Chunk, 'usage' | 'choices' | 'object'>> {
  object?: string;
  choices?: (Partial<Chunk['choices'][number]> & { message?: unknown })[];
  /** The cost in dollars, from routers such as OpenRouter. */
  usage?: (Partial<NonNullable<Chunk['usage']>> & { cost?: unknown }) | null;
  /** Fields of an error that is sent as a chunk. */
  code?: unknown;
  message?: unknown;
}

type Deltas = ReturnType<Reader<Chunk>['read']>;

function createReader(context: FailureContext): Reader<Chunk> {
  let finish: string | undefined;
  let usage: Usage | null = null;
  let hasContent = false;
  const blockNumber = createBlockNumbers();
  const calls = createCallReader(blockNumber);

  function toDeltas(delta: Delta): Deltas {
    const name = reasoningFields.find((one) => isFilledText(delta[one]));
    const text = coerceParts(delta.content) || coerceParts(delta.refusal);
    return [
      ...(name === undefined
        ? []
        : [{ type: 'thinking' as const, block: blockNumber('thinking'), text: coerceText(delta[name]), signature: name }]),
      ...(text === '' ? [] : [{ type: 'text' as const, block: blockNumber('text'), text }]),
      ...(delta.tool_calls ?? []).flatMap(calls.read),
    ];
  }

  return {
    read(chunk: LooseChunk) {
      if (chunk.object === 'error')
        return [{ type: 'failure', ...inStreamFailure(coerceText(chunk.code), coerceParts(chunk.message), context) }];
      if (chunk.usage) usage = toUsage(chunk.usage);
      const [choice] = chunk.choices ?? [];
      if (choice?.finish_reason) finish = choice.finish_reason;
      // Some servers send a whole message instead of a delta.
      const delta = (choice?.delta ?? choice?.message) as Delta | undefined;
      const deltas = delta ? toDeltas(delta) : [];
      hasContent ||= deltas.length > 0;
      return deltas;
    },
    ended(isWhole) {
      if (finish === undefined) return isWhole && hasContent ? { type: 'end', stopReason: 'stop', usage } : undefined;
      if (abortReasons.has(finish)) return undefined;
      if (finish === 'content_filter')
        return { type: 'failure', message: `${context.provider} stopped the answer because of its content filter`, usage };
      if (overflowReasons.has(finish))
        return hasContent ? { type: 'end', stopReason: 'length', usage } : { type: 'failure', ...overflowFailure(context) };
      return { type: 'end', stopReason: stopReasons[finish] ?? 'stop', usage };
    },
  };
}

function toUsage({ prompt_tokens, completion_tokens, prompt_tokens_details, cost }: NonNullable<LooseChunk['usage']>): Usage {
  const cacheRead = prompt_tokens_details?.cached_tokens ?? 0;
  const cacheWrite = prompt_tokens_details?.cache_write_tokens ?? 0;
  return {
    input: Math.max(0, (prompt_tokens ?? 0) - cacheRead - cacheWrite),
    output: completion_tokens ?? 0,
    cache_read: cacheRead,
    cache_write: cacheWrite,
    cost_usd: typeof cost === 'number' && cost >= 0 && Number.isFinite(cost) ? cost : null,
  };
}

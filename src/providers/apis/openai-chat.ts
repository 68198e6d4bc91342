import type * as Chat from 'openai/resources/chat/completions';
import { limits } from '../../protocol/limits.js';
import type { StopReason, Usage } from '../../protocol/messages.js';
import { createCallReader } from './chat-calls.js';
import { inStreamFailure, overflowFailure, type Asked } from '../failures.js';
import type { RequestFeatures } from './request-fallbacks.js';
import { nothingFromTheEnvironment } from './openai-reasoning.js';
import { readOpenAiStream } from './openai-stream.js';
import { withOwnHeaders } from '../http/own-headers.js';
import { createBlockNumbers } from './block-numbers.js';
import type { ModelRequest, Provider } from '../port.js';
import { modelIdOf, type KnownModel, type ProviderSettings } from '../settings.js';
import { streamResponse, type Dialect, type Reader } from './stream-response.js';
import { isFilledText, toWord, toWords } from './coerce.js';
import { textOfParts, toTurns, type Part, type WireTurn } from './model-turns.js';

type Chunk = Chat.ChatCompletionChunk;
type Message = Chat.ChatCompletionMessageParam;
/** Servers have several names for what a model thinks before it answers. */
const thoughtNames = ['reasoning_content', 'reasoning', 'reasoning_text'] as const;
type ThoughtName = (typeof thoughtNames)[number];
type Delta = Chat.ChatCompletionChunk.Choice.Delta & Partial<Record<ThoughtName, unknown>>;

const stopReasons: Record<string, StopReason> = {
  stop: 'stop',
  length: 'length',
  tool_calls: 'tool_use',
  function_call: 'tool_use',
};
/** How servers say that they did not get to the end. */
const brokenOff = new Set(['error', 'abort', 'aborted', 'cancelled', 'timeout', 'network_error', 'insufficient_system_resource']);
const tooLong = new Set(['model_context_window_exceeded', 'context_length_exceeded']);

/** Speaks Chat Completions, to every server that does: Ollama, llama.cpp, vLLM, LM Studio, OpenRouter and many more. */
export function createChatProvider(settings: ProviderSettings, known: (model: string) => KnownModel): Provider {
  return {
    stream(request, signal) {
      const dialect: Dialect<Chunk> = {
        pieceBytes: limits.openAiPieceBytes,
        async open(manner, options, stop) {
          const { OpenAI, APIError } = await import('openai');
          const client = withOwnHeaders(new OpenAI({ ...options, ...nothingFromTheEnvironment }), options);
          const body = toBody(request, known(request.model), settings, manner);
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
  // OpenAI itself has renamed the bound; nobody else has to know the new name.
  const bound = new URL(baseUrl).hostname === 'api.openai.com' ? 'max_completion_tokens' : 'max_tokens';
  return {
    model: modelIdOf(request.model),
    stream: true,
    stream_options: { include_usage: true },
    messages: [...toSystem(request.system), ...toTurns(request, model, (name) => (thoughts ? name : undefined), ids).flatMap(toMessages)],
    ...(maxOutput === null ? {} : { [bound]: maxOutput }),
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
  // Results are words only: their images come as the user's, behind them.
  const parts = [...turn.answers.flatMap((answer) => answer.parts.filter((part) => part.type === 'image')), ...turn.parts];
  return parts.length === 0 ? results : [...results, { role: 'user', content: toContent(parts) }];
}

/** Plain words go as a string: not every server takes parts. */
function toContent(parts: Part[]): string | Chat.ChatCompletionContentPart[] {
  if (parts.every((part) => part.type === 'text')) return parts.map(({ text }) => text).join('\n\n');
  return parts.map((part) =>
    part.type === 'text'
      ? { type: 'text', text: part.text }
      : { type: 'image_url', image_url: { url: `data:${part.mimeType};base64,${part.data}` } },
  );
}

/** What a model thought before it called tools goes back under the name that it came under: some refuse to go on without it. */
function toThought(blocks: (WireTurn & { role: 'assistant' })['blocks']): Partial<Record<ThoughtName, string>> {
  const thoughts = blocks.filter((block) => block.type === 'thinking');
  const name = thoughtNames.find((one) => thoughts.some(({ signature }) => signature === one));
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
      ...(calls.length === 0 ? {} : { ...toThought(blocks), tool_calls: calls }),
    },
  ];
}

/** Compatible servers leave things out, whatever the types say. */
interface Told extends Partial<Omit<Chunk, 'usage' | 'choices' | 'object'>> {
  object?: string;
  choices?: (Partial<Chunk['choices'][number]> & { message?: unknown })[];
  /** Routers such as OpenRouter say what it cost in dollars. */
  usage?: (Partial<NonNullable<Chunk['usage']>> & { cost?: unknown }) | null;
  /** Of errors that come as chunks. */
  code?: unknown;
  message?: unknown;
}

type Said = ReturnType<Reader<Chunk>['read']>;

function createReader(asked: Asked): Reader<Chunk> {
  let finish: string | undefined;
  let usage: Usage | null = null;
  let hasSpoken = false;
  const placeOf = createBlockNumbers();
  const calls = createCallReader(placeOf);

  function said(delta: Delta): Said {
    const name = thoughtNames.find((one) => isFilledText(delta[one]));
    const text = toWords(delta.content) || toWords(delta.refusal);
    return [
      ...(name === undefined
        ? []
        : [{ type: 'thinking' as const, block: placeOf('thinking'), text: toWord(delta[name]), signature: name }]),
      ...(text === '' ? [] : [{ type: 'text' as const, block: placeOf('text'), text }]),
      ...(delta.tool_calls ?? []).flatMap(calls.read),
    ];
  }

  return {
    read(chunk: Told) {
      if (chunk.object === 'error') return [{ type: 'failure', ...inStreamFailure(toWord(chunk.code), toWords(chunk.message), asked) }];
      if (chunk.usage) usage = toUsage(chunk.usage);
      const [choice] = chunk.choices ?? [];
      if (choice?.finish_reason) finish = choice.finish_reason;
      // Some send whole messages where pieces are due.
      const delta = (choice?.delta ?? choice?.message) as Delta | undefined;
      const deltas = delta ? said(delta) : [];
      hasSpoken ||= deltas.length > 0;
      return deltas;
    },
    ended(isWhole) {
      if (finish === undefined) return isWhole && hasSpoken ? { type: 'end', stopReason: 'stop', usage } : undefined;
      if (brokenOff.has(finish)) return undefined;
      if (finish === 'content_filter')
        return { type: 'failure', message: `${asked.provider} stopped the answer because of its content filter`, usage };
      if (tooLong.has(finish))
        return hasSpoken ? { type: 'end', stopReason: 'length', usage } : { type: 'failure', ...overflowFailure(asked) };
      return { type: 'end', stopReason: stopReasons[finish] ?? 'stop', usage };
    },
  };
}

function toUsage({ prompt_tokens, completion_tokens, prompt_tokens_details, cost }: NonNullable<Told['usage']>): Usage {
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

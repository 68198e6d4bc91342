import type * as Chat from 'openai/resources/chat/completions';
import type { StopReason, Usage } from '../protocol/messages.js';
import type { Asked } from './failures.js';
import { nothingFromTheEnvironment } from './openai-models.js';
import type { ModelDelta, ModelRequest, Provider } from './port.js';
import { modelIdOf, type KnownModel, type ProviderSettings } from './settings.js';
import { streamResponse, type Dialect } from './streamed.js';
import { textOfParts, toTurns, type Part, type WireTurn } from './turns.js';

type Chunk = Chat.ChatCompletionChunk;
type Message = Chat.ChatCompletionMessageParam;
/** Servers have two names for what a model thinks before it answers. */
type Delta = Chat.ChatCompletionChunk.Choice.Delta & { reasoning_content?: unknown; reasoning?: unknown };

const stopReasons: Record<string, StopReason> = {
  stop: 'stop',
  length: 'length',
  tool_calls: 'tool_use',
  function_call: 'tool_use',
};

/** Speaks Chat Completions, to every server that does: Ollama, llama.cpp, vLLM, LM Studio, OpenRouter and many more. */
export function createChatProvider(settings: ProviderSettings, known: (model: string) => KnownModel): Provider {
  return {
    stream(request, signal) {
      const dialect: Dialect<Chunk> = {
        async open({ lean }, options, stop) {
          const { OpenAI } = await import('openai');
          const client = new OpenAI({ ...options, ...nothingFromTheEnvironment });
          const { reasoning_effort, ...plain } = toBody(request, known(request.model), settings);
          const body = lean || reasoning_effort === undefined ? plain : { ...plain, reasoning_effort };
          return client.chat.completions.create(body, { signal: stop });
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
): Chat.ChatCompletionCreateParamsStreaming {
  const maxOutput = request.maxOutput ?? model.maxOutput;
  // OpenAI itself has renamed the bound; nobody else has to know the new name.
  const bound = new URL(baseUrl).hostname === 'api.openai.com' ? 'max_completion_tokens' : 'max_tokens';
  return {
    model: modelIdOf(request.model),
    stream: true,
    stream_options: { include_usage: true },
    messages: [{ role: 'system', content: request.system }, ...toTurns(request, model).flatMap(toMessages)],
    ...(maxOutput === null ? {} : { [bound]: maxOutput }),
    ...(verbosity === undefined ? {} : { verbosity }),
    ...(request.thinking === 'off' ? {} : { reasoning_effort: request.thinking }),
    ...(request.tools.length === 0 ? {} : { tools: request.tools.map(toTool) }),
  };
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
  const [first] = parts;
  if (parts.length === 1 && first?.type === 'text') return first.text;
  return parts.map((part) =>
    part.type === 'text'
      ? { type: 'text', text: part.text }
      : { type: 'image_url', image_url: { url: `data:${part.mimeType};base64,${part.data}` } },
  );
}

function toAssistant(blocks: (WireTurn & { role: 'assistant' })['blocks']): Message[] {
  const text = blocks.flatMap((block) => (block.type === 'text' ? [block.text] : [])).join('');
  const calls = blocks.flatMap((block): Chat.ChatCompletionMessageFunctionToolCall[] =>
    block.type === 'call'
      ? [{ type: 'function', id: block.id, function: { name: block.name, arguments: JSON.stringify(block.args) } }]
      : [],
  );
  if (text === '' && calls.length === 0) return [];
  return [{ role: 'assistant', ...(text === '' ? {} : { content: text }), ...(calls.length === 0 ? {} : { tool_calls: calls }) }];
}

const thinkingBlock = 0;
const textBlock = 1;
const firstCallBlock = 2;

function createReader({ provider }: Asked): ReturnType<Dialect<Chunk>['reader']> {
  let begun = false;
  let finish: string | undefined;
  let usage: Usage | null = null;
  const calls = createCallPlaces();

  return {
    read(chunk) {
      const deltas: ModelDelta[] = begun ? [] : [{ type: 'begin' }];
      begun = true;
      if (chunk.usage) usage = toUsage(chunk.usage);
      const [choice] = chunk.choices as (Chunk['choices'][number] | undefined)[];
      if (!choice) return deltas;
      if (choice.finish_reason) finish = choice.finish_reason;
      const delta = choice.delta as Delta | undefined;
      if (!delta) return deltas;
      const thought = delta.reasoning_content ?? delta.reasoning;
      if (typeof thought === 'string' && thought !== '') deltas.push({ type: 'thinking', block: thinkingBlock, text: thought });
      const text = delta.content ?? delta.refusal;
      if (text) deltas.push({ type: 'text', block: textBlock, text });
      for (const call of delta.tool_calls ?? []) deltas.push(...calls.read(call));
      return deltas;
    },
    ended() {
      if (finish === undefined) return undefined;
      if (finish === 'content_filter') return { type: 'failure', message: `${provider} stopped the answer because of its content filter` };
      return { type: 'end', stopReason: stopReasons[finish] ?? 'stop', usage };
    },
  };
}

/** Which block each fragment of a call belongs to. Some servers give every call the index 0, or none: a new id is a new call. */
function createCallPlaces(): { read(call: Chat.ChatCompletionChunk.Choice.Delta.ToolCall): ModelDelta[] } {
  const open = new Map<number, { block: number; id: string }>();
  let count = 0;
  return {
    read({ index, id, function: named }) {
      const at = (index as number | undefined) ?? 0;
      const deltas: ModelDelta[] = [];
      let place = open.get(at);
      if (!place || (id && named?.name && place.id !== '' && id !== place.id)) {
        place = { block: firstCallBlock + count++, id: id ?? '' };
        open.set(at, place);
        deltas.push({ type: 'tool_call', block: place.block, id: id ?? '', name: named?.name ?? '' });
      }
      if (named?.arguments) deltas.push({ type: 'tool_arguments', block: place.block, json: named.arguments });
      return deltas;
    },
  };
}

function toUsage({ prompt_tokens, completion_tokens, prompt_tokens_details }: NonNullable<Chunk['usage']>): Usage {
  const cacheRead = prompt_tokens_details?.cached_tokens ?? 0;
  return {
    input: Math.max(0, prompt_tokens - cacheRead),
    output: completion_tokens,
    cache_read: cacheRead,
    cache_write: 0,
    cost_usd: null,
  };
}

import type * as Responses from 'openai/resources/responses/responses';
import { limits } from '../../protocol/limits.js';
import type { StopReason, Usage } from '../../protocol/messages.js';
import { cutFailure, inStreamFailure, type Asked } from '../failures.js';
import { nothingFromTheEnvironment, reasoningEffort } from './openai-reasoning.js';
import type { ModelRequest, Phase, Provider } from '../port.js';
import type { RequestFeatures } from './request-fallbacks.js';
import { readOpenAiStream } from './openai-stream.js';
import { withOwnHeaders } from '../http/own-headers.js';
import { createBlockNumbers } from './block-numbers.js';
import { modelIdOf, type KnownModel, type ProviderSettings } from '../settings.js';
import { streamResponse, type Dialect, type Reader } from './stream-response.js';
import { isFilledText, toJson, toWord } from './coerce.js';
import { textOfParts, toTurns, type Part, type SaidBlock, type WireTurn } from './model-turns.js';

type Event = Responses.ResponseStreamEvent;
type Item = Responses.ResponseInputItem;
type Body = Responses.ResponseCreateParamsStreaming;

/** Speaks the Responses API. Nothing is stored at the provider: reasoning comes encrypted, and goes back with the history. */
export function createResponsesProvider(settings: ProviderSettings, known: (model: string) => KnownModel): Provider {
  return {
    stream(request, signal) {
      const dialect: Dialect<Event> = {
        pieceBytes: limits.openAiPieceBytes,
        async open(manner, options, stop) {
          const { OpenAI, APIError } = await import('openai');
          const client = withOwnHeaders(new OpenAI({ ...options, ...nothingFromTheEnvironment }), options);
          const body = toBody(request, known(request.model), settings, manner);
          const response = await client.responses.create(body, { signal: stop }).asResponse();
          return readOpenAiStream<Event>(response, APIError);
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
  { verbosity }: Pick<ProviderSettings, 'verbosity'>,
  { thoughts, level }: RequestFeatures,
): Body {
  const effort = level ? reasoningEffort(model.id, request.thinking) : undefined;
  const maxOutput = request.maxOutput ?? model.maxOutput;
  return {
    model: modelIdOf(request.model),
    stream: true,
    store: false,
    ...(request.system.trim() === '' ? {} : { instructions: request.system }),
    input: toTurns(request, model, (signature) => (thoughts && readReasoning(signature) ? signature : undefined)).flatMap(toItems),
    prompt_cache_key: request.sessionId,
    ...(maxOutput === null ? {} : { max_output_tokens: Math.max(limits.openAiOutputTokensMin, maxOutput) }),
    ...(effort === undefined ? {} : { reasoning: { effort, summary: 'auto' as const }, include: ['reasoning.encrypted_content' as const] }),
    ...(verbosity === undefined || !level ? {} : { text: { verbosity } }),
    ...(request.tools.length === 0 ? {} : { tools: request.tools.map(toTool), parallel_tool_calls: true }),
  };
}

/** The reasoning item that a signature is; undefined for those that another API made under the same name. */
function readReasoning(signature: string): Responses.ResponseReasoningItem | undefined {
  if (!signature.startsWith('{"type":"reasoning"')) return undefined;
  return JSON.parse(signature) as Responses.ResponseReasoningItem;
}

function toTool({ name, description, parameters }: ModelRequest['tools'][number]): Responses.FunctionTool {
  return { type: 'function', name, description, parameters, strict: false };
}

function toItems(turn: WireTurn): Item[] {
  if (turn.role === 'assistant') return turn.blocks.map(toSaidItem);
  const outputs = turn.answers.map(({ id, parts }): Item => {
    const output = parts.some((part) => part.type === 'image') ? parts.map(toInputPart) : textOfParts(parts);
    return { type: 'function_call_output', call_id: id, output };
  });
  return turn.parts.length === 0 ? outputs : [...outputs, { type: 'message', role: 'user', content: turn.parts.map(toInputPart) }];
}

function toInputPart(part: Part): Responses.ResponseInputText | Responses.ResponseInputImage {
  if (part.type === 'text') return { type: 'input_text', text: part.text };
  return { type: 'input_image', detail: 'auto', image_url: `data:${part.mimeType};base64,${part.data}` };
}

function toSaidItem(block: SaidBlock): Item {
  switch (block.type) {
    case 'text':
      return { type: 'message', role: 'assistant', content: block.text, ...(block.phase === undefined ? {} : { phase: block.phase }) };
    case 'call':
      return { type: 'function_call', call_id: block.id, name: block.name, arguments: JSON.stringify(block.args) };
    case 'thinking':
      return JSON.parse(block.signature) as Responses.ResponseReasoningItem;
  }
}

type Said = ReturnType<Reader<Event>['read']>;

function createReader(asked: Asked): Reader<Event> {
  /** Texts and arguments that came as fragments; some servers send them only whole. */
  const argued = new Set<number>();
  const worded = new Set<number>();
  /** Arguments that came with the beginning of a call. */
  const given = new Map<number, string>();
  const numberOf = createBlockNumbers();
  let calls = 0;

  function placeOf({ output_index, content_index = 0 }: { output_index: number; content_index?: number }): number {
    return numberOf(`${output_index}.${content_index}`);
  }

  function argumentsOf(outputIndex: number, json: unknown): Said {
    if (argued.has(outputIndex) || !isFilledText(json)) return [];
    argued.add(outputIndex);
    return [{ type: 'tool_arguments', block: placeOf({ output_index: outputIndex }), json }];
  }

  function itemAdded(item: Responses.ResponseOutputItem, output_index: number): Said {
    if (item.type !== 'function_call' || given.has(output_index)) return [];
    calls++;
    given.set(output_index, toJson(item.arguments));
    return [{ type: 'tool_call', block: placeOf({ output_index }), id: toWord(item.call_id), name: toWord(item.name) }];
  }

  function words(at: { output_index: number; content_index?: number }, text: unknown, phase: Phase | null = null): Said {
    const block = placeOf(at);
    const isNew = !worded.has(block) && isFilledText(text);
    worded.add(block);
    return isNew || phase ? [{ type: 'text', block, text: isNew ? text : '', ...(phase ? { phase } : {}) }] : [];
  }

  function itemDone(item: Responses.ResponseOutputItem, output_index: number): Said {
    if (item.type === 'function_call') return [...itemAdded(item, output_index), ...argumentsOf(output_index, toJson(item.arguments))];
    if (item.type === 'message') {
      return item.content.flatMap((part, content_index) =>
        words({ output_index, content_index }, part.type === 'output_text' ? part.text : part.refusal, item.phase),
      );
    }
    if (item.type !== 'reasoning' || !item.encrypted_content) return [];
    const { id, summary, encrypted_content } = item;
    const signature = JSON.stringify({ type: 'reasoning', id, summary, encrypted_content } satisfies Responses.ResponseReasoningItem);
    return [{ type: 'thinking', block: placeOf({ output_index }), text: '', signature }];
  }

  function said(event: { output_index: number; content_index: number; delta: string }): Said {
    if (!isFilledText(event.delta)) return [];
    const block = placeOf(event);
    worded.add(block);
    return [{ type: 'text', block, text: event.delta }];
  }

  /** Servers send the last event of an answer that went well for all of them: what counts is the status in it. */
  function ended(response: Partial<Responses.Response>, told: string): Said {
    const status = response.status && response.status !== 'completed' ? response.status : told;
    const usage = toUsage(response.usage);
    const spent = usage ? { usage } : {};
    if (status === 'incomplete') return [toIncomplete(response, asked)];
    if (status === 'failed') {
      const { code = '', message = 'no reason was given' } = response.error ?? {};
      return [{ type: 'failure', ...inStreamFailure(toWord(code), message, asked), ...spent }];
    }
    if (status === 'cancelled') return [{ type: 'failure', ...cutFailure(asked), ...spent }];
    return [
      ...[...given].flatMap(([index, json]) => argumentsOf(index, json)),
      { type: 'end', stopReason: calls > 0 ? 'tool_use' : 'stop', usage },
    ];
  }

  return {
    read(event) {
      switch (event.type) {
        case 'response.output_item.added':
          return itemAdded(event.item, event.output_index);
        case 'response.output_text.delta':
        case 'response.refusal.delta':
          return said(event);
        case 'response.output_text.done':
          return words(event, event.text);
        case 'response.reasoning_summary_part.added':
          return event.summary_index === 0
            ? []
            : [{ type: 'thinking', block: placeOf({ output_index: event.output_index }), text: '\n\n' }];
        case 'response.reasoning_summary_text.delta':
        case 'response.reasoning_text.delta':
          return [{ type: 'thinking', block: placeOf({ output_index: event.output_index }), text: event.delta }];
        case 'response.function_call_arguments.delta':
          argued.add(event.output_index);
          return [{ type: 'tool_arguments', block: placeOf(event), json: event.delta }];
        case 'response.function_call_arguments.done':
          return argumentsOf(event.output_index, toJson(event.arguments));
        case 'response.output_item.done':
          return itemDone(event.item, event.output_index);
        case 'response.completed':
        case 'response.incomplete':
        case 'response.failed':
          return ended(event.response, event.type.slice('response.'.length));
        case 'error':
          return [{ type: 'failure', ...inStreamFailure(toWord(event.code) || 'server_error', event.message, asked) }];
        default:
          return [];
      }
    },
    ended: () => undefined,
  };
}

function toIncomplete({ incomplete_details, usage }: Partial<Responses.Response>, { provider }: Asked): Said[number] {
  const reason = incomplete_details?.reason;
  if (reason === 'content_filter')
    return { type: 'failure', message: `${provider} stopped the answer because of its content filter`, usage: toUsage(usage) };
  const stopReason: StopReason = 'length';
  return { type: 'end', stopReason, usage: toUsage(usage) };
}

/** Compatible servers leave numbers out, whatever the types say. */
type Told = Partial<Omit<Responses.ResponseUsage, 'input_tokens_details'>> & {
  input_tokens_details?: Partial<Responses.ResponseUsage.InputTokensDetails> | null;
};

function toUsage(usage: Told | undefined | null): Usage | null {
  if (!usage) return null;
  const cacheRead = usage.input_tokens_details?.cached_tokens ?? 0;
  const cacheWrite = usage.input_tokens_details?.cache_write_tokens ?? 0;
  return {
    input: Math.max(0, (usage.input_tokens ?? 0) - cacheRead - cacheWrite),
    output: usage.output_tokens ?? 0,
    cache_read: cacheRead,
    cache_write: cacheWrite,
    cost_usd: null,
  };
}

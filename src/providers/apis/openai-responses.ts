import type * as Responses from 'openai/resources/responses/responses';
import { limits } from '../../protocol/limits.js';
import type { StopReason, Usage } from '../../protocol/messages.js';
import { cutFailure, inStreamFailure, type FailureContext } from '../failures.js';
import { nothingFromTheEnvironment, reasoningEffort } from './openai-reasoning.js';
import type { ModelRequest, Phase, Provider } from '../port.js';
import type { RequestFeatures } from './request-fallbacks.js';
import { readOpenAiStream } from './openai-stream.js';
import { withOwnHeaders } from '../http/own-headers.js';
import { createBlockNumbers } from './block-numbers.js';
import { modelIdOf, type KnownModel, type ProviderSettings } from '../settings.js';
import { streamResponse, type Dialect, type Reader } from './stream-response.js';
import { isFilledText, coerceJson, coerceText } from './coerce.js';
import { textOfParts, toTurns, type Part, type AssistantBlock, type WireTurn } from './model-turns.js';

type Event = Responses.ResponseStreamEvent;
type Item = Responses.ResponseInputItem;
type Body = Responses.ResponseCreateParamsStreaming;

/** Adapter for the Responses API. Stateless (`store: false`): encrypted reasoning items go back with the history. */
export function createResponsesProvider(settings: ProviderSettings, factsOf: (model: string) => KnownModel): Provider {
  return {
    stream(request, signal) {
      const dialect: Dialect<Event> = {
        pieceBytes: limits.openAiPieceBytes,
        async open(features, options, stop) {
          const { OpenAI, APIError } = await import('openai');
          const client = withOwnHeaders(new OpenAI({ ...options, ...nothingFromTheEnvironment }), options);
          const body = toBody(request, factsOf(request.model), settings, features);
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

/** Parses a signature as a reasoning item; undefined for a signature of another API. */
function readReasoning(signature: string): Responses.ResponseReasoningItem | undefined {
  if (!signature.startsWith('{"type":"reasoning"')) return undefined;
  return JSON.parse(signature) as Responses.ResponseReasoningItem;
}

function toTool({ name, description, parameters }: ModelRequest['tools'][number]): Responses.FunctionTool {
  return { type: 'function', name, description, parameters, strict: false };
}

function toItems(turn: WireTurn): Item[] {
  if (turn.role === 'assistant') return turn.blocks.map(toAssistantItem);
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

function toAssistantItem(block: AssistantBlock): Item {
  switch (block.type) {
    case 'text':
      return { type: 'message', role: 'assistant', content: block.text, ...(block.phase === undefined ? {} : { phase: block.phase }) };
    case 'call':
      return { type: 'function_call', call_id: block.id, name: block.name, arguments: JSON.stringify(block.args) };
    case 'thinking':
      return JSON.parse(block.signature) as Responses.ResponseReasoningItem;
  }
}

type Deltas = ReturnType<Reader<Event>['read']>;

function createReader(context: FailureContext): Reader<Event> {
  /** Items whose text or arguments came as deltas; some servers send only the whole item. */
  const withArguments = new Set<number>();
  const withText = new Set<number>();
  /** Arguments in the first event of a tool call. */
  const initialArguments = new Map<number, string>();
  const numberByKey = createBlockNumbers();
  let calls = 0;

  function blockNumber({ output_index, content_index = 0 }: { output_index: number; content_index?: number }): number {
    return numberByKey(`${output_index}.${content_index}`);
  }

  function argumentsOf(outputIndex: number, json: unknown): Deltas {
    if (withArguments.has(outputIndex) || !isFilledText(json)) return [];
    withArguments.add(outputIndex);
    return [{ type: 'tool_arguments', block: blockNumber({ output_index: outputIndex }), json }];
  }

  function itemAdded(item: Responses.ResponseOutputItem, output_index: number): Deltas {
    if (item.type !== 'function_call' || initialArguments.has(output_index)) return [];
    calls++;
    initialArguments.set(output_index, coerceJson(item.arguments));
    return [{ type: 'tool_call', block: blockNumber({ output_index }), id: coerceText(item.call_id), name: coerceText(item.name) }];
  }

  function wholeText(at: { output_index: number; content_index?: number }, text: unknown, phase: Phase | null = null): Deltas {
    const block = blockNumber(at);
    const isNew = !withText.has(block) && isFilledText(text);
    withText.add(block);
    return isNew || phase ? [{ type: 'text', block, text: isNew ? text : '', ...(phase ? { phase } : {}) }] : [];
  }

  function itemDone(item: Responses.ResponseOutputItem, output_index: number): Deltas {
    if (item.type === 'function_call') return [...itemAdded(item, output_index), ...argumentsOf(output_index, coerceJson(item.arguments))];
    if (item.type === 'message') {
      return item.content.flatMap((part, content_index) =>
        wholeText({ output_index, content_index }, part.type === 'output_text' ? part.text : part.refusal, item.phase),
      );
    }
    if (item.type !== 'reasoning' || !item.encrypted_content) return [];
    const { id, summary, encrypted_content } = item;
    const signature = JSON.stringify({ type: 'reasoning', id, summary, encrypted_content } satisfies Responses.ResponseReasoningItem);
    return [{ type: 'thinking', block: blockNumber({ output_index }), text: '', signature }];
  }

  function textDelta(event: { output_index: number; content_index: number; delta: string }): Deltas {
    if (!isFilledText(event.delta)) return [];
    const block = blockNumber(event);
    withText.add(block);
    return [{ type: 'text', block, text: event.delta }];
  }

  /** Some servers end every answer with response.completed: the status in it decides. */
  function toEnd(response: Partial<Responses.Response>, eventStatus: string): Deltas {
    const status = response.status && response.status !== 'completed' ? response.status : eventStatus;
    const usage = toUsage(response.usage);
    const spent = usage ? { usage } : {};
    if (status === 'incomplete') return [toIncomplete(response, context)];
    if (status === 'failed') {
      const { code = '', message = 'no reason was given' } = response.error ?? {};
      return [{ type: 'failure', ...inStreamFailure(coerceText(code), message, context), ...spent }];
    }
    if (status === 'cancelled') return [{ type: 'failure', ...cutFailure(context), ...spent }];
    return [
      ...[...initialArguments].flatMap(([index, json]) => argumentsOf(index, json)),
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
          return textDelta(event);
        case 'response.output_text.done':
          return wholeText(event, event.text);
        case 'response.reasoning_summary_part.added':
          return event.summary_index === 0
            ? []
            : [{ type: 'thinking', block: blockNumber({ output_index: event.output_index }), text: '\n\n' }];
        case 'response.reasoning_summary_text.delta':
        case 'response.reasoning_text.delta':
          return [{ type: 'thinking', block: blockNumber({ output_index: event.output_index }), text: event.delta }];
        case 'response.function_call_arguments.delta':
          withArguments.add(event.output_index);
          return [{ type: 'tool_arguments', block: blockNumber(event), json: event.delta }];
        case 'response.function_call_arguments.done':
          return argumentsOf(event.output_index, coerceJson(event.arguments));
        case 'response.output_item.done':
          return itemDone(event.item, event.output_index);
        case 'response.completed':
        case 'response.incomplete':
        case 'response.failed':
          return toEnd(event.response, event.type.slice('response.'.length));
        case 'error':
          return [{ type: 'failure', ...inStreamFailure(coerceText(event.code) || 'server_error', event.message, context) }];
        default:
          return [];
      }
    },
    ended: () => undefined,
  };
}

function toIncomplete({ incomplete_details, usage }: Partial<Responses.Response>, { provider }: FailureContext): Deltas[number] {
  const reason = incomplete_details?.reason;
  if (reason === 'content_filter')
    return { type: 'failure', message: `${provider} stopped the answer because of its content filter`, usage: toUsage(usage) };
  const stopReason: StopReason = 'length';
  return { type: 'end', stopReason, usage: toUsage(usage) };
}

/** Compatible servers omit fields that the SDK's types require. */
type LooseUsage = Partial<Omit<Responses.ResponseUsage, 'input_tokens_details'>> & {
  input_tokens_details?: Partial<Responses.ResponseUsage.InputTokensDetails> | null;
};

function toUsage(usage: LooseUsage | undefined | null): Usage | null {
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

import { createHash } from 'node:crypto';
import type * as Messages from '@anthropic-ai/sdk/resources/messages/messages';
import { limits } from '../../protocol/limits.js';
import type { StopReason, Usage } from '../../protocol/messages.js';
import { toThinking } from './anthropic-thinking.js';
import type { FailureContext } from '../failures.js';
import type { ModelRequest, Provider } from '../port.js';
import type { RequestFeatures } from './request-fallbacks.js';
import { withOwnHeaders } from '../http/own-headers.js';
import { createBlockNumbers } from './block-numbers.js';
import { modelIdOf, type KnownModel, type ProviderSettings } from '../settings.js';
import { streamResponse, type Dialect, type Reader } from './stream-response.js';
import { isFilledText, coerceJson, coerceText } from './coerce.js';
import { toTurns, type Part, type AssistantBlock, type WireTurn } from './model-turns.js';

type Event = Messages.RawMessageStreamEvent;
type Block = Messages.ContentBlockParam;

/** Adapter for the Messages API, with signed thinking blocks and prompt caching. */
export function createAnthropicProvider(settings: ProviderSettings, factsOf: (model: string) => KnownModel): Provider {
  return {
    stream(request, signal) {
      const prefix = prefixOf(request);
      const dialect: Dialect<Event> = {
        pieceBytes: Infinity,
        async open(features, options, stop) {
          const { Anthropic } = await import('@anthropic-ai/sdk');
          const client = withOwnHeaders(new Anthropic({ ...options, authToken: null, webhookKey: null, openTelemetry: false }), options);
          return client.messages.create(toBody(request, factsOf(request.model), prefix, features), { signal: stop });
        },
        reader: (context) => createReader(context, prefix),
      };
      return streamResponse(dialect, settings, request, signal);
    },
  };
}

/** A hash of system prompt and tools. The provider refuses thinking signatures that were made under others. */
function prefixOf({ system, tools }: ModelRequest): string {
  return createHash('sha256')
    .update(JSON.stringify([system, tools]))
    .digest('base64url')
    .slice(0, 12);
}

function toBody(
  request: ModelRequest,
  model: KnownModel,
  prefix: string,
  { thoughts, level }: RequestFeatures,
): Messages.MessageCreateParamsStreaming {
  const mark = `${prefix}:`;
  const turns = toTurns(request, model, (signature) => (thoughts && signature.startsWith(mark) ? signature.slice(mark.length) : undefined));
  const answerTokens = Math.min(request.maxOutput ?? limits.outputTokensDefault, model.maxOutput ?? limits.outputTokensDefault);
  const { params, maxTokens } = toThinking(model, request.thinking, answerTokens);
  // With a token budget, a turn that continues after tool results must have begun with a thinking block.
  const mayThink = level && (params.thinking?.type !== 'enabled' || !isAmidTools(turns) || beganWithThinking(turns));
  return {
    model: modelIdOf(request.model),
    stream: true,
    max_tokens: mayThink ? maxTokens : answerTokens,
    ...(request.system.trim() === '' ? {} : { system: [{ type: 'text', text: request.system, cache_control: { type: 'ephemeral' } }] }),
    messages: addCacheBreakpoints(turns.map(toMessage)),
    ...(mayThink ? params : {}),
    ...toTools(request.tools, turns),
  };
}

/** The API refuses a history with tool calls but no tools: the called tools are listed, with `tool_choice: none`. */
function toTools(tools: ModelRequest['tools'], turns: WireTurn[]): Pick<Messages.MessageCreateParams, 'tools' | 'tool_choice'> {
  if (tools.length > 0) return { tools: tools.map(toTool) };
  const called = turns.flatMap((turn) =>
    turn.role === 'user' ? [] : turn.blocks.flatMap((block) => (block.type === 'call' ? [block.name] : [])),
  );
  if (called.length === 0) return {};
  return { tools: [...new Set(called)].map((name) => toTool({ name, description: '', parameters: {} })), tool_choice: { type: 'none' } };
}

function toTool({ name, description, parameters }: ModelRequest['tools'][number]): Messages.Tool {
  return { name, description, input_schema: { ...parameters, type: 'object' } };
}

function isAmidTools(turns: WireTurn[]): boolean {
  const last = turns.at(-1);
  return last?.role === 'user' && last.answers.length > 0;
}

function beganWithThinking(turns: WireTurn[]): boolean {
  const answer = turns.findLast((turn) => turn.role === 'assistant');
  return answer?.blocks[0]?.type === 'thinking';
}

function toMessage(turn: WireTurn): { role: 'user' | 'assistant'; content: Block[] } {
  if (turn.role === 'assistant') return { role: 'assistant', content: turn.blocks.map(toAssistantBlock) };
  const answers = turn.answers.map(({ id, parts, isError }): Messages.ToolResultBlockParam => {
    const content = parts.map(toPart);
    // The API refuses images in a tool result with is_error.
    const isPlainError = isError && content.every(({ type }) => type === 'text');
    return { type: 'tool_result', tool_use_id: id, content, ...(isPlainError ? { is_error: true } : {}) };
  });
  return { role: 'user', content: [...answers, ...turn.parts.map(toPart)] };
}

function toPart(part: Part): Messages.TextBlockParam | Messages.ImageBlockParam {
  if (part.type === 'text') return { type: 'text', text: part.text };
  const media_type = part.mimeType as Messages.Base64ImageSource['media_type'];
  return { type: 'image', source: { type: 'base64', media_type, data: part.data } };
}

function toAssistantBlock(block: AssistantBlock): Block {
  switch (block.type) {
    case 'text':
      return { type: 'text', text: block.text };
    case 'thinking':
      if (block.redacted) return { type: 'redacted_thinking', data: block.signature };
      return { type: 'thinking', thinking: block.text, signature: block.signature };
    case 'call':
      return { type: 'tool_use', id: block.id, name: block.name, input: block.args };
  }
}

/** Prompt cache breakpoints: the newest user turn for the next request, the one before for this request. */
const cacheBreakpoints = 2;

function addCacheBreakpoints(messages: { role: 'user' | 'assistant'; content: Block[] }[]): Messages.MessageParam[] {
  let left = cacheBreakpoints;
  for (const { role, content } of messages.toReversed()) {
    const last = content.at(-1);
    if (left === 0) break;
    if (role !== 'user' || !last || last.type === 'thinking' || last.type === 'redacted_thinking') continue;
    content[content.length - 1] = { ...last, cache_control: { type: 'ephemeral' } };
    left--;
  }
  return messages;
}

/** Compatible servers omit fields that the SDK's types require. */
type LooseUsage = Partial<Messages.Usage | Messages.MessageDeltaUsage> | undefined;

function createReader({ provider }: FailureContext, prefix: string): Reader<Event> {
  const usage: Usage = { input: 0, output: 0, cache_read: 0, cache_write: 0, cost_usd: null };
  const blockNumber = createBlockNumbers();
  /** Arguments in the first event of a tool call; later fragments replace them. */
  const initialArguments = new Map<number, string>();
  let stopReason: Messages.StopReason | null = null;

  function noteUsage(reported: LooseUsage): void {
    usage.input = reported?.input_tokens ?? usage.input;
    usage.output = reported?.output_tokens ?? usage.output;
    usage.cache_read = reported?.cache_read_input_tokens ?? usage.cache_read;
    usage.cache_write = reported?.cache_creation_input_tokens ?? usage.cache_write;
  }

  function startBlock({ index, content_block: block }: Messages.RawContentBlockStartEvent): Deltas {
    if (block.type === 'tool_use' && coerceJson(block.input) !== '{}') initialArguments.set(index, coerceJson(block.input));
    return fromBlock(() => blockNumber(index), block, prefix);
  }

  function continueBlock({ index, delta }: Messages.RawContentBlockDeltaEvent): Deltas {
    if (delta.type === 'input_json_delta' && isFilledText(delta.partial_json)) initialArguments.delete(index);
    return fromDelta(() => blockNumber(index), delta, prefix);
  }

  function stopBlock(index: number): Deltas {
    const json = initialArguments.get(index) ?? '';
    initialArguments.delete(index);
    return json === '' ? [] : [{ type: 'tool_arguments', block: blockNumber(index), json }];
  }

  return {
    read(event) {
      switch (event.type) {
        case 'message_start':
          noteUsage(event.message.usage);
          return [];
        case 'content_block_start':
          return startBlock(event);
        case 'content_block_delta':
          return continueBlock(event);
        case 'content_block_stop':
          return stopBlock(event.index);
        case 'message_delta':
          stopReason = event.delta.stop_reason;
          noteUsage(event.usage);
          return [];
        case 'message_stop':
          return [...[...initialArguments.keys()].flatMap(stopBlock), toEnd(stopReason, usage, provider)];
        default:
          return [];
      }
    },
    // An answer with a stop reason is complete, even if message_stop is missing.
    ended: () => (stopReason === null || initialArguments.size > 0 ? undefined : toEnd(stopReason, usage, provider)),
  };
}

type Deltas = ReturnType<Reader<Event>['read']>;

function fromBlock(blockNumber: () => number, started: Messages.RawContentBlockStartEvent['content_block'], prefix: string): Deltas {
  switch (started.type) {
    case 'text':
      return isFilledText(started.text) ? [{ type: 'text', block: blockNumber(), text: started.text }] : [];
    case 'thinking':
      return isFilledText(started.thinking) ? [{ type: 'thinking', block: blockNumber(), text: started.thinking }] : [];
    case 'redacted_thinking':
      return [{ type: 'thinking', block: blockNumber(), text: '', signature: `${prefix}:${started.data}`, redacted: true }];
    case 'tool_use':
      return [{ type: 'tool_call', block: blockNumber(), id: coerceText(started.id), name: coerceText(started.name) }];
    default:
      return [];
  }
}

function fromDelta(blockNumber: () => number, delta: Messages.RawContentBlockDelta, prefix: string): Deltas {
  switch (delta.type) {
    case 'text_delta':
      return isFilledText(delta.text) ? [{ type: 'text', block: blockNumber(), text: delta.text }] : [];
    case 'thinking_delta':
      return isFilledText(delta.thinking) ? [{ type: 'thinking', block: blockNumber(), text: delta.thinking }] : [];
    case 'signature_delta':
      return [{ type: 'thinking', block: blockNumber(), text: '', signature: `${prefix}:${delta.signature}` }];
    case 'input_json_delta':
      return isFilledText(delta.partial_json) ? [{ type: 'tool_arguments', block: blockNumber(), json: delta.partial_json }] : [];
    default:
      return [];
  }
}

const stopReasons: Partial<Record<Messages.StopReason, StopReason>> = {
  max_tokens: 'length',
  model_context_window_exceeded: 'length',
  tool_use: 'tool_use',
};

function toEnd(reason: Messages.StopReason | null, usage: Usage, provider: string): Deltas[number] {
  if (reason === 'refusal') return { type: 'failure', message: `${provider} declined to answer this`, usage: { ...usage } };
  return { type: 'end', stopReason: (reason && stopReasons[reason]) ?? 'stop', usage: { ...usage } };
}

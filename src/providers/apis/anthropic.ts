import { createHash } from 'node:crypto';
import type * as Messages from '@anthropic-ai/sdk/resources/messages/messages';
import { limits } from '../../protocol/limits.js';
import type { StopReason, Usage } from '../../protocol/messages.js';
import { toThinking } from './anthropic-thinking.js';
import type { Asked } from '../failures.js';
import type { ModelRequest, Provider } from '../port.js';
import type { RequestFeatures } from './request-fallbacks.js';
import { withOwnHeaders } from '../http/own-headers.js';
import { createBlockNumbers } from './block-numbers.js';
import { modelIdOf, type KnownModel, type ProviderSettings } from '../settings.js';
import { streamResponse, type Dialect, type Reader } from './stream-response.js';
import { isFilledText, toJson, toWord } from './coerce.js';
import { toTurns, type Part, type SaidBlock, type WireTurn } from './model-turns.js';

type Event = Messages.RawMessageStreamEvent;
type Block = Messages.ContentBlockParam;

/** Speaks the Messages API. Thinking goes back signed, and prompts are marked where the provider may keep them. */
export function createAnthropicProvider(settings: ProviderSettings, known: (model: string) => KnownModel): Provider {
  return {
    stream(request, signal) {
      const prefix = prefixOf(request);
      const dialect: Dialect<Event> = {
        pieceBytes: Infinity,
        async open(manner, options, stop) {
          const { Anthropic } = await import('@anthropic-ai/sdk');
          const client = withOwnHeaders(new Anthropic({ ...options, authToken: null, webhookKey: null, openTelemetry: false }), options);
          return client.messages.create(toBody(request, known(request.model), prefix, manner), { signal: stop });
        },
        reader: (asked) => createReader(asked, prefix),
      };
      return streamResponse(dialect, settings, request, signal);
    },
  };
}

/** Signatures hold for the system prompt and the tools that they were made under: with others, the provider refuses them. */
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
  const { asked, maxTokens } = toThinking(model, request.thinking, answerTokens);
  // A model that was given a budget must have begun a turn with thinking before it goes on with it.
  const mayThink = level && (asked.thinking?.type !== 'enabled' || !isAmidTools(turns) || beganWithThinking(turns));
  return {
    model: modelIdOf(request.model),
    stream: true,
    max_tokens: mayThink ? maxTokens : answerTokens,
    ...(request.system.trim() === '' ? {} : { system: [{ type: 'text', text: request.system, cache_control: { type: 'ephemeral' } }] }),
    messages: markNewest(turns.map(toMessage)),
    ...(mayThink ? asked : {}),
    ...toTools(request.tools, turns),
  };
}

/** A history with calls is refused without tools: those that were called are named, and may not be called again. */
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
  const said = turns.findLast((turn) => turn.role === 'assistant');
  return said?.blocks[0]?.type === 'thinking';
}

function toMessage(turn: WireTurn): { role: 'user' | 'assistant'; content: Block[] } {
  if (turn.role === 'assistant') return { role: 'assistant', content: turn.blocks.map(toSaidBlock) };
  const answers = turn.answers.map(({ id, parts, isError }): Messages.ToolResultBlockParam => {
    const content = parts.map(toPart);
    // An error may not show images.
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

function toSaidBlock(block: SaidBlock): Block {
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

/** The provider keeps the prompt up to the marks: up to the newest words for the next request, up to the words before for this one. */
const markedTurns = 2;

function markNewest(messages: { role: 'user' | 'assistant'; content: Block[] }[]): Messages.MessageParam[] {
  let left = markedTurns;
  for (const { role, content } of messages.toReversed()) {
    const last = content.at(-1);
    if (left === 0) break;
    if (role !== 'user' || !last || last.type === 'thinking' || last.type === 'redacted_thinking') continue;
    content[content.length - 1] = { ...last, cache_control: { type: 'ephemeral' } };
    left--;
  }
  return messages;
}

/** Compatible servers leave things out, whatever the types say. */
type Told = Partial<Messages.Usage | Messages.MessageDeltaUsage> | undefined;

function createReader({ provider }: Asked, prefix: string): Reader<Event> {
  const usage: Usage = { input: 0, output: 0, cache_read: 0, cache_write: 0, cost_usd: null };
  const placeOf = createBlockNumbers();
  /** Arguments that came with the beginning of a call; fragments that follow count instead. */
  const given = new Map<number, string>();
  let stopReason: Messages.StopReason | null = null;

  function count(told: Told): void {
    usage.input = told?.input_tokens ?? usage.input;
    usage.output = told?.output_tokens ?? usage.output;
    usage.cache_read = told?.cache_read_input_tokens ?? usage.cache_read;
    usage.cache_write = told?.cache_creation_input_tokens ?? usage.cache_write;
  }

  function begin({ index, content_block: block }: Messages.RawContentBlockStartEvent): Said {
    if (block.type === 'tool_use' && toJson(block.input) !== '{}') given.set(index, toJson(block.input));
    return fromBlock(() => placeOf(index), block, prefix);
  }

  function goOn({ index, delta }: Messages.RawContentBlockDeltaEvent): Said {
    if (delta.type === 'input_json_delta' && isFilledText(delta.partial_json)) given.delete(index);
    return fromDelta(() => placeOf(index), delta, prefix);
  }

  function stopBlock(index: number): Said {
    const json = given.get(index) ?? '';
    given.delete(index);
    return json === '' ? [] : [{ type: 'tool_arguments', block: placeOf(index), json }];
  }

  return {
    read(event) {
      switch (event.type) {
        case 'message_start':
          count(event.message.usage);
          return [];
        case 'content_block_start':
          return begin(event);
        case 'content_block_delta':
          return goOn(event);
        case 'content_block_stop':
          return stopBlock(event.index);
        case 'message_delta':
          stopReason = event.delta.stop_reason;
          count(event.usage);
          return [];
        case 'message_stop':
          return [...[...given.keys()].flatMap(stopBlock), toEnd(stopReason, usage, provider)];
        default:
          return [];
      }
    },
    // Without its last event, an answer that said why it stops is whole.
    ended: () => (stopReason === null || given.size > 0 ? undefined : toEnd(stopReason, usage, provider)),
  };
}

type Said = ReturnType<Reader<Event>['read']>;

function fromBlock(place: () => number, started: Messages.RawContentBlockStartEvent['content_block'], prefix: string): Said {
  switch (started.type) {
    case 'text':
      return isFilledText(started.text) ? [{ type: 'text', block: place(), text: started.text }] : [];
    case 'thinking':
      return isFilledText(started.thinking) ? [{ type: 'thinking', block: place(), text: started.thinking }] : [];
    case 'redacted_thinking':
      return [{ type: 'thinking', block: place(), text: '', signature: `${prefix}:${started.data}`, redacted: true }];
    case 'tool_use':
      return [{ type: 'tool_call', block: place(), id: toWord(started.id), name: toWord(started.name) }];
    default:
      return [];
  }
}

function fromDelta(place: () => number, delta: Messages.RawContentBlockDelta, prefix: string): Said {
  switch (delta.type) {
    case 'text_delta':
      return isFilledText(delta.text) ? [{ type: 'text', block: place(), text: delta.text }] : [];
    case 'thinking_delta':
      return isFilledText(delta.thinking) ? [{ type: 'thinking', block: place(), text: delta.thinking }] : [];
    case 'signature_delta':
      return [{ type: 'thinking', block: place(), text: '', signature: `${prefix}:${delta.signature}` }];
    case 'input_json_delta':
      return isFilledText(delta.partial_json) ? [{ type: 'tool_arguments', block: place(), json: delta.partial_json }] : [];
    default:
      return [];
  }
}

const stopReasons: Partial<Record<Messages.StopReason, StopReason>> = {
  max_tokens: 'length',
  model_context_window_exceeded: 'length',
  tool_use: 'tool_use',
};

function toEnd(reason: Messages.StopReason | null, usage: Usage, provider: string): Said[number] {
  if (reason === 'refusal') return { type: 'failure', message: `${provider} declined to answer this`, usage: { ...usage } };
  return { type: 'end', stopReason: (reason && stopReasons[reason]) ?? 'stop', usage: { ...usage } };
}

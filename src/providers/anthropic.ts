import { createHash } from 'node:crypto';
import type * as Messages from '@anthropic-ai/sdk/resources/messages/messages';
import { limits } from '../protocol/limits.js';
import type { StopReason, Usage } from '../protocol/messages.js';
import { toThinking } from './anthropic-thinking.js';
import type { Asked } from './failures.js';
import type { ModelDelta, ModelRequest, Provider } from './port.js';
import { modelIdOf, type KnownModel, type ProviderSettings } from './settings.js';
import { streamResponse, type Dialect } from './streamed.js';
import { toTurns, type Part, type SaidBlock, type WireTurn } from './turns.js';

type Event = Messages.RawMessageStreamEvent;
type Block = Messages.ContentBlockParam;

/** Speaks the Messages API. Thinking goes back signed, and prompts are marked where the provider may keep them. */
export function createAnthropicProvider(settings: ProviderSettings, known: (model: string) => KnownModel): Provider {
  return {
    stream(request, signal) {
      const prefix = prefixOf(request);
      const dialect: Dialect<Event> = {
        async open({ lean }, options, stop) {
          const { Anthropic } = await import('@anthropic-ai/sdk');
          const client = new Anthropic({ ...options, authToken: null, webhookKey: null });
          return client.messages.create(toBody(request, known(request.model), prefix, lean), { signal: stop });
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

function toBody(request: ModelRequest, model: KnownModel, prefix: string, lean: boolean): Messages.MessageCreateParamsStreaming {
  const turns = toTurns(request, model);
  const signed = lean ? turns.map(withoutThinking) : turns.map((turn) => withThinkingOf(turn, prefix));
  const { budgetTokens, ...asked } = toThinking(model.id, request.thinking);
  const answerTokens = Math.min(request.maxOutput ?? limits.outputTokensDefault, model.maxOutput ?? limits.outputTokensDefault);
  // A model that was given a budget must have begun a turn with thinking before it goes on with it.
  const mayThink = !lean && (asked.thinking?.type !== 'enabled' || !isAmidTools(signed) || beganWithThinking(signed));
  return {
    model: modelIdOf(request.model),
    stream: true,
    max_tokens: mayThink ? answerTokens + budgetTokens : answerTokens,
    system: [{ type: 'text', text: request.system, cache_control: { type: 'ephemeral' } }],
    messages: markNewest(signed.map(toMessage)),
    ...(mayThink ? asked : {}),
    ...(request.tools.length === 0 ? {} : { tools: request.tools.map(toTool) }),
  };
}

function toTool({ name, description, parameters }: ModelRequest['tools'][number]): Messages.Tool {
  return { name, description, input_schema: { ...parameters, type: 'object' } };
}

function withoutThinking(turn: WireTurn): WireTurn {
  return turn.role === 'user' ? turn : { ...turn, blocks: turn.blocks.filter(({ type }) => type !== 'thinking') };
}

/** Thinking that was signed under the same prefix, without the mark that says so. */
function withThinkingOf(turn: WireTurn, prefix: string): WireTurn {
  if (turn.role === 'user') return turn;
  const mark = `${prefix}:`;
  const blocks = turn.blocks.flatMap((block): SaidBlock[] => {
    if (block.type !== 'thinking') return [block];
    return block.signature.startsWith(mark) ? [{ ...block, signature: block.signature.slice(mark.length) }] : [];
  });
  return { ...turn, blocks };
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

function createReader({ provider }: Asked, prefix: string): ReturnType<Dialect<Event>['reader']> {
  const usage: Usage = { input: 0, output: 0, cache_read: 0, cache_write: 0, cost_usd: null };
  let stopReason: Messages.StopReason | null = null;

  function count(told: Messages.Usage | Messages.MessageDeltaUsage): void {
    usage.input = told.input_tokens ?? usage.input;
    usage.output = told.output_tokens;
    usage.cache_read = told.cache_read_input_tokens ?? usage.cache_read;
    usage.cache_write = told.cache_creation_input_tokens ?? usage.cache_write;
  }

  return {
    read(event) {
      switch (event.type) {
        case 'message_start':
          count(event.message.usage);
          return [{ type: 'begin' }];
        case 'content_block_start':
          return fromBlock(event.index, event.content_block, prefix);
        case 'content_block_delta':
          return fromDelta(event.index, event.delta, prefix);
        case 'message_delta':
          stopReason = event.delta.stop_reason;
          count(event.usage);
          return [];
        case 'message_stop':
          return [toEnd(stopReason, usage, provider)];
        default:
          return [];
      }
    },
    ended: () => undefined,
  };
}

function fromBlock(block: number, started: Messages.RawContentBlockStartEvent['content_block'], prefix: string): ModelDelta[] {
  switch (started.type) {
    case 'text':
      return started.text === '' ? [] : [{ type: 'text', block, text: started.text }];
    case 'thinking':
      return started.thinking === '' ? [] : [{ type: 'thinking', block, text: started.thinking }];
    case 'redacted_thinking':
      return [{ type: 'thinking', block, text: '', signature: `${prefix}:${started.data}`, redacted: true }];
    case 'tool_use':
      return [{ type: 'tool_call', block, id: started.id, name: started.name }];
    default:
      return [];
  }
}

function fromDelta(block: number, delta: Messages.RawContentBlockDelta, prefix: string): ModelDelta[] {
  switch (delta.type) {
    case 'text_delta':
      return [{ type: 'text', block, text: delta.text }];
    case 'thinking_delta':
      return [{ type: 'thinking', block, text: delta.thinking }];
    case 'signature_delta':
      return [{ type: 'thinking', block, text: '', signature: `${prefix}:${delta.signature}` }];
    case 'input_json_delta':
      return [{ type: 'tool_arguments', block, json: delta.partial_json }];
    default:
      return [];
  }
}

const stopReasons: Partial<Record<Messages.StopReason, StopReason>> = {
  max_tokens: 'length',
  model_context_window_exceeded: 'length',
  tool_use: 'tool_use',
};

function toEnd(reason: Messages.StopReason | null, usage: Usage, provider: string): ModelDelta {
  if (reason === 'refusal') return { type: 'failure', message: `${provider} declined to answer this` };
  return { type: 'end', stopReason: (reason && stopReasons[reason]) ?? 'stop', usage: { ...usage } };
}

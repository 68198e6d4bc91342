import { createLiveMessages } from '../../src/engine/live/live-messages.js';
import { assembleContent } from '../../src/engine/run/assemble-content.js';
import type { ContentBlock } from '../../src/protocol/messages.js';
import type { KeyDeps } from '../../src/providers/keys.js';
import {
  toDeltaList,
  type ModelDelta,
  type ModelFailure,
  type ModelMessage,
  type ModelRequest,
  type ToolSpec,
  type Provider,
} from '../../src/providers/port.js';
import { createProviders, type ConfiguredProviders } from '../../src/providers/providers.js';
import type { Api, ProviderConfig } from '../../src/machine/provider-config.js';

/** A model of each API that thinks when it is told to. */
export const thinkers: Record<Api, string> = {
  anthropic: 'x/claude-sonnet-5-5',
  'openai-responses': 'x/gpt-6.1-sol',
  'openai-chat': 'x/local-model',
};
export const key = 'sk-test-0123456789abcdefWXYZ';
const never: AbortSignal = new AbortController().signal;

export const echo: ToolSpec = {
  name: 'echo',
  description: 'Says it back.',
  parameters: { type: 'object', properties: { text: { type: 'string' } } },
};

export function user(...content: (string | ContentBlock)[]): ModelMessage {
  return { role: 'user', content: content.map((block) => (typeof block === 'string' ? { type: 'text', text: block } : block)) };
}

export function assistant(model: string, ...content: ContentBlock[]): ModelMessage {
  return { role: 'assistant', content, model };
}

export function called(id: string, name = 'echo', args: Record<string, unknown> = {}): ContentBlock {
  return { type: 'tool_call', id, name, arguments: args };
}

export function result(toolCallId: string, ...content: (string | ContentBlock)[]): ModelMessage {
  return { ...user(...content), role: 'tool_result', toolCallId, toolName: 'echo', isError: false };
}

export interface AskingOptions extends Partial<KeyDeps> {
  config?: Partial<ProviderConfig>;
  /** Null: the config has none. */
  apiKey?: string | null;
  idleMs?: number;
}

export interface Asking {
  providers: ConfiguredProviders;
  stream(request?: Partial<ModelRequest>, signal?: AbortSignal): AsyncIterable<ModelDelta>;
  /** Everything that is said until the stream is over. */
  ask(request?: Partial<ModelRequest>, signal?: AbortSignal): Promise<ModelDelta[]>;
}

/** A provider named `x` at an address, asked as the engine asks it. */
export function createAsking(api: Api, baseUrl: string, options: AskingOptions = {}): Asking {
  const { config, apiKey = key, idleMs = 20_000, ...deps } = options;
  const own: ProviderConfig = { api, baseUrl, ...(apiKey === null ? {} : { apiKey }), headers: {}, models: [], ...config };
  const providers = createProviders(
    { providers: { x: own }, offlineWordsPerSecond: 0, modelIdleMs: idleMs },
    { env: {}, storedKey: () => undefined, runCommand: () => Promise.reject(new Error('no command was expected')), ...deps },
  );
  function stream(request: Partial<ModelRequest> = {}, signal = never): AsyncIterable<ModelDelta> {
    const whole: ModelRequest = {
      model: thinkers[api],
      sessionId: 'ses_1',
      thinking: 'off',
      system: 'You are a model.',
      messages: [user('hello')],
      tools: [echo],
      ...request,
    };
    return oneByOne(providers.find(whole.model)!.stream(whole, signal));
  }
  return { providers, stream, ask: (request, signal) => collect(stream(request, signal)) };
}

/** What a provider may hand over in groups. */
export async function* oneByOne(stream: ReturnType<Provider['stream']>): AsyncGenerator<ModelDelta, void> {
  for await (const came of stream) yield* toDeltaList(came);
}

export async function collect(stream: AsyncIterable<ModelDelta>): Promise<ModelDelta[]> {
  const deltas: ModelDelta[] = [];
  for await (const delta of stream) deltas.push(delta);
  return deltas;
}

export function textOf(deltas: ModelDelta[]): string {
  return deltas.flatMap((delta) => (delta.type === 'text' ? [delta.text] : [])).join('');
}

export function thinkingOf(deltas: ModelDelta[]): string {
  return deltas.flatMap((delta) => (delta.type === 'thinking' ? [delta.text] : [])).join('');
}

/** Calls in the order in which they begin, with the argument text that came for each. */
export function callsOf(deltas: ModelDelta[]): { id: string; name: string; json: string }[] {
  return deltas.flatMap((delta) => {
    if (delta.type !== 'tool_call') return [];
    const pieces = deltas.flatMap((other) => (other.type === 'tool_arguments' && other.block === delta.block ? [other.json] : []));
    return [{ id: delta.id, name: delta.name, json: pieces.join('') }];
  });
}

/** The failure that a stream ended with. */
export function failureOf(deltas: ModelDelta[]): ModelFailure {
  const last = deltas.at(-1);
  if (last?.type !== 'failure') throw new Error(`no failure: ${JSON.stringify(deltas)}`);
  const { type: _type, ...failure } = last;
  return failure;
}

/** The content that the engine makes of an answer. */
export function contentFrom(deltas: ModelDelta[]): ContentBlock[] {
  const live = createLiveMessages({ wake: () => undefined });
  const message = live.begin({ sessionId: 's', runId: 'r', turnId: 't', messageId: 'm' });
  for (const delta of deltas) {
    if (delta.type === 'text') {
      if (delta.phase !== undefined) live.setPhase(message, delta.block, delta.phase);
      live.append(message, delta.block, 'text', delta.text);
    } else if (delta.type === 'thinking') {
      if (delta.signature !== undefined) live.sign(message, delta.block, delta.signature, delta.redacted === true);
      live.append(message, delta.block, 'thinking', delta.text);
    } else if (delta.type === 'tool_call') live.introduceCall(message, delta.block, delta.id, delta.name);
    else if (delta.type === 'tool_arguments') live.append(message, delta.block, 'tool_call', delta.json);
  }
  return assembleContent(message, live, 'stop');
}

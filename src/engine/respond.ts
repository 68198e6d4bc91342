import { beginMessage, endMessage, settleRun } from '../core/runs.js';
import type { SessionState } from '../core/session.js';
import { limits } from '../protocol/limits.js';
import type { ContentBlock, StopReason, ToolCallBlock, Usage } from '../protocol/messages.js';
import type { RunError } from '../protocol/events.js';
import type { ModelDelta, ModelRequest, Provider, Providers, ToolSpec } from '../providers/port.js';
import type { Store } from '../store/store.js';
import { unlessAborted } from './abortable.js';
import type { PatientCommit } from './patience.js';
import type { FaultPoint } from './fault-points.js';
import { toModelMessages } from './history.js';
import type { LiveMessages, OpenMessage } from './live.js';

interface Deps {
  store: Store;
  commit: PatientCommit;
  live: LiveMessages;
  providers: Providers;
  toolSpecs(active: string[] | null): ToolSpec[];
  newId(prefix: 'msg'): string;
  fault(point: FaultPoint): void;
  /** Called when a message has said its first words: from now on it is saved now and then. */
  onFirstWords(): void;
}

type Ending = { stopReason: StopReason; usage: Usage | null } | { error: RunError } | 'stopped';

/** One model response: asks, streams into the live message, commits its end. The caller looks at the rows again afterwards. */
export function createRespond({ store, commit, live, providers, toolSpecs, newId, fault, onFirstWords }: Deps) {
  function toRequest(state: SessionState): ModelRequest {
    return {
      model: state.model.slice(state.model.indexOf('/') + 1),
      thinking: state.thinking,
      messages: toModelMessages(store.entries.history(state.leafId)),
      tools: toolSpecs(state.activeTools),
    };
  }

  async function read(
    stream: AsyncIterable<ModelDelta>,
    opened: () => Promise<OpenMessage | undefined>,
    signal: AbortSignal,
  ): Promise<Ending> {
    let message: OpenMessage | undefined;
    for await (const delta of stream) {
      if (signal.aborted) return 'stopped';
      if (delta.type === 'end') return { stopReason: delta.stopReason, usage: delta.usage };
      if (delta.type === 'failure') return { error: toError(delta) };
      message ??= await opened();
      if (!message) return 'stopped';
      if (delta.type === 'begin') continue;
      const silent = live.sizeOf(message) === 0;
      apply(message, delta);
      const size = live.sizeOf(message);
      if (silent && size > 0) onFirstWords();
      if (size > limits.messageTextUnitsMax) return { stopReason: 'length', usage: null };
    }
    return signal.aborted ? 'stopped' : { error: { code: 'provider_error', message: 'the model stopped in the middle of its answer' } };
  }

  function apply(message: OpenMessage, delta: Exclude<ModelDelta, { type: 'begin' | 'end' | 'failure' }>): void {
    switch (delta.type) {
      case 'text':
        return live.append(message, delta.block, 'text', delta.text);
      case 'thinking':
        if (delta.signature !== undefined) live.sign(message, delta.block, delta.signature);
        return live.append(message, delta.block, 'thinking', delta.text);
      case 'tool_call':
        return live.introduceCall(message, delta.block, delta.id, delta.name);
      case 'tool_arguments':
        return live.append(message, delta.block, 'tool_call', delta.json);
    }
  }

  async function streamOf(
    provider: Provider,
    request: ModelRequest,
    signal: AbortSignal,
    opened: () => Promise<OpenMessage | undefined>,
  ): Promise<Ending> {
    try {
      return (await unlessAborted(signal, read(provider.stream(request, signal), opened, signal))) ?? 'stopped';
    } catch (error) {
      // A provider that throws broke its contract; the run fails, the session goes on.
      if (signal.aborted) return 'stopped';
      const cause = error instanceof Error ? error.message : String(error);
      return { error: { code: 'provider_error', message: 'the provider broke', cause } };
    }
  }

  return async function respond(state: SessionState, signal: AbortSignal): Promise<void> {
    const provider = providers.find(state.model);
    const runId = state.run?.id ?? '';
    let message: OpenMessage | undefined;
    async function opened(): Promise<OpenMessage | undefined> {
      const messageId = newId('msg');
      const begun = await commit.decideForRun(state.id, runId, (now) => beginMessage(now, messageId));
      if (!begun.ok) return undefined;
      message = live.begin({ sessionId: state.id, runId, turnId: state.run?.turn?.id ?? '', messageId });
      fault('message.begun');
      return message;
    }
    const unknownModel = { code: 'provider_error', message: `no provider for the model ${state.model}; choose another with set_model` };
    const ending: Ending = provider ? await streamOf(provider, toRequest(state), signal, opened) : { error: unknownModel };
    // Aborted or stopped: whoever settles the run closes the message with what it has said.
    if (ending === 'stopped') return;
    if ('error' in ending) {
      const spoken = message ? live.content(message) : [];
      await commit.decideForRun(state.id, runId, (now, fresh) => settleRun(now, { outcome: 'failed', error: ending.error, spoken }, fresh));
    } else {
      message ??= await opened();
      if (!message) return;
      const said = message;
      fault('message.ending');
      const content = contentOf(said, live, ending.stopReason);
      const stopReason = content.some((block) => block.type === 'tool_call') ? 'tool_use' : ending.stopReason;
      await commit.decideForRun(state.id, runId, (now, fresh) =>
        endMessage(now, { id: said.messageId, content, stopReason, usage: ending.usage, model: state.model }, fresh),
      );
    }
    const ended = store.runs.active(state.id)?.message?.id !== message?.messageId;
    if (message && ended) live.end(message);
  };
}

function toError({ code, message, cause }: ModelDelta & { type: 'failure' }): RunError {
  const clipped = (text: string): string => text.slice(0, limits.errorTextCharsMax).toWellFormed();
  return { code, message: clipped(message), ...(cause === undefined ? {} : { cause: clipped(cause) }) };
}

/** What a message came to. Calls of a message that ran out of room were cut and are left out. */
function contentOf(message: OpenMessage, live: LiveMessages, stopReason: StopReason): ContentBlock[] {
  const ids = new Set<string>();
  const content: ContentBlock[] = [];
  for (const [index, block] of message.blocks.entries()) {
    if (block.kind !== 'tool_call') content.push(...live.contentOf(message, index));
    else if (stopReason !== 'length' && ids.size < limits.toolCallsPerMessageMax) {
      content.push(toCall(block.toolCallId ?? '', block.toolName ?? '', live.argumentsOf(message, index), ids));
    }
  }
  return content;
}

/** A call as the rest of the daemon can rely on it: an id of its own within the message, arguments that are an object. */
function toCall(id: string, name: string, json: string, ids: Set<string>): ToolCallBlock {
  const base = id === '' ? 'call' : id.slice(0, 200).toWellFormed();
  let unique = base;
  for (let n = 2; ids.has(unique); n++) unique = `${base}_${n}`;
  ids.add(unique);
  const call = { type: 'tool_call' as const, id: unique, name: name.slice(0, 200).toWellFormed() };
  if (json.length > limits.toolArgumentsBytesMax) return { ...call, arguments: {}, problem: 'The arguments are too long.' };
  const parsed = parseArguments(json);
  return parsed ? { ...call, arguments: parsed } : { ...call, arguments: {}, problem: 'The arguments are not a JSON object.' };
}

function parseArguments(json: string): Record<string, unknown> | undefined {
  if (json.trim() === '') return {};
  try {
    const value: unknown = JSON.parse(json);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : undefined;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

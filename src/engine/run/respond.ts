import { beginMessage, endResponse, settleRun } from '../../core/runs.js';
import type { SessionState } from '../../core/session.js';
import { limits } from '../../protocol/limits.js';
import type { StopReason, Usage } from '../../protocol/messages.js';
import { toDeltaList, type ModelDelta, type ModelFailure, type ModelRequest, type Provider, type Providers } from '../../providers/port.js';
import type { ReadStore } from '../../store/store.js';
import { undefinedIfAborted } from './abortable.js';
import { toRunError, type Attempted, type Attempts } from './attempts.js';
import type { Compactions } from './compactions.js';
import { contextSize, entrySize, percentLeft, promptSize, usedTokens, withCost } from './context-size.js';
import type { FaultPoint } from '../door/fault-points.js';
import { fitRequest, tightenRequest } from './shrink-tool-results.js';
import type { LiveMessages, OpenMessage } from '../live/live-messages.js';
import type { ModelRequests } from './model-requests.js';
import type { RetryingCommit } from '../door/retrying-commit.js';
import { assembleContent } from './assemble-content.js';
import type { StepContext } from './step-context.js';

interface Deps {
  store: ReadStore;
  commit: RetryingCommit;
  live: LiveMessages;
  providers(): Providers;
  toRequest: ModelRequests;
  attempt: Attempts;
  compactions: Compactions;
  newId(prefix: 'msg'): string;
  fault(point: FaultPoint): void;
  /** Called with the first text of a message: from then on checkpoints save the message. */
  onFirstWords(): void;
}

interface Ended {
  stopReason: StopReason;
  usage: Usage | null;
}

/** The message of a response; opened with the first delta. */
interface OpenResponse {
  message: OpenMessage | undefined;
  open(): Promise<OpenMessage | undefined>;
}

/** One model response: sends the request, streams into the live message, commits its end. The caller reads the rows for the next step. */
export function createRespond(deps: Deps) {
  const { store, commit, live, providers, toRequest, attempt, compactions, newId, fault, onFirstWords } = deps;

  async function read(stream: ReturnType<Provider['stream']>, response: OpenResponse, signal: AbortSignal): Promise<Attempted<Ended>> {
    for await (const batch of stream) {
      for (const delta of toDeltaList(batch)) {
        if (signal.aborted) return 'stopped';
        if (delta.type === 'end') return { answer: { stopReason: delta.stopReason, usage: delta.usage } };
        if (delta.type === 'failure') return { failure: delta };
        const message = (response.message ??= await response.open());
        if (!message) return 'stopped';
        if (delta.type === 'begin') continue;
        const isSilent = message.units === 0;
        apply(message, delta);
        if (isSilent && message.units > 0) onFirstWords();
        if (message.blocks.length > limits.messageBlocksMax)
          return { failure: { message: `the answer was truncated: it has more than ${limits.messageBlocksMax} content blocks` } };
        if (message.units > limits.messageTextUnitsMax) return { answer: { stopReason: 'length', usage: null } };
      }
    }
    return signal.aborted ? 'stopped' : { failure: { message: "the model's stream ended before the answer was complete", retry: {} } };
  }

  function apply(message: OpenMessage, delta: Exclude<ModelDelta, { type: 'begin' | 'end' | 'failure' }>): void {
    switch (delta.type) {
      case 'text':
        if (delta.phase !== undefined) live.setPhase(message, delta.block, delta.phase);
        return live.append(message, delta.block, 'text', delta.text);
      case 'thinking':
        if (delta.signature !== undefined) live.sign(message, delta.block, delta.signature, delta.redacted === true);
        return live.append(message, delta.block, 'thinking', delta.text);
      case 'tool_call':
        return live.introduceCall(message, delta.block, delta.id, delta.name);
      case 'tool_arguments':
        return live.append(message, delta.block, 'tool_call', delta.json);
    }
  }

  async function askOnce(
    provider: Provider,
    request: ModelRequest,
    signal: AbortSignal,
    response: OpenResponse,
  ): Promise<Attempted<Ended>> {
    try {
      const result = (await undefinedIfAborted(signal, read(provider.stream(request, signal), response, signal))) ?? 'stopped';
      return result !== 'stopped' && 'failure' in result ? { failure: priced(result.failure, request.model) } : result;
    } catch (error) {
      // An adapter must not throw: the run fails, the session goes on.
      if (signal.aborted) return 'stopped';
      const cause = error instanceof Error ? error.message : String(error);
      return { failure: { message: "the provider's adapter threw an exception, which is a bug in berth", cause } };
    }
  }

  /** A failure whose usage, if any, has its cost. */
  function priced(failure: ModelFailure, model: string): ModelFailure {
    return failure.usage ? { ...failure, usage: withCost(failure.usage, providers().facts(model).price) } : failure;
  }

  function createResponse(state: SessionState): OpenResponse {
    const runId = state.run?.id ?? '';
    return {
      message: undefined,
      async open() {
        const messageId = newId('msg');
        const begun = await commit.decideForRun(state.id, runId, (now) => beginMessage(now, messageId));
        if (!begun.ok) return undefined;
        const message = live.begin({ sessionId: state.id, runId, turnId: state.run?.turn?.id ?? '', messageId });
        fault('message.begun');
        return message;
      },
    };
  }

  async function endMessage(state: SessionState, message: OpenMessage, ended: Ended, sizeBefore: number): Promise<void> {
    fault('message.ending');
    const content = assembleContent(message, live, ended.stopReason);
    if (content.length === 0 && ended.stopReason === 'length') return fail(state, cutFailure(state, message), message);
    const calls = content.some((block) => block.type === 'tool_call');
    const stopReason = calls ? 'tool_use' : ended.stopReason === 'tool_use' ? 'stop' : ended.stopReason;
    const { contextWindow, price } = providers().facts(state.model);
    const usage = withCost(ended.usage, price);
    const used = usedTokens(usage) || sizeBefore + entrySize(content);
    const left = percentLeft(used, contextWindow);
    await commit.decideForRun(state.id, state.run?.id ?? '', (now, fresh) =>
      endResponse(now, { id: message.messageId, content, stopReason, usage, model: state.model }, left, fresh),
    );
  }

  async function fail(state: SessionState, failure: ModelFailure, message: OpenMessage | undefined): Promise<void> {
    const partialContent = message ? live.content(message) : [];
    const error = toRunError(failure);
    const usage = failure.usage ?? null;
    await commit.decideForRun(state.id, state.run?.id ?? '', (now, fresh) =>
      settleRun(now, { outcome: 'failed', error, partialContent, usage }, fresh),
    );
  }

  return async function respond(state: SessionState, step: StepContext): Promise<void> {
    const provider = providers().find(state.model);
    if (!provider) return fail(state, { message: `no provider for the model ${state.model}; choose another with berth model` }, undefined);
    const history = step.history.at(state.leafId);
    const fullRequest = await toRequest(state, history);
    if ('problem' in fullRequest) return fail(state, { message: fullRequest.problem }, undefined);
    const size = contextSize(history, promptSize(fullRequest));
    if (await compactions.needsRoom(state, history, size)) return;
    const { contextWindow } = providers().facts(state.model);
    const request = fitRequest(fullRequest, size, contextWindow);
    const response = createResponse(state);
    /** Removes the live message once its end is committed. */
    function closeMessage(): void {
      const { message } = response;
      if (message && store.runs.active(state.id)?.message?.id !== message.messageId) live.end(message);
      if (message) response.message = undefined;
    }
    const ask = (asked: ModelRequest): Promise<Attempted<Ended>> =>
      attempt(state, step, () => askOnce(provider, asked, step.signal, response), closeMessage);
    let result = await ask(request);
    if (isOverflow(result)) {
      if (await compactions.afterOverflow(state, history)) {
        closeMessage();
        return;
      }
      // Compaction does not shorten tool results that the model has not read yet.
      const tight = response.message ? undefined : tightenRequest(request, contextWindow);
      if (tight) result = await ask(tight);
    }
    // Aborted or stopped: the commit that settles the run ends the message with its partial content.
    if (result === 'stopped') return;
    if ('failure' in result) await fail(state, withRemedy(result.failure), response.message);
    else {
      response.message ??= await response.open();
      if (response.message) await endMessage(state, response.message, result.answer, size);
    }
    closeMessage();
  };
}

function isOverflow(result: Attempted<Ended>): boolean {
  return result !== 'stopped' && 'failure' in result && result.failure.overflow === true;
}

function withRemedy(failure: ModelFailure): ModelFailure {
  if (!failure.overflow) return failure;
  return { ...failure, message: `${failure.message}; go on in a new session, or with a model that has a larger context window` };
}

/** The failure of a truncated answer without content, which would otherwise look like an empty answer. */
function cutFailure({ model }: SessionState, { blocks }: OpenMessage): ModelFailure {
  const where = blocks.some(({ kind }) => kind === 'tool_call') ? 'in the middle of a tool call' : 'before it had any text';
  return {
    message: `the answer was truncated ${where}: it reached the output limit of ${model}; ask for smaller steps, or raise max_output of the model`,
  };
}

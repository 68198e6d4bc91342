import { endCompaction, failCompaction, needCompaction } from '../../core/compaction.js';
import type { SessionState } from '../../core/session.js';
import type { RunError } from '../../protocol/events.js';
import { limits } from '../../protocol/limits.js';
import type { CompactionTrigger, Usage } from '../../protocol/messages.js';
import { together, type ModelRequest, type Provider, type Providers } from '../../providers/port.js';
import type { HistoryEntry } from '../../store/rows/history-rows.js';
import type { ReadStore } from '../../store/store.js';
import { unlessAborted } from './abortable.js';
import { toRunError, type Attempted, type Attempts } from './attempts.js';
import { planCompaction, toRecord, type CompactionPlan } from './compaction-plan.js';
import { entrySize, percentLeft, withCost } from './context-size.js';
import type { RetryingCommit } from '../door/retrying-commit.js';
import type { StepContext } from './step-context.js';

interface Deps {
  store: ReadStore;
  commit: RetryingCommit;
  providers(): Providers;
  attempt: Attempts;
  /** What a model is told that is to summarise. */
  instructions: string;
  /** How full the window may be before old history is summarised; undefined: only when somebody asks, or nothing else helps. */
  compactAtPercent(): number | undefined;
}

interface Said {
  text: string;
  usage: Usage | null;
}

const charsPerToken = 4;
/** A record that is too long all the same is halved so often. */
const halvingsMax = 4;
/** Of the window, for the record; the rest is for instructions, the earlier summary and the answer. */
const recordPart = 0.6;
const recordTokensDefault = 100_000;

/** Summaries of old history: when one is needed, and how it is made. */
export function createCompactions({ store, commit, providers, attempt, instructions, compactAtPercent }: Deps) {
  /** Runs in which a summary could not be made: they go on without one as long as they can. */
  const failedIn = new Map<string, string>();

  function plan(state: SessionState, history: readonly HistoryEntry[], trigger: CompactionTrigger): CompactionPlan | undefined {
    return planCompaction(history, trigger, providers().facts(state.model).contextWindow);
  }

  async function start(state: SessionState, trigger: CompactionTrigger, tokensBefore: number): Promise<boolean> {
    const runId = state.run?.id ?? '';
    const started = await commit.decideForRun(state.id, runId, (now) => needCompaction(now, { trigger, tokensBefore, instruction: null }));
    return started.ok;
  }

  function toRequest(state: SessionState, { earlier, replaced }: CompactionPlan, charsMax: number): ModelRequest {
    const asked = [
      ...(earlier === undefined ? [] : [`<earlier_summary>\n${earlier}\n</earlier_summary>`]),
      `<record>\n${toRecord(replaced, charsMax)}\n</record>`,
      'Write the summary now.',
      ...(state.compaction?.instruction ? [`The person requests that you pay attention to this: ${state.compaction.instruction}`] : []),
    ];
    return {
      model: state.model,
      sessionId: state.id,
      thinking: 'off',
      system: instructions,
      messages: [{ role: 'user', content: [{ type: 'text', text: asked.join('\n\n') }] }],
      tools: [],
    };
  }

  async function askOnce(provider: Provider, request: ModelRequest, signal: AbortSignal): Promise<Attempted<Said>> {
    let text = '';
    for await (const came of provider.stream(request, signal)) {
      for (const delta of together(came)) {
        if (signal.aborted) return 'stopped';
        if (delta.type === 'text') text += delta.text;
        if (delta.type === 'failure') return { failure: delta };
        if (text.length > limits.messageTextUnitsMax) return { failure: { message: 'the summary does not end' } };
        if (delta.type !== 'end') continue;
        // Half a summary would be all that the model remembers.
        if (delta.stopReason === 'length')
          return { failure: { message: 'the summary was cut: it reached the most that the model may say at once' } };
        const summary = text.trim().toWellFormed();
        return summary === ''
          ? { failure: { message: 'the model made no summary', retry: {} } }
          : { answer: { text: summary, usage: delta.usage } };
      }
    }
    return signal.aborted ? 'stopped' : { failure: { message: 'the model stopped in the middle of its summary', retry: {} } };
  }

  /** Asks for the summary; a record that does not fit is cut at its beginning and asked for again. */
  async function summarize(state: SessionState, planned: CompactionPlan, step: StepContext): Promise<Attempted<Said>> {
    const provider = providers().find(state.model);
    if (!provider) return { failure: { message: `no provider for the model ${state.model}` } };
    const { contextWindow } = providers().facts(state.model);
    let charsMax = charsPerToken * (contextWindow === null ? recordTokensDefault : contextWindow * recordPart);
    for (let halvings = 0; ; halvings++) {
      const request = toRequest(state, planned, charsMax);
      const result = await attempt(state, step, async () => {
        return (await unlessAborted(step.signal, askOnce(provider, request, step.signal))) ?? 'stopped';
      });
      if (result === 'stopped' || 'answer' in result || !result.failure.overflow || halvings === halvingsMax) return result;
      charsMax = Math.min(charsMax, toRecord(planned.replaced, charsMax).length) / 2;
    }
  }

  async function end(state: SessionState, { kept }: CompactionPlan, { text, usage }: Said): Promise<void> {
    const { contextWindow, price } = providers().facts(state.model);
    const tokensAfter = [[{ type: 'text' as const, text }], ...kept.map(({ content }) => content)].reduce(
      (sum, content) => sum + entrySize(content),
      0,
    );
    const summary = {
      text,
      firstKeptEntryId: kept[0]?.message.id ?? '',
      tokensAfter,
      contextLeftPercent: percentLeft(tokensAfter, contextWindow),
      model: state.model,
      usage: withCost(usage, price),
    };
    await commit.decideForRun(state.id, state.run?.id ?? '', (now, fresh) => endCompaction(now, summary, fresh));
  }

  async function giveUp(state: SessionState, error: RunError, usage: Usage | null = null): Promise<void> {
    failedIn.set(state.id, state.run?.id ?? '');
    for (const oldest of failedIn.keys()) if (failedIn.size > limits.signalledSessionsMax) failedIn.delete(oldest);
    await commit.decideForRun(state.id, state.run?.id ?? '', (now) =>
      failCompaction(now, error, withCost(usage, providers().facts(state.model).price)),
    );
  }

  return {
    /** What a summary would replace now; undefined when there is nothing. */
    plan: (state: SessionState): CompactionPlan | undefined => plan(state, store.entries.history(state.leafId), 'manual'),
    /** Before a model is asked about so many tokens: true when a summary has to be made first, and that was committed. */
    async needsRoom(state: SessionState, history: readonly HistoryEntry[], tokens: number): Promise<boolean> {
      const atPercent = compactAtPercent();
      const { contextWindow } = providers().facts(state.model);
      if (atPercent === undefined || contextWindow === null || failedIn.get(state.id) === state.run?.id) return false;
      if (isJustCompacted(history) || tokens < (contextWindow * atPercent) / 100) return false;
      const planned = plan(state, history, 'threshold');
      return planned ? start(state, 'threshold', planned.tokensBefore) : false;
    },
    /** The model said that it was asked too much: true when a summary is made and it is asked again, which is tried once. */
    async afterOverflow(state: SessionState, history: readonly HistoryEntry[]): Promise<boolean> {
      if (isJustCompacted(history) || failedIn.get(state.id) === state.run?.id) return false;
      const planned = plan(state, history, 'overflow');
      return planned ? start(state, 'overflow', planned.tokensBefore) : false;
    },
    /** Makes the summary that the session waits for. */
    async compact(state: SessionState, step: StepContext): Promise<void> {
      const planned = plan(state, step.history.at(state.leafId), state.compaction?.trigger ?? 'manual');
      if (!planned) return giveUp(state, { code: 'command_rejected', message: 'nothing_to_compact' });
      const result = await summarize(state, planned, step);
      if (result === 'stopped') return;
      if ('failure' in result) return giveUp(state, toRunError(result.failure));
      const larger = findGrowth(planned, result.answer.text);
      if (larger !== undefined) return giveUp(state, larger, result.answer.usage);
      failedIn.delete(state.id);
      await end(state, planned, result.answer);
    },
  };
}
export type Compactions = ReturnType<typeof createCompactions>;

/** Why a summary is not kept: it is longer than what it would stand for. */
function findGrowth({ earlier, replaced }: CompactionPlan, summary: string): RunError | undefined {
  const sizeOf = (text: string): number => entrySize([{ type: 'text', text }]);
  const before = replaced.reduce((sum, { content }) => sum + entrySize(content), earlier === undefined ? 0 : sizeOf(earlier));
  const after = sizeOf(summary);
  if (after <= before) return undefined;
  const cause = `the summary would be longer (about ${after} tokens) than the messages that it replaces (about ${before}), so it was not kept`;
  return { code: 'command_rejected', message: 'nothing_to_compact', cause };
}

/** Nothing was answered since the newest summary: another one would change nothing. */
function isJustCompacted(history: readonly HistoryEntry[]): boolean {
  return (
    history[0]?.message.role === 'compaction' &&
    history.every(({ message, isBeforeSummary }) => message.role === 'compaction' || isBeforeSummary)
  );
}

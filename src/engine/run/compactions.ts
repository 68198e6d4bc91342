import { endCompaction, failCompaction, needCompaction } from '../../core/compaction.js';
import type { SessionState } from '../../core/session.js';
import type { RunError } from '../../protocol/events.js';
import { limits } from '../../protocol/limits.js';
import type { CompactionTrigger, Usage } from '../../protocol/messages.js';
import { toDeltaList, type ModelRequest, type Provider, type Providers } from '../../providers/port.js';
import type { HistoryEntry } from '../../store/rows/history-rows.js';
import type { ReadStore } from '../../store/store.js';
import { undefinedIfAborted } from './abortable.js';
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
  /** The system prompt for a summary. */
  instructions: string;
  /** The threshold for automatic compaction; undefined: only a command or a context overflow compacts. */
  compactAtPercent(): number | undefined;
}

interface Summary {
  text: string;
  usage: Usage | null;
}

const charsPerToken = 4;
/** The share of the context window for the record; the rest is for instructions, the earlier summary and the answer. */
const recordPart = 0.6;

/** Compaction: decides when old history is summarised, and asks the model for the summary. */
export function createCompactions({ store, commit, providers, attempt, instructions, compactAtPercent }: Deps) {
  /** The run of each session in which compaction failed: it is not tried again in that run. */
  const failedRuns = new Map<string, string>();

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
      ...(state.compaction?.instruction ? [`The person asks that you pay attention to this: ${state.compaction.instruction}`] : []),
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

  async function askOnce(provider: Provider, request: ModelRequest, signal: AbortSignal): Promise<Attempted<Summary>> {
    let text = '';
    for await (const batch of provider.stream(request, signal)) {
      for (const delta of toDeltaList(batch)) {
        if (signal.aborted) return 'stopped';
        if (delta.type === 'text') text += delta.text;
        if (delta.type === 'failure') return { failure: delta };
        if (text.length > limits.messageTextUnitsMax)
          return { failure: { message: `the summary was discarded: it is longer than ${limits.messageTextUnitsMax} characters` } };
        if (delta.type !== 'end') continue;
        // A truncated summary would lose the rest of the history.
        if (delta.stopReason === 'length')
          return {
            failure: { message: "the summary was truncated at the model's output limit; raise max_output of the model, or choose another" },
          };
        const summary = text.trim().toWellFormed();
        return summary === ''
          ? { failure: { message: 'the model answered with an empty summary', retry: {} } }
          : { answer: { text: summary, usage: delta.usage } };
      }
    }
    return signal.aborted ? 'stopped' : { failure: { message: "the model's stream ended before the summary was complete", retry: {} } };
  }

  /** Asks the model for the summary; a record that overflows the context window is halved, from its oldest entry, and sent again. */
  async function summarize(state: SessionState, planned: CompactionPlan, step: StepContext): Promise<Attempted<Summary>> {
    const provider = providers().find(state.model);
    if (!provider) return { failure: { message: `no provider for the model ${state.model}; choose another with berth model` } };
    const { contextWindow } = providers().facts(state.model);
    let charsMax = charsPerToken * (contextWindow === null ? limits.compactRecordTokensDefault : contextWindow * recordPart);
    for (let halvings = 0; ; halvings++) {
      const request = toRequest(state, planned, charsMax);
      const result = await attempt(state, step, async () => {
        return (await undefinedIfAborted(step.signal, askOnce(provider, request, step.signal))) ?? 'stopped';
      });
      if (result === 'stopped' || 'answer' in result || !result.failure.overflow || halvings === limits.compactHalvingsMax) return result;
      charsMax = Math.min(charsMax, toRecord(planned.replaced, charsMax).length) / 2;
    }
  }

  async function end(state: SessionState, { kept }: CompactionPlan, { text, usage }: Summary): Promise<void> {
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
    failedRuns.set(state.id, state.run?.id ?? '');
    for (const oldest of failedRuns.keys()) if (failedRuns.size > limits.signalledSessionsMax) failedRuns.delete(oldest);
    await commit.decideForRun(state.id, state.run?.id ?? '', (now) =>
      failCompaction(now, error, withCost(usage, providers().facts(state.model).price)),
    );
  }

  return {
    /** The plan of a manual compaction; undefined when nothing can be replaced. */
    plan: (state: SessionState): CompactionPlan | undefined => plan(state, store.entries.history(state.leafId), 'manual'),
    /** To be called before a model request: true when the compaction threshold is reached and the start of a compaction was committed. */
    async needsRoom(state: SessionState, history: readonly HistoryEntry[], tokens: number): Promise<boolean> {
      const atPercent = compactAtPercent();
      const { contextWindow } = providers().facts(state.model);
      if (atPercent === undefined || contextWindow === null || failedRuns.get(state.id) === state.run?.id) return false;
      if (isJustCompacted(history) || tokens < (contextWindow * atPercent) / 100) return false;
      const planned = plan(state, history, 'threshold');
      return planned ? start(state, 'threshold', planned.tokensBefore) : false;
    },
    /** To be called after a context overflow: true when the start of a compaction was committed, which is tried once. */
    async afterOverflow(state: SessionState, history: readonly HistoryEntry[]): Promise<boolean> {
      if (isJustCompacted(history) || failedRuns.get(state.id) === state.run?.id) return false;
      const planned = plan(state, history, 'overflow');
      return planned ? start(state, 'overflow', planned.tokensBefore) : false;
    },
    /** Makes the summary of a compaction that was started. */
    async compact(state: SessionState, step: StepContext): Promise<void> {
      const planned = plan(state, step.history.at(state.leafId), state.compaction?.trigger ?? 'manual');
      if (!planned) return giveUp(state, { code: 'command_rejected', message: 'nothing_to_compact' });
      const result = await summarize(state, planned, step);
      if (result === 'stopped') return;
      if ('failure' in result) return giveUp(state, toRunError(result.failure));
      const larger = findGrowth(planned, result.answer.text);
      if (larger !== undefined) return giveUp(state, larger, result.answer.usage);
      failedRuns.delete(state.id);
      await end(state, planned, result.answer);
    },
  };
}
export type Compactions = ReturnType<typeof createCompactions>;

/** The error of a summary that is longer than the entries that it would replace. */
function findGrowth({ earlier, replaced }: CompactionPlan, summary: string): RunError | undefined {
  const sizeOf = (text: string): number => entrySize([{ type: 'text', text }]);
  const before = replaced.reduce((sum, { content }) => sum + entrySize(content), earlier === undefined ? 0 : sizeOf(earlier));
  const after = sizeOf(summary);
  if (after <= before) return undefined;
  const cause = `the summary would be longer (about ${after} tokens) than the messages that it replaces (about ${before}), so it was not kept`;
  return { code: 'command_rejected', message: 'nothing_to_compact', cause };
}

/** No answer since the newest summary: another compaction would change nothing. */
function isJustCompacted(history: readonly HistoryEntry[]): boolean {
  return (
    history[0]?.message.role === 'compaction' &&
    history.every(({ message, isBeforeSummary }) => message.role === 'compaction' || isBeforeSummary)
  );
}

import { isParked } from '../../core/recovery.js';
import { endTurn, nextStep, settleRun } from '../../core/runs.js';
import type { SessionState } from '../../core/session.js';
import type { ContentBlock } from '../../protocol/messages.js';
import type { ReadStore } from '../../store/store.js';
import type { RetryingCommit } from '../door/retrying-commit.js';
import type { LiveMessages } from '../live/live-messages.js';
import type { Slots } from './slots.js';
import type { StepContext } from './step-context.js';
import type { RunHistories, RunHistory } from './run-history.js';
import type { ToolCalls } from '../calls/tool-calls.js';

interface Deps {
  store: ReadStore;
  commit: RetryingCommit;
  live: LiveMessages;
  slots: Slots;
  openHistory: RunHistories;
  isResumable(toolName: string): boolean;
  toolCalls: ToolCalls;
  respond(state: SessionState, step: StepContext): Promise<void>;
  compact(state: SessionState, step: StepContext): Promise<void>;
  endProcesses(runId: string): Promise<void>;
  isStopping(): boolean;
}

/** Drives one run, step by step, to its end. Each step is derived from the rows, so a restart resumes at the same step. */
export function createRunLoop(deps: Deps) {
  const { store, commit, live, slots, openHistory, isResumable, toolCalls, respond, compact, endProcesses, isStopping } = deps;

  function partialContentOf(state: SessionState): ContentBlock[] {
    const message = state.run?.message ? live.find(state.run.message.id) : undefined;
    return message ? live.content(message) : [];
  }

  async function settle(state: SessionState, outcome: 'aborted' | 'interrupted'): Promise<void> {
    const partialContent = partialContentOf(state);
    // No process outlives its run.
    await endProcesses(state.run?.id ?? '');
    await commit.decideForRun(state.id, state.run?.id ?? '', (now, fresh) =>
      settleRun(now, { outcome, error: null, partialContent }, fresh),
    );
    const message = state.run?.message ? live.find(state.run.message.id) : undefined;
    if (message) live.end(message);
  }

  function waitsForPerson(state: SessionState): boolean {
    const asked = store.requests.askedCalls(state.run?.id ?? '', state.run?.turn?.id ?? '');
    return isParked(state, asked, isResumable);
  }

  async function work(state: SessionState, history: RunHistory, signal: AbortSignal): Promise<void> {
    const slot = await slots.hold(signal, state.run?.id);
    if (!slot) return;
    try {
      const step: StepContext = {
        signal,
        history,
        withoutSlot(wait) {
          history.forget();
          return slot.without(wait);
        },
      };
      const next = nextStep(state);
      if (next === 'respond') await respond(state, step);
      else if (next === 'compact') await compact(state, step);
      else await toolCalls.runNext(state, step);
    } finally {
      slot.release();
    }
  }

  async function takeSteps(sessionId: string, runId: string, history: RunHistory, signal: AbortSignal): Promise<void> {
    for (;;) {
      const state = store.load(sessionId);
      // The next run of the session gets a task and a signal of its own.
      if (state?.run?.id !== runId) return endProcesses(runId);
      const step = nextStep(state);
      if (step === 'settle_abort') return settle(state, 'aborted');
      if (isStopping()) return waitsForPerson(state) ? undefined : settle(state, 'interrupted');
      if (signal.aborted) return;
      if (step === 'end_turn') await commit.decideForRun(sessionId, runId, endTurn);
      else await work(state, history, signal);
    }
  }

  return async function drive(sessionId: string, runId: string, signal: AbortSignal): Promise<void> {
    const history = openHistory();
    try {
      await takeSteps(sessionId, runId, history, signal);
    } finally {
      history.forget();
    }
  };
}

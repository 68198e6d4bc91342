import { emptySession, type SessionState } from '../core/session.js';
import type { ServedEngine } from '../engine/engine.js';
import { resumeActions } from '../core/recovery.js';
import { clipArgs, clipContent } from '../protocol/clip.js';
import { clipInputs } from '../protocol/encode.js';
import type { QueuedInput } from '../protocol/events.js';
import { todoLines } from '../protocol/todos.js';
import type { CallWait, StateView } from '../protocol/views.js';
import { readFirstSettings } from './first-settings.js';
import type { Clients } from './clients.js';

/** Waiting inputs as clients see them. */
export function toQueue(state: SessionState): { inputs: QueuedInput[]; paused: boolean } {
  return { inputs: clipInputs(state.inputs), paused: state.paused };
}

/** The state before there is a session: the settings of the first one. */
function stateWithoutSession(engine: ServedEngine): SessionState {
  const none = emptySession('');
  const { steering_mode, follow_up_mode, active_tools } = readFirstSettings(engine);
  return {
    ...none,
    steeringMode: steering_mode ?? none.steeringMode,
    followUpMode: follow_up_mode ?? none.followUpMode,
    activeTools: active_tools ?? none.activeTools,
  };
}

/** The snapshot of a session: its rows, and its streaming messages and running tools. */
export function createStateView(engine: ServedEngine, clients: Clients) {
  /** What tools show, and the to-do list, which is stored: it is shown after a restart, too. */
  function uiOf(sessionId: string): StateView['ui'] {
    const shown = engine.signals.shown(sessionId);
    const todos = sessionId === '' ? [] : engine.store.todos.read(sessionId);
    return todos.length > 0 ? { ...shown, widgets: { ...shown.widgets, todo: todoLines(todos) } } : shown;
  }

  /** Why an open call does not run yet; null when it runs. */
  function waitOf({ run, requests }: SessionState, callId: string): CallWait | null {
    const call = run?.calls.find(({ id }) => id === callId);
    if (!run || !call) return null;
    const request = requests.find(({ tool_call_id }) => tool_call_id === callId);
    if (request) return { kind: request.params.kind === 'approval' ? 'approval' : 'question', request_id: request.request_id };
    if (!engine.nextCalls(run.calls).includes(call)) return { kind: 'calls' };
    return engine.waitsForSlot(run.id) ? { kind: 'slot' } : null;
  }

  function toRun(state: SessionState): StateView['run'] {
    const { run } = state;
    if (!run) return null;
    const { turn, message } = run;
    return {
      run_id: run.id,
      aborting: run.aborting,
      abort_reason: run.abortReason,
      turns: run.turns,
      turn: turn && {
        turn_id: turn.id,
        kind: turn.kind,
        input_ids: turn.inputIds,
        responded: turn.responded,
        calls_made: turn.callsMade,
      },
      message: message && { message_id: message.id, role: message.role },
      calls: clipArgs(run.calls).map(({ id, place, name, args, started, title, problem }) => ({
        tool_call_id: id,
        place,
        tool_name: name,
        args,
        started,
        title,
        problem,
        waits_for: waitOf(state, id),
      })),
      waits_for_slot: engine.waitsForSlot(run.id),
      usage_before: run.usageBefore,
    };
  }

  function toLastRun(state: SessionState): StateView['last_run'] {
    const { lastRun } = state;
    if (!lastRun) return null;
    const point = { retryEntryId: state.run ? undefined : engine.store.entries.retryPoint(state.leafId) };
    const { id: run_id, outcome, error, abandoned } = lastRun;
    return { run_id, outcome, error, abandoned, resume_actions: resumeActions(state, point) };
  }

  return function view(session: SessionState | undefined): StateView {
    const state = session ?? stateWithoutSession(engine);
    const { run } = state;
    const waiting = (kind: string): number => state.inputs.filter((input) => input.kind === kind).length;
    return {
      run_state: run ? (run.aborting ? 'aborting' : 'running') : 'idle',
      run_id: run?.id ?? '',
      session_id: state.id,
      parent_id: state.parentId,
      steering_mode: state.steeringMode,
      follow_up_mode: state.followUpMode,
      pending_counts: { steer: waiting('steer'), follow_up: waiting('follow_up') },
      seq: engine.store.log.head(),
      title: state.title,
      cwd: state.cwd,
      model: state.model,
      thinking: state.thinking,
      approval_mode: state.approvalMode,
      when_detached: state.whenDetached,
      recovery: state.recovery,
      archived: state.archived,
      one_off: state.oneOff,
      active_tools: state.activeTools,
      leaf_id: state.leafId,
      turn_id: run?.turn?.id ?? '',
      turns: run?.turns ?? 0,
      run: toRun(state),
      queue: toQueue(state),
      requests: state.requests,
      partial:
        state.id === ''
          ? []
          : engine.live.openIn({ sessionId: state.id }).map((message) => ({
              message_id: message.messageId,
              role: 'assistant' as const,
              run_id: message.runId,
              turn_id: message.turnId,
              content: clipContent(engine.live.content(message)),
            })),
      tools: clipArgs(engine.liveTools.view(state.id)),
      ui: uiOf(state.id),
      usage: state.usage,
      context_left_percent: state.contextLeftPercent,
      compaction: state.compaction && {
        trigger: state.compaction.trigger,
        tokens_before: state.compaction.tokensBefore,
        instruction: state.compaction.instruction,
      },
      clients: state.id === '' ? [] : clients.of(state.id),
      last_run: toLastRun(state),
    };
  };
}
export type ViewState = ReturnType<typeof createStateView>;

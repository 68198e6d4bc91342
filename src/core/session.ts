import { toolCallsOf } from '../protocol/content.js';
import type { EventPayload, Fact, QueuedInput, QueueMode, RunError, RunOutcome } from '../protocol/events.js';
import type { CompactionTrigger, Role, TurnKind, Usage } from '../protocol/messages.js';
import type { UiRequest } from '../protocol/requests/requests.js';

/** A tool call of the current turn that has no result yet. */
export interface OpenCall {
  id: string;
  /** The index among the response's calls. */
  place: number;
  name: string;
  args: Record<string, unknown>;
  started: boolean;
  /** The title for people, once the call has started. */
  title: string | null;
  /** Why the arguments are invalid. */
  problem: string | null;
}

export interface Turn {
  id: string;
  kind: TurnKind;
  inputIds: string[];
  /** The model's response has ended. */
  responded: boolean;
  /** How many tool calls the response made. */
  callsMade: number;
}

export interface ActiveRun {
  id: string;
  aborting: boolean;
  /** The reason of the abort, if there is one. */
  abortReason: string | null;
  turns: number;
  turn: Turn | null;
  message: { id: string; role: Role } | null;
  calls: OpenCall[];
  /** The session's usage when the run began. */
  usageBefore: Usage | null;
}

/** A compaction that was started, or that the run does at its next turn boundary. */
export interface OpenCompaction {
  trigger: CompactionTrigger;
  tokensBefore: number;
  instruction: string | null;
}

export interface LastRun {
  id: string;
  outcome: RunOutcome;
  error: RunError | null;
  /** A client abandoned the run. It can still be resumed. */
  abandoned: boolean;
}

/** The state that decisions read. The daemon loads it from rows, clients fold it from events, and both are equal. */
export interface SessionState {
  id: string;
  parentId: string | null;
  title: string;
  cwd: string;
  model: string;
  thinking: 'off' | 'low' | 'medium' | 'high';
  steeringMode: QueueMode;
  followUpMode: QueueMode;
  approvalMode: 'ask' | 'auto_edit' | 'full' | 'read_only';
  whenDetached: 'wait' | 'deny';
  recovery: 'pause' | 'continue';
  activeTools: string[] | null;
  archived: boolean;
  oneOff: boolean;
  deleting: boolean;
  deleted: boolean;
  leafId: string | null;
  paused: boolean;
  inputs: QueuedInput[];
  run: ActiveRun | null;
  lastRun: LastRun | null;
  compaction: OpenCompaction | null;
  requests: UiRequest[];
  usage: Usage | null;
  contextLeftPercent: number | null;
}

/** The message of the `status` event of an abort without a reason. */
export const unexplainedAbort = 'aborting';

export function emptySession(id: string): SessionState {
  return {
    id,
    parentId: null,
    title: '',
    cwd: '',
    model: '',
    thinking: 'off',
    steeringMode: 'one-at-a-time',
    followUpMode: 'one-at-a-time',
    approvalMode: 'ask',
    whenDetached: 'wait',
    recovery: 'pause',
    activeTools: null,
    archived: false,
    oneOff: false,
    deleting: false,
    deleted: false,
    leafId: null,
    paused: false,
    inputs: [],
    run: null,
    lastRun: null,
    compaction: null,
    requests: [],
    usage: null,
    contextLeftPercent: null,
  };
}

/** The reducer (fold): the state of a session after an event. Events that decisions do not depend on change nothing. */
export function evolve(state: SessionState, fact: Fact): SessionState {
  switch (fact.type) {
    case 'session_update':
      return updateFields(state, fact.payload);
    case 'queue_update':
      return { ...state, paused: fact.payload.paused, inputs: updateQueue(state.inputs, fact.payload) };
    case 'agent_start':
      return {
        ...state,
        inputs: state.inputs.map((input) => (input.for_run === fact.payload.run_id ? withoutRun(input) : input)),
        run: {
          id: fact.payload.run_id,
          aborting: false,
          abortReason: null,
          turns: 0,
          turn: null,
          message: null,
          calls: [],
          usageBefore: state.usage,
        },
      };
    case 'agent_end': {
      const { run_id: id, outcome, error } = fact.payload;
      // A run without a turn was only a compaction, which cannot be resumed.
      return { ...state, run: null, lastRun: state.run?.turns === 0 ? state.lastRun : { id, outcome, error, abandoned: false } };
    }
    case 'compaction_start': {
      const { trigger, tokens_before: tokensBefore, instruction = null } = fact.payload;
      return { ...state, compaction: { trigger, tokensBefore, instruction } };
    }
    case 'compaction_end':
      return { ...state, compaction: null, leafId: fact.payload.message?.id ?? state.leafId };
    case 'ui_request':
      return { ...state, requests: [...state.requests, fact.payload] };
    case 'ui_resolved':
      return { ...state, requests: state.requests.filter((request) => request.request_id !== fact.payload.request_id) };
    case 'usage_update': {
      const { input, output, cache_read, cache_write, cost_usd, context_left_percent: contextLeftPercent } = fact.payload;
      return { ...state, usage: { input, output, cache_read, cache_write, cost_usd }, contextLeftPercent };
    }
    case 'status': {
      const { lastRun, run } = state;
      if (lastRun && abandonedRunOf(fact.payload) === lastRun.id) return { ...state, lastRun: { ...lastRun, abandoned: true } };
      return run ? { ...state, run: updateRun(run, fact) } : state;
    }
    case 'message_end': {
      const ended = fact.payload.message;
      const next = ended ? { ...state, leafId: ended.id } : state;
      return state.run ? { ...next, run: updateRun(state.run, fact) } : next;
    }
    default:
      return state.run ? { ...state, run: updateRun(state.run, fact) } : state;
  }
}

/** The message of the `status` event of an abandoned run. */
export const abandonedStatus = 'abandoned';

/** The id of the abandoned run, if a `status` event is about one. */
export function abandonedRunOf({ message, run_id, run_state }: EventPayload<'status'>): string | undefined {
  return message === abandonedStatus && run_state === undefined ? run_id : undefined;
}

/** The reason in the `status` event of an abort; null when there is none. */
export function abortReasonOf({ message }: EventPayload<'status'>): string | null {
  return message === unexplainedAbort ? null : message;
}

/** The run that an input was accepted for has begun: the input is an ordinary one now. */
function withoutRun({ for_run: _begun, ...input }: QueuedInput): QueuedInput {
  return input;
}

function updateRun(run: ActiveRun, fact: Fact): ActiveRun {
  switch (fact.type) {
    case 'status':
      return fact.payload.run_state === 'aborting' ? { ...run, aborting: true, abortReason: abortReasonOf(fact.payload) } : run;
    case 'turn_start': {
      const { turn_id: id, kind, input_ids: inputIds } = fact.payload;
      return { ...run, turns: run.turns + 1, turn: { id, kind, inputIds, responded: false, callsMade: 0 }, calls: [] };
    }
    case 'turn_end':
      return { ...run, turn: null, calls: [] };
    case 'message_start':
      return { ...run, message: { id: fact.payload.message_id, role: fact.payload.role } };
    case 'message_end':
      return endMessage(run, fact.payload);
    case 'tool_execution_start': {
      const { tool_call_id, args, title } = fact.payload;
      return { ...run, calls: run.calls.map((call) => (call.id === tool_call_id ? { ...call, args, title, started: true } : call)) };
    }
    case 'tool_execution_end':
      return { ...run, calls: run.calls.filter((call) => call.id !== fact.payload.tool_call_id) };
    default:
      return run;
  }
}

function endMessage(run: ActiveRun, { role, message, reason }: EventPayload<'message_end'>): ActiveRun {
  const closed = { ...run, message: null };
  // A discarded message is a response only when it is empty.
  if (role !== 'assistant' || !run.turn || (!message && reason !== 'empty')) return closed;
  const calls = toolCallsOf(message?.content ?? []).map(({ id, name, arguments: args, problem }, place) => ({
    id,
    place,
    name,
    args,
    started: false,
    title: null,
    problem: problem ?? null,
  }));
  return { ...closed, turn: { ...run.turn, responded: true, callsMade: calls.length }, calls };
}

function updateFields(state: SessionState, payload: EventPayload<'session_update'>): SessionState {
  return {
    ...state,
    parentId: payload.parent_id ?? state.parentId,
    title: payload.title ?? state.title,
    cwd: payload.cwd ?? state.cwd,
    model: payload.model ?? state.model,
    thinking: payload.thinking ?? state.thinking,
    steeringMode: payload.steering_mode ?? state.steeringMode,
    followUpMode: payload.follow_up_mode ?? state.followUpMode,
    approvalMode: payload.approval_mode ?? state.approvalMode,
    whenDetached: payload.when_detached ?? state.whenDetached,
    recovery: payload.recovery ?? state.recovery,
    activeTools: payload.active_tools === undefined ? state.activeTools : payload.active_tools,
    archived: payload.archived ?? state.archived,
    oneOff: payload.one_off ?? state.oneOff,
    leafId: payload.leaf_id === undefined ? state.leafId : payload.leaf_id,
    deleting: payload.deleting ?? state.deleting,
    deleted: payload.deleted ?? state.deleted,
  };
}

function updateQueue(inputs: QueuedInput[], change: EventPayload<'queue_update'>): QueuedInput[] {
  const { op, input, order, dropped } = change;
  switch (op) {
    case 'added':
      return input ? [...inputs, input] : inputs;
    case 'edited':
    case 'held':
    case 'released':
      return inputs.map((waiting) => (waiting.input_id === input?.input_id ? input : waiting));
    case 'moved':
      return order ? sortByOrder(inputs, order) : inputs;
    case 'removed':
    case 'taken':
      return inputs.filter((waiting) => waiting.input_id !== input?.input_id);
    case 'dropped': {
      const gone = new Set(dropped?.map(({ input_id }) => input_id));
      return inputs.filter((waiting) => !gone.has(waiting.input_id));
    }
    case 'paused':
    case 'resumed':
      return inputs;
  }
}

function sortByOrder(inputs: QueuedInput[], order: string[]): QueuedInput[] {
  const place = new Map(order.map((id, index) => [id, index]));
  return inputs.toSorted((a, b) => (place.get(a.input_id) ?? order.length) - (place.get(b.input_id) ?? order.length));
}

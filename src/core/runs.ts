import { isEmptyAnswer, textOf } from '../protocol/content.js';
import type { EventPayload, RunError, RunOutcome } from '../protocol/events.js';
import { limits } from '../protocol/limits.js';
import type { CallDetails, ContentBlock, ResultDetails, Usage } from '../protocol/messages.js';
import type { UiAnswer } from '../protocol/requests/request-answers.js';
import type { UiRequest } from '../protocol/requests/requests.js';
import { sayCompactionFailed } from './compaction.js';
import { accept, createDraft, reject, type Decision, type Draft, type Fresh } from './decision.js';
import { evolve, unexplainedAbort, type ActiveRun, type OpenCall, type SessionState, type Turn } from './session.js';
import {
  atTurn,
  nextKind,
  sayMessage,
  sayQueuedRun,
  sayTakenTurn,
  sayTurn,
  steerWaits,
  toDropped,
  toMessage,
  waitingOf,
  type NewMessage,
} from './turns.js';
import { sayUsage, usageSince } from './usage.js';

/** The next step of a session's run. Derived from the rows, so that a restart resumes at the same step. */
export type Step = 'none' | 'settle_abort' | 'compact' | 'respond' | 'calls' | 'end_turn';

export function nextStep(state: SessionState): Step {
  const run = state.run;
  if (!run) return 'none';
  if (run.aborting) return 'settle_abort';
  if (run.turn?.responded) return run.calls.length > 0 ? 'calls' : 'end_turn';
  // At a turn boundary, before the next model request.
  if (state.compaction) return 'compact';
  return run.turn ? 'respond' : 'end_turn';
}

/** A response begins. Refused once the run is being aborted. */
export function beginMessage(state: SessionState, messageId: string): Decision {
  if (!state.run || state.run.aborting) return reject('aborted');
  return accept([{ type: 'message_start', payload: { ...atTurn(state), message_id: messageId, role: 'assistant' } }], undefined);
}

/** A response ended. A message without content is discarded: it is not part of the history. */
export function endMessage(
  state: SessionState,
  message: Omit<NewMessage, 'role'>,
  contextLeftPercent: number | null,
  fresh: Fresh,
): Decision {
  if (!state.run || state.run.aborting) return reject('aborted');
  const draft = createDraft(state);
  sayMessageEnd(draft, { ...message, role: 'assistant' }, 'empty', fresh);
  if (isEmptyAnswer(message.content)) {
    const text = `${message.model ?? 'the model'} sent an empty answer`;
    draft.say({ type: 'warning', payload: { ...atTurn(state), code: 'empty_answer', message: text } });
  } else if (message.stopReason === 'length') {
    const text = 'the answer was truncated: it reached the output limit of the model';
    draft.say({ type: 'warning', payload: { ...atTurn(state), code: 'length', message: text } });
  }
  sayUsage(draft, message.usage ?? null, contextLeftPercent);
  return accept(draft.facts, undefined);
}

/** A response ended, and with it the turn when there are no tool calls: one commit instead of two. */
export function endResponse(
  state: SessionState,
  message: Omit<NewMessage, 'role'>,
  contextLeftPercent: number | null,
  fresh: Fresh,
): Decision {
  const messageEnd = endMessage(state, message, contextLeftPercent, fresh);
  if (!messageEnd.ok) return messageEnd;
  const now = messageEnd.facts.reduce(evolve, state);
  if (nextStep(now) !== 'end_turn') return messageEnd;
  const ended = endTurn(now, fresh);
  return ended.ok ? accept([...messageEnd.facts, ...ended.facts], undefined) : ended;
}

export interface Retry {
  error: RunError;
  retryInMs: number;
  attempt: number;
  attemptsMax: number;
  /** The usage of the failed attempt. */
  usage: Usage | null;
}

/** A response failed and is retried: its partial message is discarded. */
export function retryResponse(state: SessionState, { error, retryInMs, attempt, attemptsMax, usage }: Retry): Decision {
  if (!state.run || state.run.aborting) return reject('aborted');
  const draft = createDraft(state);
  if (state.run.message) {
    const { id: message_id, role } = state.run.message;
    draft.say({ type: 'message_end', payload: { ...atTurn(state), message_id, role, discarded: true, reason: 'retried' } });
  }
  const details = { ...error, retry_in_ms: retryInMs, attempt, attempts_max: attemptsMax };
  const at = { session_id: state.id, run_id: state.run.id, ...(state.run.turn ? { turn_id: state.run.turn.id } : {}) };
  draft.say({ type: 'error', payload: { ...at, ...details } });
  sayUsage(draft, usage, state.contextLeftPercent);
  return accept(draft.facts, undefined);
}

function sayMessageEnd(draft: Draft, message: NewMessage, ifEmpty: 'empty' | 'aborted' | 'failed' | 'interrupted', fresh: Fresh): void {
  const at = { ...atTurn(draft.state), message_id: message.id, role: message.role };
  draft.say({
    type: 'message_end',
    payload:
      message.content.length > 0 ? { ...at, message: toMessage(draft.state, message, fresh) } : { ...at, discarded: true, reason: ifEmpty },
  });
}

/** What resolved an approval in the place of a person. */
export type SettledBy = 'mode' | 'rule';

/** A call begins. An open approval that is no longer needed is resolved: `settledBy` says what allowed the call. */
export function startCall(state: SessionState, callId: string, title: string, settledBy?: SettledBy): Decision {
  const call = state.run?.calls.find(({ id }) => id === callId);
  if (!call || call.started || state.run?.aborting) return reject('aborted');
  const draft = createDraft(state);
  if (settledBy) sayResolved(draft, (request) => isApprovalOf(request, callId), settledBy, 'answered', 'allow_once');
  sayResolved(draft, (request) => request.tool_call_id === callId, 'policy', 'cancelled');
  draft.say({ type: 'tool_execution_start', payload: { ...atTurn(state), ...callFields(call), args: call.args, title } });
  return accept(draft.facts, undefined);
}

function isApprovalOf({ tool_call_id, params }: UiRequest, callId: string): boolean {
  return tool_call_id === callId && params.kind === 'approval';
}

function callFields(call: OpenCall): { tool_call_id: string; tool_name: string } {
  return { tool_call_id: call.id, tool_name: call.name };
}

export interface CallResult {
  /** What denied a call whose approval was still open. */
  denied?: { by: SettledBy; why: string };
  /** Structured details, for clients. */
  details?: ResultDetails;
  content: ContentBlock[];
  isError: boolean;
  skipped: boolean;
  durationMs: number | null;
}

/** The end of a call and its result are one commit. A call that never started gets its tool_execution_start here. */
function sayCallEnd(draft: Draft, call: OpenCall, result: CallResult, fresh: Fresh): void {
  const at = atTurn(draft.state);
  if (!call.started) {
    draft.say({ type: 'tool_execution_start', payload: { ...at, ...callFields(call), args: call.args, title: call.name } });
  }
  if (result.denied) {
    const { by, why: reason } = result.denied;
    sayResolved(draft, (request) => isApprovalOf(request, call.id), by, 'denied', { value: 'deny', reason });
  }
  // Open requests of an ended call are cancelled.
  sayResolved(draft, (request) => request.tool_call_id === call.id, 'policy', 'cancelled');
  const { content, isError, skipped, durationMs } = result;
  const messageId = fresh.id('msg');
  draft.say({
    type: 'tool_execution_end',
    payload: {
      ...at,
      ...callFields(call),
      message_id: messageId,
      result: textOf(content),
      is_error: isError,
      skipped,
      duration_ms: durationMs,
      ...result.details,
    },
  });
  const toolCall = { id: call.id, name: call.name, isError, skipped, details: toCallDetails(call, result) };
  sayMessage(draft, { id: messageId, role: 'tool_result', content, toolCall }, fresh);
}

/** Undefined when there is nothing to tell. */
function toCallDetails({ title }: OpenCall, { details, durationMs }: CallResult): CallDetails | undefined {
  const told = { ...details, ...(title === null ? {} : { title }), ...(durationMs === null ? {} : { duration_ms: durationMs }) };
  return Object.keys(told).length === 0 ? undefined : told;
}

function notRun(why: string): CallResult {
  return { content: [{ type: 'text', text: why }], isError: true, skipped: true, durationMs: null };
}

/**
 * Calls ended. If a steer waits, the calls that have not begun are skipped in the same commit. Parallel calls (`together`) count as one: a
 * steer is taken when the last of them has ended.
 */
export function endCalls(
  state: SessionState,
  ended: readonly { id: string; result: CallResult }[],
  fresh: Fresh,
  together: readonly string[] = [],
): Decision {
  if (!state.run || state.run.aborting) return reject('aborted');
  const draft = createDraft(state);
  for (const { id, result } of ended) {
    const call = draft.state.run?.calls.find((open) => open.id === id);
    if (call) sayCallEnd(draft, call, result, fresh);
  }
  const someRun = draft.state.run?.calls.some(({ id }) => together.includes(id)) ?? false;
  if (!someRun && steerWaits(state)) saySkipped(draft, fresh);
  return accept(draft.facts, undefined);
}

/** A steer came while a later call waited for its approval: all calls that have not begun are skipped. */
export function skipForSteer(state: SessionState, fresh: Fresh): Decision {
  if (!state.run || state.run.aborting || !steerWaits(state)) return reject('aborted');
  const draft = createDraft(state);
  saySkipped(draft, fresh);
  return accept(draft.facts, undefined);
}

function saySkipped(draft: Draft, fresh: Fresh): void {
  for (const call of draft.state.run?.calls ?? []) {
    if (call.started) continue;
    sayResolved(draft, (request) => request.tool_call_id === call.id, 'steer', 'steered');
    sayCallEnd(draft, call, notRun('Not run: the user sent a message before this call began.'), fresh);
  }
}

function sayResolved(
  draft: Draft,
  matches: (request: UiRequest) => boolean,
  by: string,
  outcome: EventPayload<'ui_resolved'>['outcome'],
  result?: UiAnswer,
): void {
  for (const request of draft.state.requests.filter(matches)) {
    const { session_id, run_id, request_id } = request;
    draft.say({
      type: 'ui_resolved',
      payload: { session_id, run_id, request_id, by, outcome, ...(result === undefined ? {} : { result }) },
    });
  }
}

/** Atomic: the end of a run and the check for queued inputs are one decision, so no input is lost between them. */
export function endTurn(state: SessionState, fresh: Fresh): Decision {
  const { run } = state;
  if (!run || run.aborting) return reject('aborted');
  if (run.turns >= limits.turnsPerRunMax) {
    const message = `the run was stopped at the limit of ${limits.turnsPerRunMax} turns; send a message to go on`;
    return settleRun(state, { outcome: 'failed', error: { code: 'session_error', message }, partialContent: [] }, fresh);
  }
  const draft = createDraft(state);
  if (run.turn) sayTurnEnd(draft, run.turn);
  const callsMade = run.turn?.callsMade ?? 0;
  // A run that was only a compaction takes nothing from a paused queue.
  const kind = state.paused ? undefined : callsMade > 0 ? (steerWaits(state) ? 'steer' : undefined) : nextKind(state);
  if (kind) sayTakenTurn(draft, kind, waitingOf(state, kind), fresh);
  else if (callsMade > 0) sayTurn(draft, 'tool_results', [], fresh);
  // An open compaction is done before the run ends.
  else if (!state.compaction) sayRunEnd(draft, run, 'completed', null);
  return accept(draft.facts, undefined);
}

function sayTurnEnd(draft: Draft, { kind, inputIds }: Turn): void {
  draft.say({ type: 'turn_end', payload: { ...atTurn(draft.state), kind, input_ids: inputIds } });
}

function sayRunEnd(draft: Draft, run: ActiveRun, outcome: RunOutcome, error: RunError | null): void {
  const usage = usageSince(run.usageBefore, draft.state.usage);
  draft.say({ type: 'agent_end', payload: { session_id: draft.state.id, run_id: run.id, outcome, error, usage } });
}

/** Aborts a run. Its queue is dropped at once, or paused. */
export function abortRun(state: SessionState, keepQueue: boolean, reason: string | undefined): Decision<{ runId: string }> {
  if (!state.run) return reject('no_active_run');
  const draft = createDraft(state);
  sayAbort(draft, keepQueue, reason);
  return accept(draft.facts, { runId: state.run.id });
}

export function sayAbort(draft: Draft, keepQueue: boolean, reason = unexplainedAbort): void {
  const { id: session_id, run, inputs, paused } = draft.state;
  if (!run || run.aborting) return;
  const at = { session_id, run_id: run.id };
  draft.say({ type: 'status', payload: { ...at, message: reason, run_state: 'aborting' } });
  if (keepQueue) {
    draft.say({ type: 'queue_update', payload: { ...at, op: 'paused', paused: true } });
  } else if (inputs.length > 0 && !(paused && run.turns === 0)) {
    // A queue that was paused before a compaction does not belong to its run.
    draft.say({ type: 'queue_update', payload: { ...at, op: 'dropped', dropped: inputs.map(toDropped), paused } });
  }
}

/**
 * A denial without a reason ends the run as aborted, in one commit. In its next run the model reads of the denial, not of an abort. The
 * queue is kept and paused.
 */
export function stopForDenial(state: SessionState, callId: string, why: string, fresh: Fresh): Decision {
  if (!state.run) return reject('no_active_run');
  const draft = createDraft(state);
  const denied = state.run.calls.find(({ id }) => id === callId);
  sayAbort(draft, state.inputs.length > 0, `${denied?.name ?? 'a call'} was denied`);
  for (const call of draft.state.run?.calls ?? []) {
    const other = call.started ? { ...notRun('Stopped: the person denied another call.'), skipped: false } : notRun(otherDenied);
    sayResolved(draft, (request) => request.tool_call_id === call.id, 'abort', 'aborted');
    sayCallEnd(draft, call, call.id === callId ? notRun(why) : other, fresh);
  }
  const settled = settleRun(draft.state, { outcome: 'aborted', error: null, partialContent: [] }, fresh);
  return settled.ok ? accept([...draft.facts, ...settled.facts], undefined) : settled;
}

const otherDenied = 'Not run: the person denied another call.';

export interface Settlement {
  outcome: 'aborted' | 'failed' | 'interrupted';
  error: RunError | null;
  /** The content of the open message so far. */
  partialContent: ContentBlock[];
  /** The usage of the open response. */
  usage?: Usage | null;
}

const settleTexts = {
  aborted: { call: 'Stopped: the run was aborted.', pending: 'Not run: the run was aborted.', stop: 'aborted' },
  failed: { call: 'Stopped: the run failed.', pending: 'Not run: the run failed.', stop: 'error' },
  interrupted: {
    call: 'Interrupted: the daemon stopped while this call ran. It may or may not have had its effect.',
    pending: 'Not run: the daemon stopped before this call began.',
    stop: 'error',
  },
} as const;

/** Ends a run early: message, calls, requests, compaction and turn are closed in one commit. */
export function settleRun(state: SessionState, requested: Settlement, fresh: Fresh): Decision {
  const { run } = state;
  if (!run) return reject('no_active_run');
  // Race: an accepted abort takes precedence over a failure or an interruption at the same moment.
  const { outcome, error, partialContent, usage }: Settlement = run.aborting
    ? { ...requested, outcome: 'aborted', error: toAbortError(run) }
    : requested;
  const words = settleTexts[outcome];
  const draft = createDraft(state);
  if (run.message) {
    // Tool calls of a truncated message never ran, and their arguments may be incomplete.
    const content = partialContent.filter((block) => block.type !== 'tool_call');
    sayMessageEnd(draft, { id: run.message.id, role: 'assistant', content, stopReason: words.stop, model: state.model }, outcome, fresh);
  }
  for (const call of draft.state.run?.calls ?? []) {
    const result = call.started ? { ...notRun(words.call), skipped: false } : notRun(words.pending);
    sayResolved(draft, (request) => request.tool_call_id === call.id, outcome === 'aborted' ? 'abort' : outcome, toResolved(outcome));
    sayCallEnd(draft, call, result, fresh);
  }
  sayUsage(draft, usage ?? null, state.contextLeftPercent);
  sayCompactionFailed(draft, { code: 'session_error', message: `the run was ${outcome === 'failed' ? 'stopped' : outcome}` });
  if (draft.state.run?.turn) sayTurnEnd(draft, draft.state.run.turn);
  if (error && outcome !== 'aborted') {
    draft.say({ type: 'error', payload: { session_id: state.id, run_id: run.id, ...error } });
  }
  if (outcome !== 'aborted') {
    draft.say({ type: 'queue_update', payload: { session_id: state.id, run_id: run.id, op: 'paused', paused: true } });
  }
  sayRunEnd(draft, run, outcome, error);
  sayAfterRun(draft, fresh);
  return accept(draft.facts, undefined);
}

/** The error of an aborted run: the reason of the abort. */
function toAbortError({ abortReason: message }: ActiveRun): RunError | null {
  return message === null ? null : { code: 'aborted', message };
}

function toResolved(outcome: Settlement['outcome']): 'aborted' | 'interrupted' {
  return outcome === 'aborted' ? 'aborted' : 'interrupted';
}

/** After the end of a run: deletes the session, or starts the run of inputs that were accepted during an abort. */
function sayAfterRun(draft: Draft, fresh: Fresh): void {
  const { id: session_id, deleting, inputs, paused } = draft.state;
  if (deleting) {
    draft.say({ type: 'session_update', payload: { session_id, deleted: true } });
    return;
  }
  const first = inputs.find((input) => input.for_run !== undefined && !input.hold);
  if (first?.for_run === undefined) {
    // The queue was kept and unpaused during the abort: its inputs go on at once.
    if (!paused) sayQueuedRun(draft, fresh.id('run'), fresh);
    return;
  }
  draft.say({ type: 'agent_start', payload: { session_id, run_id: first.for_run } });
  sayTakenTurn(draft, 'prompt', [first], fresh);
}

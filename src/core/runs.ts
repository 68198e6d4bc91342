import { isEmptyAnswer, textOf } from '../protocol/content.js';
import type { EventPayload, ResultDetails, RunError, RunOutcome } from '../protocol/events.js';
import { limits } from '../protocol/limits.js';
import type { ContentBlock, Usage } from '../protocol/messages.js';
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

/** What the run of a session needs next. Derived from rows, so that a restart finds the same step. */
export type Step = 'none' | 'settle_abort' | 'compact' | 'respond' | 'calls' | 'end_turn';

export function nextStep(state: SessionState): Step {
  const run = state.run;
  if (!run) return 'none';
  if (run.aborting) return 'settle_abort';
  if (run.turn?.responded) return run.calls.length > 0 ? 'calls' : 'end_turn';
  // Between two turns, before the model is asked.
  if (state.compaction) return 'compact';
  return run.turn ? 'respond' : 'end_turn';
}

/** The response begins. Refused once the run is being aborted. */
export function beginMessage(state: SessionState, messageId: string): Decision {
  if (!state.run || state.run.aborting) return reject('aborted');
  return accept([{ type: 'message_start', payload: { ...atTurn(state), message_id: messageId, role: 'assistant' } }], undefined);
}

/** The response ended. A message without content is discarded: it is not part of the history. */
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

/** The response ended, and with it the turn when there is nothing more to do in it: one commit instead of two. */
export function endResponse(
  state: SessionState,
  message: Omit<NewMessage, 'role'>,
  contextLeftPercent: number | null,
  fresh: Fresh,
): Decision {
  const said = endMessage(state, message, contextLeftPercent, fresh);
  if (!said.ok) return said;
  const now = said.facts.reduce(evolve, state);
  if (nextStep(now) !== 'end_turn') return said;
  const ended = endTurn(now, fresh);
  return ended.ok ? accept([...said.facts, ...ended.facts], undefined) : ended;
}

export interface Retry {
  error: RunError;
  retryInMs: number;
  attempt: number;
  attemptsMax: number;
  /** What the failed attempt used up. */
  usage: Usage | null;
}

/** The response failed and is asked for again: what it had said so far is not part of the history. */
export function retryResponse(state: SessionState, { error, retryInMs, attempt, attemptsMax, usage }: Retry): Decision {
  if (!state.run || state.run.aborting) return reject('aborted');
  const draft = createDraft(state);
  if (state.run.message) {
    const { id: message_id, role } = state.run.message;
    draft.say({ type: 'message_end', payload: { ...atTurn(state), message_id, role, discarded: true, reason: 'retried' } });
  }
  const told = { ...error, retry_in_ms: retryInMs, attempt, attempts_max: attemptsMax };
  const at = { session_id: state.id, run_id: state.run.id, ...(state.run.turn ? { turn_id: state.run.turn.id } : {}) };
  draft.say({ type: 'error', payload: { ...at, ...told } });
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

/** What answered an approval in the place of a person. */
export type SettledBy = 'mode' | 'rule';

/** The call begins. An approval that it was asked for and no longer needs is not left open: `settledBy` says what allowed it. */
export function startCall(state: SessionState, callId: string, title: string, settledBy?: SettledBy): Decision {
  const call = state.run?.calls.find(({ id }) => id === callId);
  if (!call || call.started || state.run?.aborting) return reject('aborted');
  const draft = createDraft(state);
  if (settledBy) sayResolved(draft, (request) => isApprovalOf(request, callId), settledBy, 'answered', 'allow_once');
  sayResolved(draft, (request) => request.tool_call_id === callId, 'policy', 'cancelled');
  draft.say({ type: 'tool_execution_start', payload: { ...atTurn(state), ...named(call), args: call.args, title } });
  return accept(draft.facts, undefined);
}

function isApprovalOf({ tool_call_id, params }: UiRequest, callId: string): boolean {
  return tool_call_id === callId && params.kind === 'approval';
}

function named(call: OpenCall): { tool_call_id: string; tool_name: string } {
  return { tool_call_id: call.id, tool_name: call.name };
}

export interface CallResult {
  /** What denied a call that a person was still being asked about. */
  denied?: { by: SettledBy; why: string };
  /** Structure for whoever shows it. */
  details?: ResultDetails;
  content: ContentBlock[];
  isError: boolean;
  skipped: boolean;
  durationMs: number | null;
}

/** The end of a call and its result are one commit. A call that never started gets its start here too. */
function sayCallEnd(draft: Draft, call: OpenCall, result: CallResult, fresh: Fresh): void {
  const at = atTurn(draft.state);
  if (!call.started) {
    draft.say({ type: 'tool_execution_start', payload: { ...at, ...named(call), args: call.args, title: call.name } });
  }
  if (result.denied) {
    const { by, why: reason } = result.denied;
    sayResolved(draft, (request) => isApprovalOf(request, call.id), by, 'denied', { value: 'deny', reason });
  }
  // A call that is over asks nothing any more.
  sayResolved(draft, (request) => request.tool_call_id === call.id, 'policy', 'cancelled');
  const { content, isError, skipped, durationMs } = result;
  const messageId = fresh.id('msg');
  draft.say({
    type: 'tool_execution_end',
    payload: {
      ...at,
      ...named(call),
      message_id: messageId,
      result: textOf(content),
      is_error: isError,
      skipped,
      duration_ms: durationMs,
      ...result.details,
    },
  });
  sayMessage(draft, { id: messageId, role: 'tool_result', content, toolCall: { id: call.id, name: call.name, isError, skipped } }, fresh);
}

function notRun(why: string): CallResult {
  return { content: [{ type: 'text', text: why }], isError: true, skipped: true, durationMs: null };
}

/**
 * Calls ended. If a steer waits, the calls that have not begun are skipped in the same commit. Calls that run side by side
 * (`together`) count as one: the steer is looked for when the last of them has ended.
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

/** A steer came while a later call waited for approval: it and the rest are skipped. */
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

/** The end of a run and "nothing waits" are one decision, so an input is either before it and runs, or after it and is told. */
export function endTurn(state: SessionState, fresh: Fresh): Decision {
  const { run } = state;
  if (!run || run.aborting) return reject('aborted');
  if (run.turns >= limits.turnsPerRunMax) {
    const message = `the run was stopped after ${limits.turnsPerRunMax} turns`;
    return settleRun(state, { outcome: 'failed', error: { code: 'session_error', message }, partialContent: [] }, fresh);
  }
  const draft = createDraft(state);
  if (run.turn) sayTurnEnd(draft, run.turn);
  const callsMade = run.turn?.callsMade ?? 0;
  // A run that only made a summary leaves a paused queue alone.
  const kind = state.paused ? undefined : callsMade > 0 ? (steerWaits(state) ? 'steer' : undefined) : nextKind(state);
  if (kind) sayTakenTurn(draft, kind, waitingOf(state, kind), fresh);
  else if (callsMade > 0) sayTurn(draft, 'tool_results', [], fresh);
  // A summary that was asked for is made before the run ends.
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

/** Asks a run to stop. Its queue is dropped here and now, or paused. */
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
    // What was paused before a summary was asked for has nothing to do with it.
    draft.say({ type: 'queue_update', payload: { ...at, op: 'dropped', dropped: inputs.map(toDropped), paused } });
  }
}

/**
 * A plain no to a call ends the run as aborted, in one commit. The model reads of it in its next run, and not of an abort. What waits
 * is kept, paused: nobody asked to drop it.
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
  /** What the open message had said so far. */
  partialContent: ContentBlock[];
  /** What it used up. */
  usage?: Usage | null;
}

const settleWords = {
  aborted: { call: 'Stopped: the run was aborted.', pending: 'Not run: the run was aborted.', stop: 'aborted' },
  failed: { call: 'Stopped: the run failed.', pending: 'Not run: the run failed.', stop: 'error' },
  interrupted: {
    call: 'Interrupted: the daemon stopped while this call ran. It may or may not have had its effect.',
    pending: 'Not run: the daemon stopped before this call began.',
    stop: 'error',
  },
} as const;

/** Ends a run before its time: everything that is open is closed, in order, in one commit. */
export function settleRun(state: SessionState, asked: Settlement, fresh: Fresh): Decision {
  const { run } = state;
  if (!run) return reject('no_active_run');
  // An abort that was accepted is what the run comes to, whatever else goes wrong at the same moment.
  const { outcome, error, partialContent, usage }: Settlement = run.aborting
    ? { ...asked, outcome: 'aborted', error: toAbortError(run) }
    : asked;
  const words = settleWords[outcome];
  const draft = createDraft(state);
  if (run.message) {
    // Calls of a message that was cut never ran and their arguments may be half: they are not part of what was said.
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

/** Why a run was aborted is told with its end. */
function toAbortError({ abortReason: message }: ActiveRun): RunError | null {
  return message === null ? null : { code: 'aborted', message };
}

function toResolved(outcome: Settlement['outcome']): 'aborted' | 'interrupted' {
  return outcome === 'aborted' ? 'aborted' : 'interrupted';
}

/** What was only waiting for the run to be over: the session's deletion, or the run that an input was accepted for meanwhile. */
function sayAfterRun(draft: Draft, fresh: Fresh): void {
  const { id: session_id, deleting, inputs, paused } = draft.state;
  if (deleting) {
    draft.say({ type: 'session_update', payload: { session_id, deleted: true } });
    return;
  }
  const first = inputs.find((input) => input.for_run !== undefined && !input.hold);
  if (first?.for_run === undefined) {
    // Unpaused while it was being aborted with its queue kept: what waits goes on at once.
    if (!paused) sayQueuedRun(draft, fresh.id('run'), fresh);
    return;
  }
  draft.say({ type: 'agent_start', payload: { session_id, run_id: first.for_run } });
  sayTakenTurn(draft, 'prompt', [first], fresh);
}

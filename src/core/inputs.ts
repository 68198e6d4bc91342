import { utf8Bytes } from '../protocol/content.js';
import type { EventPayload, QueuedInput } from '../protocol/events.js';
import { refusal } from '../protocol/errors.js';
import { limits } from '../protocol/limits.js';
import type { ContentBlock } from '../protocol/messages.js';
import { accept, createDraft, refuse, reject, type Admission, type Decision, type Draft, type Fresh } from './decision.js';
import { sayQueuedRun, sayResumed, sayRun } from './turns.js';
import type { SessionState, WaitingInput } from './session.js';

export interface NewInput {
  id: string;
  command: 'prompt' | 'steer' | 'follow_up';
  text: string;
  content: ContentBlock[] | null;
  client: string | null;
  /** What to do when a run is in progress (prompt) or none is (steer, follow_up). */
  otherwise: 'reject' | 'prompt' | 'steer' | 'follow_up';
  /** Where a prompt starts from, when not at the session's leaf. */
  leafId?: string;
}

/** An input that was acknowledged before, and with what. */
export interface EarlierInput {
  sessionId: string;
  command: string;
  text: string;
  content: ContentBlock[] | null;
  runId: string;
  seq: number;
}

export interface Submitted {
  runId: string;
  /** Set when this is a retry: the reply says again what it said before. */
  seq?: number;
}

/** Admits an input. A retry with the same id and content is accepted and changes nothing. */
export function submitInput(state: SessionState, input: NewInput, earlier: EarlierInput | undefined, fresh: Fresh): Decision<Submitted> {
  if (earlier)
    return sameInput(state.id, input, earlier) ? accept([], { runId: earlier.runId, seq: earlier.seq }) : reject('input_conflict');
  if (isEmpty(input)) return reject('empty_prompt');
  if (!state.run)
    return input.command === 'prompt' || input.otherwise === 'prompt' ? startRun(state, input, fresh) : reject('no_active_run');
  if (state.run.aborting) return submitWhileAborting(state, input, fresh);
  if (input.command !== 'prompt') return enqueue(state, input, input.command, state.run.id, false);
  // A prompt from another leaf cannot join a run that goes on from this one.
  if (input.leafId === undefined && (input.otherwise === 'steer' || input.otherwise === 'follow_up')) {
    return enqueue(state, input, input.otherwise, state.run.id, false);
  }
  return reject('run_in_progress');
}

/** While a run is being aborted nothing joins it; what may start a run waits for the one to come. */
function submitWhileAborting(state: SessionState, input: NewInput, fresh: Fresh): Decision<Submitted> {
  if (input.command === 'prompt') return reject('run_in_progress');
  if (input.otherwise !== 'prompt') return reject('no_active_run');
  const runToCome = state.inputs.find(({ for_run }) => for_run !== undefined)?.for_run ?? fresh.id('run');
  return enqueue(state, input, input.command, runToCome, true);
}

function sameInput(sessionId: string, input: NewInput, earlier: EarlierInput): boolean {
  return (
    earlier.sessionId === sessionId &&
    earlier.command === input.command &&
    earlier.text === input.text &&
    JSON.stringify(earlier.content) === JSON.stringify(input.content)
  );
}

function isEmpty(input: { text: string; content?: ContentBlock[] | null }): boolean {
  return input.text.trim() === '' && !input.content?.some((block) => block.type !== 'text' || block.text.trim() !== '');
}

function startRun(state: SessionState, input: NewInput, fresh: Fresh): Decision<Submitted> {
  const draft = createDraft(state);
  if (input.leafId !== undefined && input.leafId !== state.leafId) {
    draft.say({ type: 'session_update', payload: { session_id: state.id, leaf_id: input.leafId } });
  }
  const runId = fresh.id('run');
  sayRun(draft, runId, input, fresh);
  return accept(draft.facts, { runId }, admission(input, 'prompt', 'taken', runId, false));
}

function enqueue(
  state: SessionState,
  input: NewInput,
  kind: 'steer' | 'follow_up',
  runId: string,
  forNextRun: boolean,
): Decision<Submitted> {
  if (state.inputs.length >= limits.queuedInputsMax) return reject('queue_full', `${limits.queuedInputsMax} messages wait already`);
  if (queuedBytes(state.inputs) + bytesOf(input) > limits.queuedTextBytesMax) return reject('queue_full', 'the waiting texts are too long');
  const queued: QueuedInput = {
    input_id: input.id,
    kind,
    text: input.text,
    hold: false,
    revision: 1,
    client: input.client,
    ...(forNextRun ? { for_run: runId } : {}),
  };
  // An input that will start a run, or follows a summary that was made while the queue was paused, clears the pause as a prompt does.
  const paused = forNextRun || state.run?.turns === 0 ? false : state.paused;
  const added: EventPayload<'queue_update'> = { session_id: state.id, run_id: runId, op: 'added', input: queued, paused };
  return accept([{ type: 'queue_update', payload: added }], { runId }, admission(input, kind, 'waiting', runId, forNextRun));
}

function admission(
  { id: inputId, command, text, content, client }: NewInput,
  kind: Admission['kind'],
  state: Admission['state'],
  runId: string,
  forNextRun: boolean,
): Admission {
  return { inputId, command, kind, state, text, content, client, runId, forNextRun };
}

function bytesOf(input: { text: string; content?: ContentBlock[] | null }): number {
  return utf8Bytes(input.text) + (input.content ? utf8Bytes(JSON.stringify(input.content)) : 0);
}

function queuedBytes(inputs: readonly WaitingInput[]): number {
  return inputs.reduce((sum, input) => sum + (input.bytes ?? bytesOf(input)), 0);
}

export interface QueuedChange {
  inputId: string;
  revision: number;
  text?: string;
  kind?: 'steer' | 'follow_up';
  position?: number;
  hold?: boolean;
}

/** Edits, moves, holds or releases one waiting input. A release in an idle, unpaused session starts a run. */
export function updateQueued(state: SessionState, change: QueuedChange, fresh: Fresh): Decision<{ revision: number }> {
  const found = findWaiting(state, change.inputId);
  if (!found) return reject('not_waiting');
  if (found.revision !== change.revision) {
    return refuse(refusal('command_rejected', 'revision_conflict', { revision: found.revision }));
  }
  const draft = createDraft(state);
  const { content, bytes: _bytes, ...before } = found;
  const edited = {
    ...before,
    text: change.text ?? before.text,
    kind: change.kind ?? before.kind,
    hold: change.hold ?? before.hold,
  };
  if (isEmpty({ text: edited.text, content: content ?? null })) return reject('empty_prompt');
  const others = state.inputs.filter((input) => input !== found);
  if (queuedBytes(others) + bytesOf(edited) > limits.queuedTextBytesMax) return reject('queue_full', 'the waiting texts are too long');
  const input = { ...edited, revision: before.revision + 1 };
  const textChanged = edited.text !== before.text || edited.kind !== before.kind;
  if (textChanged) sayQueue(draft, { op: 'edited', input: { ...input, hold: before.hold } });
  if (edited.hold !== before.hold) sayQueue(draft, { op: edited.hold ? 'held' : 'released', input });
  if (change.position !== undefined) {
    const order = others.map(({ input_id }) => input_id);
    order.splice(change.position, 0, change.inputId);
    sayQueue(draft, { op: 'moved', order });
  }
  if (!draft.state.run && !draft.state.paused) sayQueuedRun(draft, fresh.id('run'), fresh);
  const changed = textChanged || edited.hold !== before.hold;
  return accept(draft.facts, { revision: changed ? input.revision : before.revision });
}

function findWaiting(state: SessionState, inputId: string): WaitingInput | undefined {
  return state.inputs.find((input) => input.input_id === inputId);
}

function sayQueue(draft: Draft, change: Omit<EventPayload<'queue_update'>, 'session_id' | 'paused'>): void {
  draft.say({ type: 'queue_update', payload: { session_id: draft.state.id, ...change, paused: draft.state.paused } });
}

export function removeQueued(state: SessionState, inputId: string): Decision {
  const found = findWaiting(state, inputId);
  if (!found) return reject('not_waiting');
  const { content: _content, bytes: _bytes, ...input } = found;
  const draft = createDraft(state);
  sayQueue(draft, { op: 'removed', input });
  return accept(draft.facts, undefined);
}

export function clearQueue(state: SessionState): Decision<{ count: number }> {
  const draft = createDraft(state);
  const dropped = state.inputs.map(({ input_id, kind, text }) => ({ input_id, kind, text }));
  if (dropped.length > 0) sayQueue(draft, { op: 'dropped', dropped });
  return accept(draft.facts, { count: dropped.length });
}

/** Unpauses, and starts a run with the first waiting input if none is in progress. */
export function resumeQueue(state: SessionState, fresh: Fresh): Decision<{ runId: string }> {
  const draft = createDraft(state);
  if (state.run) {
    // Only a run that is being aborted with its queue kept is paused: what waits then goes on when it has ended.
    sayResumed(draft);
    return accept(draft.facts, { runId: state.run.id });
  }
  const runId = sayQueuedRun(draft, fresh.id('run'), fresh);
  return accept(draft.facts, { runId });
}

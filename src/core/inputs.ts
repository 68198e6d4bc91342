import { textOf, utf8Bytes } from '../protocol/content.js';
import type { EventPayload, QueuedImage, QueuedInput } from '../protocol/events.js';
import { refusal } from '../protocol/errors.js';
import { limits } from '../protocol/limits.js';
import type { ContentBlock } from '../protocol/messages.js';
import { accept, createDraft, refuse, reject, type Admission, type Decision, type Draft, type Fresh } from './decision.js';
import { sayQueuedRun, sayResumed, sayRun, toDropped } from './turns.js';
import type { SessionState } from './session.js';

export interface NewInput {
  id: string;
  command: 'prompt' | 'steer' | 'follow_up';
  text: string;
  content: ContentBlock[] | null;
  client: string | null;
  /** What to do when a run is in progress (prompt) or none is (steer, follow_up). */
  otherwise: 'reject' | 'prompt' | 'steer' | 'follow_up';
  /** The entry that a prompt continues from, if not the session's leaf. */
  leafId?: string;
}

/** An input that was acknowledged before, and its reply. */
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
  /** Set for a retry: the seq of the first reply. */
  seq?: number;
}

/** Admits an input. Its id is the idempotency key: a retry with the same content is accepted and changes nothing. */
export function submitInput(state: SessionState, sent: NewInput, earlier: EarlierInput | undefined, fresh: Fresh): Decision<Submitted> {
  const input = { ...sent, text: inputText(sent) };
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

/** No input joins a run that is being aborted; an input that may start a run waits for the next one. */
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

/** The text of an input: that of its content, if there is any, else its `text`. */
function inputText({ text, content }: NewInput): string {
  const words = textOf(content ?? []);
  return words.trim() === '' ? text : words;
}

function isEmpty({ text, content }: NewInput): boolean {
  return text.trim() === '' && !content?.some((block) => block.type !== 'text');
}

function decodedBytes(base64: string): number {
  return (base64.length / 4) * 3 - (base64.endsWith('==') ? 2 : base64.endsWith('=') ? 1 : 0);
}

function imagesOf(content: ContentBlock[] | null): QueuedImage[] {
  const images = content?.filter((block) => block.type === 'image') ?? [];
  return images.map(({ mime_type, data }) => ({ mime_type, bytes: decodedBytes(data) }));
}

function startRun(state: SessionState, input: NewInput, fresh: Fresh): Decision<Submitted> {
  const draft = createDraft(state);
  sayGoneOn(draft);
  if (input.leafId !== undefined && input.leafId !== state.leafId) {
    draft.say({ type: 'session_update', payload: { session_id: state.id, leaf_id: input.leafId } });
  }
  const runId = fresh.id('run');
  sayRun(draft, runId, input, fresh);
  return accept(draft.facts, { runId }, admission(input, 'prompt', 'taken', runId, false));
}

/** A second input makes a one-off session an ordinary one. */
function sayGoneOn(draft: Draft): void {
  const { id, oneOff, run, lastRun, leafId } = draft.state;
  const hasBegun = run !== null || lastRun !== null || leafId !== null;
  if (oneOff && hasBegun) draft.say({ type: 'session_update', payload: { session_id: id, one_off: false } });
}

function enqueue(
  state: SessionState,
  input: NewInput,
  kind: 'steer' | 'follow_up',
  runId: string,
  forNextRun: boolean,
): Decision<Submitted> {
  if (state.inputs.length >= limits.queuedInputsMax)
    return reject('queue_full', `${limits.queuedInputsMax} messages are in the queue already; wait until one is taken, or remove one`);
  const images = imagesOf(input.content);
  const queued: QueuedInput = {
    input_id: input.id,
    kind,
    text: input.text,
    hold: false,
    revision: 1,
    client: input.client,
    ...(forNextRun ? { for_run: runId } : {}),
    ...(images.length > 0 ? { images } : {}),
  };
  if (queuedBytes([...state.inputs, queued]) > limits.queuedTextBytesMax) return reject('queue_full', queueTooLong);
  // An input that will start a run, or follows a compaction in a paused session, unpauses the queue as a prompt does.
  const paused = forNextRun || state.run?.turns === 0 ? false : state.paused;
  const added: EventPayload<'queue_update'> = { session_id: state.id, run_id: runId, op: 'added', input: queued, paused };
  const draft = createDraft(state);
  sayGoneOn(draft);
  draft.say({ type: 'queue_update', payload: added });
  return accept(draft.facts, { runId }, admission(input, kind, 'waiting', runId, forNextRun));
}

function admission(
  { id: inputId, command, text, content, client }: NewInput,
  kind: Admission['kind'],
  state: Admission['state'],
  runId: string,
  forNextRun: boolean,
): Admission {
  return { inputId, command, kind, state, text, content, images: imagesOf(content), client, runId, forNextRun };
}

const queueTooLong = `the texts and images in the queue would exceed ${limits.queuedTextBytesMax} bytes; send less, or remove some`;

/** Bytes of texts in UTF-8 and images in base64. */
function queuedBytes(inputs: readonly QueuedInput[]): number {
  const bytesOf = ({ text, images = [] }: QueuedInput): number =>
    images.reduce((sum, { bytes }) => sum + Math.ceil(bytes / 3) * 4, utf8Bytes(text));
  return inputs.reduce((sum, input) => sum + bytesOf(input), 0);
}

export interface QueuedChange {
  inputId: string;
  revision: number;
  text?: string;
  kind?: 'steer' | 'follow_up';
  position?: number;
  hold?: boolean;
}

/** Edits, moves, holds or releases one waiting input; its images stay. A release in an idle, unpaused session starts a run. */
export function updateQueued(state: SessionState, change: QueuedChange, fresh: Fresh): Decision<{ revision: number }> {
  const found = findWaiting(state, change.inputId);
  if (!found) return reject('not_waiting');
  if (found.revision !== change.revision) {
    return refuse(refusal('command_rejected', 'revision_conflict', { revision: found.revision }));
  }
  const draft = createDraft(state);
  const { text = found.text, kind = found.kind, hold = found.hold } = change;
  const input = { ...found, text, kind, hold, revision: found.revision + 1 };
  if (text.trim() === '' && !found.images) return reject('empty_prompt');
  const others = state.inputs.filter((other) => other !== found);
  if (queuedBytes([...others, input]) > limits.queuedTextBytesMax) return reject('queue_full', queueTooLong);
  const edited = text !== found.text || kind !== found.kind;
  if (edited) sayQueue(draft, { op: 'edited', input: { ...input, hold: found.hold } });
  if (hold !== found.hold) sayQueue(draft, { op: hold ? 'held' : 'released', input });
  if (change.position !== undefined) {
    const order = others.map(({ input_id }) => input_id);
    order.splice(change.position, 0, change.inputId);
    sayQueue(draft, { op: 'moved', order });
  }
  if (!draft.state.run && !draft.state.paused) sayQueuedRun(draft, fresh.id('run'), fresh);
  return accept(draft.facts, { revision: edited || hold !== found.hold ? input.revision : found.revision });
}

function findWaiting(state: SessionState, inputId: string): QueuedInput | undefined {
  return state.inputs.find((input) => input.input_id === inputId);
}

function sayQueue(draft: Draft, change: Omit<EventPayload<'queue_update'>, 'session_id' | 'paused'>): void {
  draft.say({ type: 'queue_update', payload: { session_id: draft.state.id, ...change, paused: draft.state.paused } });
}

export function removeQueued(state: SessionState, inputId: string): Decision {
  const input = findWaiting(state, inputId);
  if (!input) return reject('not_waiting');
  const draft = createDraft(state);
  sayQueue(draft, { op: 'removed', input });
  return accept(draft.facts, undefined);
}

export function clearQueue(state: SessionState): Decision<{ count: number }> {
  const draft = createDraft(state);
  const dropped = state.inputs.map(toDropped);
  if (dropped.length > 0) sayQueue(draft, { op: 'dropped', dropped });
  return accept(draft.facts, { count: dropped.length });
}

/** Unpauses, and starts a run with the first waiting input if none is in progress. */
export function resumeQueue(state: SessionState, fresh: Fresh): Decision<{ runId: string }> {
  const draft = createDraft(state);
  if (state.run) {
    // The queue of an active run is paused only during an abort that keeps it: the queued inputs go on after the run.
    sayResumed(draft);
    return accept(draft.facts, { runId: state.run.id });
  }
  const runId = sayQueuedRun(draft, fresh.id('run'), fresh);
  return accept(draft.facts, { runId });
}

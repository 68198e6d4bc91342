import { textOf } from '../protocol/content.js';
import type { QueuedInput } from '../protocol/events.js';
import type { CallDetails, ContentBlock, Message, Role, StopReason, TurnKind, Usage } from '../protocol/messages.js';
import type { Draft, Fresh } from './decision.js';
import type { SessionState } from './session.js';

export interface NewMessage {
  id: string;
  role: Role;
  content: ContentBlock[];
  stopReason?: StopReason | null;
  usage?: Usage | null;
  model?: string | null;
  toolCall?: { id: string; name: string; isError: boolean; skipped: boolean; details: CallDetails | undefined };
}

export function atTurn(state: SessionState): { session_id: string; run_id: string; turn_id: string } {
  return { session_id: state.id, run_id: state.run?.id ?? '', turn_id: state.run?.turn?.id ?? '' };
}

export function toMessage(state: SessionState, message: NewMessage, fresh: Fresh): Message {
  return {
    type: 'message',
    id: message.id,
    parent_id: state.leafId,
    role: message.role,
    text: textOf(message.content),
    content: message.content,
    run_id: state.run?.id ?? '',
    turn_kind: state.run?.turn?.kind ?? 'prompt',
    created_at: new Date(fresh.nowMs).toISOString(),
    usage: message.usage ?? null,
    stop_reason: message.stopReason ?? null,
    model: message.model ?? null,
    ...(message.toolCall
      ? {
          tool_call_id: message.toolCall.id,
          tool_name: message.toolCall.name,
          is_error: message.toolCall.isError,
          ...(message.toolCall.skipped ? { skipped: true } : {}),
          ...(message.toolCall.details ? { details: message.toolCall.details } : {}),
        }
      : {}),
  };
}

/** A complete message that was not streamed, of a user or a tool. */
export function sayMessage(draft: Draft, message: NewMessage, fresh: Fresh): void {
  const at = { ...atTurn(draft.state), message_id: message.id, role: message.role };
  draft.say({ type: 'message_start', payload: at });
  draft.say({ type: 'message_end', payload: { ...at, message: toMessage(draft.state, message, fresh) } });
}

/** The content of an input's message. An edited text replaces the text blocks of the content; images stay. */
function messageContent(text: string, content: ContentBlock[] | null): ContentBlock[] {
  if (!content) return [{ type: 'text', text }];
  if (textOf(content) === text) return content;
  const others = content.filter((block) => block.type !== 'text');
  return text === '' ? others : [{ type: 'text', text }, ...others];
}

export interface TurnInput {
  id: string;
  text: string;
  content: ContentBlock[] | null;
}

export function sayTurn(draft: Draft, kind: TurnKind, inputs: TurnInput[], fresh: Fresh): void {
  const turnId = String((draft.state.run?.turns ?? 0) + 1);
  draft.say({ type: 'turn_start', payload: { ...atTurn(draft.state), turn_id: turnId, kind, input_ids: inputs.map(({ id }) => id) } });
  for (const { text, content } of inputs) {
    sayMessage(draft, { id: fresh.id('msg'), role: 'user', content: messageContent(text, content) }, fresh);
  }
}

/** Takes inputs out of the queue and makes them the user messages of a turn. */
export function sayTakenTurn(draft: Draft, kind: TurnKind, inputs: QueuedInput[], fresh: Fresh): void {
  for (const input of inputs) {
    const { id: session_id, run, paused } = draft.state;
    draft.say({ type: 'queue_update', payload: { session_id, run_id: run?.id ?? '', op: 'taken', input, paused } });
  }
  sayTurn(
    draft,
    kind,
    inputs.map(({ input_id: id, text }) => ({ id, text, content: fresh.contentOf(id) })),
    fresh,
  );
}

/** The fields of a dropped input in a queue_update event. */
export function toDropped({ input_id, kind, text, images }: QueuedInput): Pick<QueuedInput, 'input_id' | 'kind' | 'text' | 'images'> {
  return { input_id, kind, text, ...(images ? { images } : {}) };
}

export function sayResumed(draft: Draft): void {
  if (!draft.state.paused) return;
  draft.say({ type: 'queue_update', payload: { session_id: draft.state.id, op: 'resumed', paused: false } });
}

/** Starts a run with its first input: agent_start, turn_start and the user message. Unpauses the queue. */
export function sayRun(draft: Draft, runId: string, first: TurnInput, fresh: Fresh): void {
  sayResumed(draft);
  draft.say({ type: 'agent_start', payload: { session_id: draft.state.id, run_id: runId } });
  sayTurn(draft, 'prompt', [first], fresh);
}

/** Starts a run with queued inputs, if any is not held. Returns the run id, or an empty string. */
export function sayQueuedRun(draft: Draft, runId: string, fresh: Fresh): string {
  sayResumed(draft);
  const kind = nextKind(draft.state);
  if (!kind) return '';
  const first = waitingOf(draft.state, kind);
  // A held input that was accepted for the next run starts the run with that id.
  const run_id = first.find((input) => input.for_run !== undefined)?.for_run ?? runId;
  draft.say({ type: 'agent_start', payload: { session_id: draft.state.id, run_id } });
  sayTakenTurn(draft, kind, waitingOf(draft.state, kind), fresh);
  return run_id;
}

/** Starts a run that continues an earlier one without a new input. */
export function sayResumingRun(draft: Draft, runId: string, resumes: string, fresh: Fresh): void {
  sayResumed(draft);
  draft.say({ type: 'agent_start', payload: { session_id: draft.state.id, run_id: runId, resumes } });
  sayTurn(draft, 'prompt', [], fresh);
}

/** The queued inputs that one turn boundary takes: one, or all of a kind. Held inputs wait. */
export function waitingOf(state: SessionState, kind: 'steer' | 'follow_up'): QueuedInput[] {
  const ready = state.inputs.filter((input) => input.kind === kind && !input.hold);
  const mode = kind === 'steer' ? state.steeringMode : state.followUpMode;
  return mode === 'all' ? ready : ready.slice(0, 1);
}

/** The kind of the next queued inputs: steers go before follow-ups. */
export function nextKind(state: SessionState): 'steer' | 'follow_up' | undefined {
  if (steerWaits(state)) return 'steer';
  return state.inputs.some((input) => input.kind === 'follow_up' && !input.hold) ? 'follow_up' : undefined;
}

export function steerWaits(state: SessionState): boolean {
  return state.inputs.some((input) => input.kind === 'steer' && !input.hold);
}

import * as z from 'zod';
import { noSession } from './ids.js';
import { compactionTrigger, message, resultDetails, role, turnKind, usage } from './messages.js';
import { lazy } from './lazy.js';
import { rule } from './permissions.js';
import { uiAnswer } from './requests/request-answers.js';
import { uiRequest } from './requests/requests.js';

const inSession = { session_id: z.string() };
const inRun = { ...inSession, run_id: z.string() };
const inTurn = { ...inRun, turn_id: z.string() };
/** Optional ids of events that may occur outside of a run. */
const maybeInRun = { ...inSession, run_id: z.string().optional(), turn_id: z.string().optional() };

export const inputKind = z.enum(['prompt', 'steer', 'follow_up']);
export const queueMode = z.enum(['one-at-a-time', 'all']);
export type QueueMode = z.infer<typeof queueMode>;
export const outcome = z.enum(['completed', 'aborted', 'failed', 'interrupted']);
export type RunOutcome = z.infer<typeof outcome>;
export const thinkingLevel = z.enum(['off', 'low', 'medium', 'high']);

export const approvalMode = z.enum(['ask', 'auto_edit', 'full', 'read_only']);
export const whenDetached = z.enum(['wait', 'deny']);
export const recoveryMode = z.enum(['pause', 'continue']);

/** An image of a waiting message by its type and size; its data is in the message that it becomes. */
export const queuedImage = z.object({ mime_type: z.string(), bytes: z.number() });
export type QueuedImage = z.infer<typeof queuedImage>;

export const queuedInput = z.object({
  input_id: z.string(),
  kind: inputKind,
  text: z.string(),
  hold: z.boolean(),
  revision: z.number(),
  client: z.string().nullable(),
  /** Present on an input that was accepted while a run was being aborted: the run to come that it starts. */
  for_run: z.string().optional(),
  /** Present on an input that came with images. */
  images: z.array(queuedImage).optional(),
  /** The text, or the list of images, was too long for a line. */
  truncated: z.literal(true).optional(),
});
export type QueuedInput = z.infer<typeof queuedInput>;

export const runError = z.object({ code: z.string(), message: z.string(), cause: z.string().optional() });
export type RunError = z.infer<typeof runError>;

/** The mutable fields of a session, also of `session_update`. */
const sessionFields = {
  title: z.string().optional(),
  cwd: z.string().optional(),
  model: z.string().optional(),
  thinking: thinkingLevel.optional(),
  steering_mode: queueMode.optional(),
  follow_up_mode: queueMode.optional(),
  approval_mode: approvalMode.optional(),
  when_detached: whenDetached.optional(),
  recovery: recoveryMode.optional(),
  active_tools: z.array(z.string()).nullable().optional(),
  archived: z.boolean().optional(),
  /** Made for one prompt that nobody has gone on from: not what `.` and a frontend's start choose. */
  one_off: z.boolean().optional(),
  leaf_id: z.string().nullable().optional(),
};

const inDaemon = { session_id: z.literal(noSession) };

/** Makes a row whose schema is built lazily. */
function event<P, const L extends boolean>({ payload, ...row }: { summary: string; live: L; payload: () => P }) {
  const payloadOnce = lazy(payload);
  return {
    ...row,
    get payload(): P {
      return payloadOnce();
    },
  };
}

/** The event table. A durable event is a row of the log; a live event is sent once and not replayed. */
export const events = {
  agent_start: event({
    summary: 'A run began.',
    live: false,
    payload: () => z.object({ ...inRun, resumes: z.string().optional() }),
  }),
  agent_end: event({
    summary: 'A run ended. There is exactly one for each agent_start, whatever happened.',
    live: false,
    payload: () => z.object({ ...inRun, outcome, error: runError.nullable(), usage: usage.nullable() }),
  }),
  turn_start: event({
    summary: 'A model response is about to be asked for.',
    live: false,
    payload: () => z.object({ ...inTurn, kind: turnKind, input_ids: z.array(z.string()) }),
  }),
  turn_end: event({
    summary: 'The response and its tool calls are done.',
    live: false,
    payload: () => z.object({ ...inTurn, kind: turnKind, input_ids: z.array(z.string()) }),
  }),
  message_start: event({
    summary: 'A message began.',
    live: false,
    payload: () => z.object({ ...inTurn, message_id: z.string(), role }),
  }),
  message_update: event({
    summary: 'Text of an open message: `delta`, `thinking_delta` or `tool_call_delta`, at `offset` UTF-16 units of `block`.',
    live: true,
    payload: () =>
      z.object({
        ...inTurn,
        message_id: z.string(),
        block: z.number(),
        offset: z.number(),
        delta: z.string().optional(),
        thinking_delta: z.string().optional(),
        tool_call_delta: z.string().optional(),
        tool_call_id: z.string().optional(),
        tool_name: z.string().optional(),
      }),
  }),
  message_end: event({
    summary: 'A message ended. `message` replaces what the deltas said; a discarded one is not part of the history.',
    live: false,
    payload: () =>
      z.object({
        ...inTurn,
        message_id: z.string(),
        role,
        message: message.optional(),
        discarded: z.literal(true).optional(),
        reason: z.enum(['empty', 'retried', 'aborted', 'failed', 'interrupted']).optional(),
      }),
  }),
  tool_execution_start: event({
    summary: 'A tool call is about to run (approved where approval was needed).',
    live: false,
    payload: () =>
      z.object({
        ...inTurn,
        tool_call_id: z.string(),
        tool_name: z.string(),
        args: z.record(z.string(), z.unknown()),
        title: z.string(),
      }),
  }),
  tool_execution_update: event({
    summary: 'Output of a running tool, at `offset` of its whole output.',
    live: true,
    payload: () =>
      z.object({
        ...inTurn,
        tool_call_id: z.string(),
        tool_name: z.string(),
        offset: z.number(),
        delta: z.string(),
        skipped: z.number().optional(),
      }),
  }),
  tool_execution_end: event({
    summary: 'A tool call is over: it ran, failed, was skipped or was stopped. Exactly one for each call.',
    live: false,
    payload: () =>
      z.object({
        ...inTurn,
        tool_call_id: z.string(),
        tool_name: z.string(),
        /** The tool_result message that the model reads. */
        message_id: z.string(),
        result: z.string(),
        is_error: z.boolean(),
        skipped: z.boolean(),
        duration_ms: z.number().nullable(),
        ...resultDetails.shape,
      }),
  }),
  status: event({
    summary:
      'Something worth knowing happened; `run_state` says that the run is now being aborted, `request_id` that it waits for the answer to that ui_request.',
    live: false,
    payload: () =>
      z.object({ ...maybeInRun, message: z.string(), run_state: z.literal('aborting').optional(), request_id: z.string().optional() }),
  }),
  warning: event({
    summary: 'Something is not as it should be; work goes on.',
    live: false,
    payload: () => z.object({ ...maybeInRun, code: z.string(), message: z.string() }),
  }),
  error: event({
    summary: 'Something failed; `retry_in_ms` says when it is tried again, if it is.',
    live: false,
    payload: () =>
      z.object({
        ...maybeInRun,
        code: z.string(),
        message: z.string(),
        cause: z.string().optional(),
        retry_in_ms: z.number().optional(),
        /** Which attempt failed, from 1, and how many there are. */
        attempt: z.number().optional(),
        attempts_max: z.number().optional(),
      }),
  }),
  queue_update: event({
    summary: 'The queue changed. `added` appends; `taken`, `removed` and `dropped` name what left.',
    live: false,
    payload: () =>
      z.object({
        ...maybeInRun,
        op: z.enum(['added', 'edited', 'moved', 'held', 'released', 'removed', 'taken', 'dropped', 'paused', 'resumed']),
        input: queuedInput.optional(),
        order: z.array(z.string()).optional(),
        dropped: z
          .array(z.object({ input_id: z.string(), kind: inputKind, text: z.string(), images: z.array(queuedImage).optional() }))
          .optional(),
        paused: z.boolean(),
      }),
  }),
  session_update: event({
    summary: 'A session was made, changed, archived or deleted; only what changed is named.',
    live: false,
    payload: () =>
      z.object({
        ...inSession,
        created: z.literal(true).optional(),
        deleting: z.literal(true).optional(),
        deleted: z.literal(true).optional(),
        parent_id: z.string().nullable().optional(),
        ...sessionFields,
      }),
  }),
  ui_request: event({
    summary:
      'A person is asked something, `params.kind` says what. Any controller may answer with ui_response; the first valid answer wins.',
    live: false,
    payload: uiRequest,
  }),
  ui_resolved: event({
    summary:
      'A request was answered, or resolved by abort, steer, timeout, interruption or policy. `by` is `mode` or `rule` where a change of those answered it.',
    live: false,
    payload: () =>
      z.object({
        ...inRun,
        request_id: z.string(),
        by: z.string(),
        outcome: z.enum(['answered', 'cancelled', 'error', 'aborted', 'steered', 'timeout', 'denied', 'interrupted']),
        result: uiAnswer().optional(),
        /** The answer is secret: `result` is omitted. */
        secret: z.literal(true).optional(),
      }),
  }),
  ui_notify: event({
    summary: 'A notice for whoever watches.',
    live: false,
    payload: () =>
      z.object({
        ...inSession,
        params: z.object({ message: z.string(), notify_type: z.enum(['info', 'warn', 'error', 'success']) }),
      }),
  }),
  ui_status: event({
    summary: 'A field of the status line; empty text removes it.',
    live: true,
    payload: () => z.object({ ...inSession, params: z.object({ key: z.string(), text: z.string() }) }),
  }),
  ui_widget: event({
    summary: 'Lines that stay on the screen under a key, such as the list of what is to be done; no lines remove them.',
    live: true,
    payload: () => z.object({ ...inSession, params: z.object({ key: z.string(), lines: z.array(z.string()) }) }),
  }),
  ui_working: event({
    summary: 'What is going on right now, to be shown beside a progress indicator; an empty message removes it.',
    live: true,
    payload: () => z.object({ ...inSession, params: z.object({ message: z.string() }) }),
  }),
  ui_set_title: event({
    summary: 'The title of the terminal or window; an empty title gives it back to the frontend.',
    live: true,
    payload: () => z.object({ ...inSession, params: z.object({ title: z.string() }) }),
  }),
  ui_set_editor_text: event({
    summary: 'A text that is offered to the person to edit and send. Told once: who subscribes later does not get it.',
    live: true,
    payload: () => z.object({ ...inSession, params: z.object({ text: z.string() }) }),
  }),
  draft_update: event({
    summary:
      'A draft was stored, or deleted where `chars` is 0; list_drafts has its text. Told once: who subscribes later does not get it.',
    live: true,
    payload: () => z.object({ ...inSession, draft_id: z.string(), by: z.string(), chars: z.number() }),
  }),
  client_update: event({
    summary: 'Who is attached to the session now.',
    live: true,
    payload: () => z.object({ ...inSession, clients: z.array(z.record(z.string(), z.unknown())) }),
  }),
  usage_update: event({
    summary: 'Tokens and cost of the session so far.',
    live: false,
    payload: () => z.object({ ...maybeInRun, ...usage.shape, context_left_percent: z.number().nullable() }),
  }),
  compaction_start: event({
    summary: 'Old history is about to be summarised, at the next turn boundary of a run in progress.',
    live: false,
    payload: () =>
      z.object({ ...maybeInRun, trigger: compactionTrigger, tokens_before: z.number(), instruction: z.string().nullable().optional() }),
  }),
  compaction_end: event({
    summary: 'The summary stands, as `message`; or nothing changed, and `error` says why. Exactly one for each compaction_start.',
    live: false,
    payload: () =>
      z.object({
        ...maybeInRun,
        trigger: compactionTrigger,
        tokens_before: z.number(),
        tokens_after: z.number().optional(),
        message_id: z.string().optional(),
        summary: z.string().optional(),
        first_kept_entry_id: z.string().optional(),
        message: message.optional(),
        error: runError.optional(),
      }),
  }),
  rule_update: event({
    summary:
      'A permission rule was added or removed. One that counts in a single session is an event of that session; any other has an empty `session_id`, and `workspace` is null for a rule that counts everywhere.',
    live: false,
    payload: () =>
      z.object({
        ...inSession,
        op: z.enum(['added', 'removed']),
        permission_id: z.string(),
        workspace: z.string().nullable(),
        rule,
        /** The client that added or removed the rule. */
        by: z.string(),
      }),
  }),
  trust_update: event({
    summary: "A person said whether exactly this content of a workspace's own config counts. `session_id` is empty.",
    live: false,
    payload: () => z.object({ ...inDaemon, workspace: z.string(), digest: z.string(), trusted: z.boolean(), by: z.string() }),
  }),
  config_update: event({
    summary:
      'config.json was read again, because it changed or somebody asked: which settings have changed, and which of them count only after a restart. With a `problem` it cannot be used, and the config before it stays in force. `session_id` is empty.',
    live: false,
    payload: () =>
      z.object({
        ...inDaemon,
        changed: z.array(z.string()),
        needs_restart: z.array(z.string()),
        /** Why config.json cannot be used. */
        problem: z.string().optional(),
      }),
  }),
  tools_update: event({
    summary: 'A tool was added, changed or removed while the daemon runs; list_tools tells the rest. `session_id` is empty.',
    live: false,
    payload: () => z.object({ ...inDaemon, op: z.enum(['added', 'changed', 'removed']), tool_name: z.string() }),
  }),
  daemon_update: event({
    summary: 'The daemon takes no new runs any more and will stop when those in progress have ended. `session_id` is empty.',
    live: false,
    payload: () => z.object({ ...inDaemon, state: z.enum(['draining']) }),
  }),
  goodbye: event({
    summary: 'The last line before the daemon closes this connection.',
    live: true,
    payload: () => z.object({ reason: z.enum(['shutting_down', 'stalled', 'line_too_long', 'session_deleted']) }),
  }),
} as const;

export type EventType = keyof typeof events;
export type EventPayload<T extends EventType> = z.infer<(typeof events)[T]['payload']>;

type LiveType = { [T in EventType]: (typeof events)[T]['live'] extends true ? T : never }[EventType];
export type DurableType = Exclude<EventType, LiveType>;

/** A fact of a decision: a durable event without its log position. */
export type Fact = { [T in DurableType]: { type: T; payload: EventPayload<T> } }[DurableType];
/** A durable event: a fact with its log position. */
export type DurableEvent = Fact & { seq: number; ts: string };
export type LiveEvent = { [T in LiveType]: { type: T; payload: EventPayload<T> } }[LiveType];
/** Any event as a client reads it. */
export type WireEvent = (Fact | LiveEvent) & { v: '1'; id: string; ts: string; seq?: number };

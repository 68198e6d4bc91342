import * as z from 'zod';
import { approvalMode, outcome, queuedInput, queueMode, recoveryMode, runError, thinkingLevel, whenDetached } from './events.js';
import { compactionTrigger, contentBlock, role, turnKind, usage } from './messages.js';
import { uiMethod, uiRequest } from './requests/requests.js';

/** Shapes that the replies of several commands share. */
export const runState = z.enum(['idle', 'running', 'aborting']);
export type RunState = z.infer<typeof runState>;

export const clientView = z.object({
  client_id: z.string(),
  name: z.string(),
  version: z.string(),
  kind: z.string(),
  role: z.enum(['controller', 'observer']),
  ui_capabilities: z.array(uiMethod),
  session_id: z.string(),
  subscribed: z.boolean(),
});
export type ClientView = z.infer<typeof clientView>;

export const queueView = z.object({ inputs: z.array(queuedInput), paused: z.boolean() });

export const partialMessage = z.object({
  message_id: z.string(),
  role,
  run_id: z.string(),
  turn_id: z.string(),
  content: z.array(contentBlock),
});
export type PartialMessage = z.infer<typeof partialMessage>;

export const runningTool = z.object({
  tool_call_id: z.string(),
  tool_name: z.string(),
  title: z.string(),
  args: z.record(z.string(), z.unknown()),
  output_tail: z.string(),
  offset: z.number(),
});
export type RunningTool = z.infer<typeof runningTool>;

/** What blocks the next call. */
export const callWait = z.object({
  /** A person's approval or answer, a free slot for a run, or the earlier calls. */
  kind: z.enum(['approval', 'question', 'slot', 'calls']),
  request_id: z.string().optional(),
});
export type CallWait = z.infer<typeof callWait>;

export const openCall = z.object({
  tool_call_id: z.string(),
  /** The index of the call in its response, from 0. */
  place: z.number(),
  tool_name: z.string(),
  args: z.record(z.string(), z.unknown()),
  started: z.boolean(),
  /** The display title, once the call has started. */
  title: z.string().nullable(),
  /** Why the arguments cannot be used. */
  problem: z.string().nullable(),
  /** Null while it runs or is about to. */
  waits_for: callWait.nullable(),
});

export const activeRun = z.object({
  run_id: z.string(),
  aborting: z.boolean(),
  /** The reason of the abort, if one was given. */
  abort_reason: z.string().nullable(),
  turns: z.number(),
  turn: z
    .object({
      turn_id: z.string(),
      kind: turnKind,
      input_ids: z.array(z.string()),
      /** The model's response has ended, and made so many tool calls. */
      responded: z.boolean(),
      calls_made: z.number(),
    })
    .nullable(),
  /** The streaming message. */
  message: z.object({ message_id: z.string(), role }).nullable(),
  /** Calls of the turn that have no result yet. */
  calls: z.array(openCall),
  /** The limit of concurrent runs is reached: this run waits for a free slot. */
  waits_for_slot: z.boolean(),
  /** Token usage of the session when the run began. */
  usage_before: usage.nullable(),
});

export const resumeAction = z.enum(['retry', 'continue', 'abandon']);
export type ResumeAction = z.infer<typeof resumeAction>;

export const stateView = z.object({
  run_state: runState,
  run_id: z.string(),
  session_id: z.string(),
  /** The session that this one was branched from. */
  parent_id: z.string().nullable(),
  steering_mode: queueMode,
  follow_up_mode: queueMode,
  pending_counts: z.object({ steer: z.number(), follow_up: z.number() }),
  seq: z.number(),
  title: z.string(),
  cwd: z.string(),
  model: z.string(),
  thinking: thinkingLevel,
  approval_mode: approvalMode,
  when_detached: whenDetached,
  recovery: recoveryMode,
  archived: z.boolean(),
  one_off: z.boolean(),
  active_tools: z.array(z.string()).nullable(),
  leaf_id: z.string().nullable(),
  turn_id: z.string(),
  /** Turns of the run in progress so far. */
  turns: z.number(),
  /** All of the run in progress; null when there is none. */
  run: activeRun.nullable(),
  queue: queueView,
  get requests() {
    return z.array(uiRequest());
  },
  partial: z.array(partialMessage),
  tools: z.array(runningTool),
  ui: z.object({
    status: z.record(z.string(), z.string()),
    widgets: z.record(z.string(), z.unknown()),
    working: z.string(),
    title: z.string(),
  }),
  usage: usage.nullable(),
  context_left_percent: z.number().nullable(),
  /** Set while history is being summarised, or about to be. */
  compaction: z.object({ trigger: compactionTrigger, tokens_before: z.number(), instruction: z.string().nullable() }).nullable(),
  clients: z.array(clientView),
  last_run: z
    .object({
      run_id: z.string(),
      outcome,
      /** Why it failed. Null when the outcome says it all: `interrupted` means that the daemon stopped. */
      error: runError.nullable(),
      /** What `resume_run` would accept now. */
      resume_actions: z.array(resumeAction),
      /** A person has abandoned the run: clients need not advise to resume it. */
      abandoned: z.boolean().optional(),
    })
    .nullable(),
});
export type StateView = z.infer<typeof stateView>;

export const sessionRow = z.object({
  session_id: z.string(),
  title: z.string(),
  cwd: z.string(),
  model: z.string(),
  run_state: runState,
  /** How the last run ended; null before the first has. */
  last_outcome: outcome.nullable(),
  /** The queue is paused and not empty. */
  paused: z.boolean(),
  updated_at: z.string(),
  message_count: z.number(),
  last_user_message: z.string(),
  /** The beginning of the first prompt: what to call a session that has no title. */
  first_user_message: z.string(),
  archived: z.boolean(),
  /** Made for one prompt, which nobody has gone on from. */
  one_off: z.boolean(),
});
export type SessionListRow = z.infer<typeof sessionRow>;

export const runRow = z.object({
  run_id: z.string(),
  session_id: z.string(),
  state: z.enum(['running', 'aborting', 'ended']),
  outcome: outcome.nullable(),
  error: runError.nullable(),
  resumes: z.string().nullable(),
  turns: z.number(),
  started_at: z.string(),
  ended_at: z.string().nullable(),
  usage: usage.nullable(),
});
export type RunRow = z.infer<typeof runRow>;

export const treeNode = z.object({ id: z.string(), parent_id: z.string().nullable(), role, snippet: z.string() });

export const searchHit = z.object({
  session_id: z.string(),
  message_id: z.string(),
  role,
  snippet: z.string(),
  created_at: z.string(),
});

export const draftView = z.object({
  draft_id: z.string(),
  /** The name of the client that stored the draft last. */
  by: z.string(),
  text: z.string(),
  updated_at: z.string(),
  /** The client that stored the draft last is connected now. */
  attached: z.boolean(),
  /** The text was too long for a line with the others; list_drafts with its `draft_id` has all of it. */
  truncated: z.literal(true).optional(),
});
export type DraftView = z.infer<typeof draftView>;

export const sentPrompt = z.object({
  text: z.string(),
  session_id: z.string(),
  message_id: z.string(),
  created_at: z.string(),
  /** The text was too long; get_messages has more of it. */
  truncated: z.literal(true).optional(),
});
export type SentPrompt = z.infer<typeof sentPrompt>;

/** A path below the session's directory, with `/`; that of a directory ends in `/`. */
export const listedFile = z.object({ path: z.string(), kind: z.enum(['file', 'directory']) });
export type ListedFile = z.infer<typeof listedFile>;

/** US dollars for a million tokens. */
const price = z.object({ input: z.number(), output: z.number(), cache_read: z.number(), cache_write: z.number() });

export const listedModel = z.object({
  model: z.string(),
  title: z.string(),
  context_window: z.number().nullable(),
  max_output: z.number().nullable(),
  price: price.nullable(),
});
export type ListedModel = z.infer<typeof listedModel>;

export const listedProvider = z.object({
  provider: z.string(),
  api: z.string(),
  /** The source of the key; null without one. */
  key: z.string().nullable(),
  /** Why the model list could not be fetched. */
  problem: z.string().optional(),
});
export type ListedProvider = z.infer<typeof listedProvider>;

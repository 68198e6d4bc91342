import { z } from 'zod';
import { approvalMode, inputKind, outcome, queueMode, recoveryMode, thinkingLevel, uiMethod, uiRequest, whenDetached } from './events.js';
import { limits } from './limits.js';
import { inputContent, message, wireText } from './messages.js';
import { clientView, queueView, runRow, searchHit, sessionRow, stateView, treeNode } from './views.js';

const id = z.string().min(1).max(200);
const inputId = z
  .string()
  .max(limits.inputIdCharsMax)
  .regex(/^[A-Za-z0-9_.:-]{1,128}$/, '1 to 128 of A-Z a-z 0-9 _ . : -');
const inSession = { session_id: id.optional() };
const count = z.int().min(1).max(limits.pageRowsMax);
const title = wireText.pipe(z.string().max(limits.titleCharsMax));
const path = z.string().min(1).max(limits.pathBytesMax);
const modelName = z
  .string()
  .max(200)
  .regex(/^[^\s/]+\/\S+$/, 'a model is named provider/model');

const nothing = z.looseObject({ ...inSession });
const page = { limit: count.optional() };

function accepted<T extends string, S extends z.ZodRawShape>(command: T, shape: S) {
  return { type: 'accepted', payload: z.object({ command: z.literal(command), ...shape }) } as const;
}
const forSession = { session_id: z.string() };
const forRun = { run_id: z.string() };
const submitted = { run_id: z.string(), session_id: z.string(), input_id: z.string() };
const messagesReply = {
  session_id: z.string(),
  messages: z.array(message),
  leaf_id: z.string().nullable(),
  seq: z.number(),
  has_more: z.boolean(),
};

interface CommandRow {
  summary: string;
  payload: z.ZodObject;
  reply: { type: string; payload: z.ZodObject };
  role: 'controller' | 'observer';
  /** Answered when its work is done; blocks nobody meanwhile. */
  waits?: true;
}

/** Every command: its schema, types, docs and test matrix are this table. `observer` commands change nothing. */
export const commands = {
  ping: {
    summary: 'Is anybody there?',
    payload: z.looseObject({}),
    reply: { type: 'pong', payload: z.object({ message: z.literal('pong') }) },
    role: 'observer',
  },
  hello: {
    summary: 'Says who is calling and what it can show; answers with the limits of this daemon.',
    payload: z.looseObject({
      client: z
        .looseObject({
          name: z.string().max(100).default('unknown'),
          version: z.string().max(100).default(''),
          kind: z.string().max(100).default(''),
        })
        .prefault({}),
      role: z.enum(['controller', 'observer']).default('controller'),
      ui_capabilities: z.array(uiMethod).max(16).default([]),
    }),
    reply: {
      type: 'hello',
      payload: z.object({
        server: z.object({ name: z.string(), version: z.string() }),
        protocol: z.string(),
        client_id: z.string(),
        log_id: z.string(),
        capabilities: z.array(z.string()),
        limits: z.record(z.string(), z.number()),
      }),
    },
    role: 'observer',
  },
  attach: {
    summary: 'Makes a session this connection’s own and reads it whole: state, newest messages and the seq to subscribe after.',
    payload: z.looseObject({ session_id: id, ...page }),
    reply: {
      type: 'attached',
      payload: z.object({ ...messagesReply, log_id: z.string(), state: stateView }),
    },
    role: 'observer',
  },
  detach: {
    summary: 'Lets go of the connection’s session.',
    payload: z.looseObject({}),
    reply: accepted('detach', forSession),
    role: 'observer',
  },
  list_clients: {
    summary: 'Who is connected.',
    payload: nothing,
    reply: { type: 'clients', payload: z.object({ clients: z.array(clientView) }) },
    role: 'observer',
  },
  prompt: {
    summary: 'Starts a run. With wait (the default) the answer is the run’s result.',
    payload: z.looseObject({
      text: wireText,
      wait: z.boolean().default(true),
      leaf_id: id.optional(),
      content: inputContent.optional(),
      if_busy: z.enum(['reject', 'steer', 'follow_up']).default('reject'),
      input_id: inputId.optional(),
      ...inSession,
    }),
    reply: {
      type: 'result',
      payload: z.object({
        output: z.string(),
        events: z.array(z.unknown()),
        session_id: z.string(),
        run_id: z.string(),
        input_id: z.string(),
        outcome,
      }),
    },
    role: 'controller',
    waits: true,
  },
  steer: {
    summary: 'A message for the run in progress, taken at its next turn boundary.',
    payload: z.looseObject({
      text: wireText,
      content: inputContent.optional(),
      if_idle: z.enum(['reject', 'prompt']).default('reject'),
      input_id: inputId.optional(),
      ...inSession,
    }),
    reply: accepted('steer', submitted),
    role: 'controller',
  },
  follow_up: {
    summary: 'A message for when the run would otherwise end.',
    payload: z.looseObject({
      text: wireText,
      content: inputContent.optional(),
      if_idle: z.enum(['reject', 'prompt']).default('reject'),
      input_id: inputId.optional(),
      ...inSession,
    }),
    reply: accepted('follow_up', submitted),
    role: 'controller',
  },
  abort: {
    summary: 'Stops the run. Queued messages are dropped and told, or kept paused with keep_queue.',
    payload: z.looseObject({
      keep_queue: z.boolean().default(false),
      reason: wireText.pipe(z.string().max(1_000)).optional(),
      ...inSession,
    }),
    reply: accepted('abort', { ...forRun, ...forSession }),
    role: 'controller',
  },
  set_active_tools: {
    summary: 'Which tools the model may use in this session.',
    payload: z.looseObject({ tools: z.array(z.string().max(200)).max(limits.activeToolsMax), ...inSession }),
    reply: accepted('set_active_tools', { count: z.number(), ...forSession }),
    role: 'controller',
  },
  set_steering_mode: {
    summary: 'How many waiting steers one turn boundary takes.',
    payload: z.looseObject({ mode: queueMode, ...inSession }),
    reply: accepted('set_steering_mode', { mode: queueMode, ...forSession }),
    role: 'controller',
  },
  set_follow_up_mode: {
    summary: 'How many waiting follow-ups one turn boundary takes.',
    payload: z.looseObject({ mode: queueMode, ...inSession }),
    reply: accepted('set_follow_up_mode', { mode: queueMode, ...forSession }),
    role: 'controller',
  },
  get_state: {
    summary: 'Everything that is current about a session.',
    payload: nothing,
    reply: { type: 'state', payload: stateView },
    role: 'observer',
  },
  get_messages: {
    summary: 'Ended messages of the path to the leaf, oldest first; without limit as many of the newest as fit a line.',
    payload: z.looseObject({ leaf_id: id.optional(), limit: count.optional(), before: id.optional(), after: id.optional(), ...inSession }),
    reply: { type: 'messages', payload: z.object(messagesReply) },
    role: 'observer',
  },
  new_session: {
    summary: 'Makes a session.',
    payload: z.looseObject({ cwd: path.optional(), title: title.optional(), model: modelName.optional() }),
    reply: { type: 'session', payload: z.object({ session_id: z.string(), active: z.boolean() }) },
    role: 'controller',
  },
  switch_session: {
    summary: 'Makes a session the connection’s own.',
    payload: z.looseObject({ session_id: id }),
    reply: { type: 'session', payload: z.object({ session_id: z.string(), active: z.boolean() }) },
    role: 'controller',
  },
  branch_session: {
    summary: 'A new session that shares history with another up to a message.',
    payload: z.looseObject({ session_id: id, leaf_id: id.optional() }),
    reply: { type: 'session', payload: z.object({ session_id: z.string(), parent_id: z.string(), active: z.boolean() }) },
    role: 'controller',
  },
  set_leaf: {
    summary: 'Moves the session to another message of its tree.',
    payload: z.looseObject({ leaf_id: id, ...inSession }),
    reply: { type: 'leaf', payload: z.object({ session_id: z.string(), leaf_id: z.string() }) },
    role: 'controller',
  },
  get_tree: {
    summary: 'All messages of the session as a tree, newest within the bound.',
    payload: nothing,
    reply: {
      type: 'tree',
      payload: z.object({
        session_id: z.string(),
        nodes: z.array(treeNode),
        leaf_id: z.string().nullable(),
        has_more: z.boolean(),
      }),
    },
    role: 'observer',
  },
  compact_session: {
    summary: 'Summarises old history. Nothing is compacted yet: the answer is always nothing_to_compact.',
    payload: z.looseObject({ instruction: wireText.optional(), ...inSession }),
    reply: { type: 'compaction', payload: z.object({ session_id: z.string() }) },
    role: 'controller',
    waits: true,
  },
  extension_command: {
    summary: 'Runs a command of an extension. There are no extensions yet: the answer is always extension_command_not_found.',
    payload: z.looseObject({ name: z.string().min(1).max(200), payload: z.unknown().optional(), ...inSession }),
    reply: { type: 'extension_result', payload: z.object({}) },
    role: 'controller',
    waits: true,
  },
  list_sessions: {
    summary: 'Sessions, newest first.',
    payload: z.looseObject({
      cwd: path.optional(),
      query: z.string().max(limits.searchQueryCharsMax).optional(),
      archived: z.boolean().default(false),
      cursor: z.string().max(200).optional(),
      ...page,
    }),
    reply: {
      type: 'sessions',
      payload: z.object({ sessions: z.array(sessionRow), has_more: z.boolean(), cursor: z.string().nullable(), active: z.string() }),
    },
    role: 'observer',
  },
  update_session: {
    summary: 'Changes what is named and nothing else.',
    payload: z.looseObject({
      title: title.optional(),
      model: modelName.optional(),
      thinking: thinkingLevel.optional(),
      approval_mode: approvalMode.optional(),
      when_detached: whenDetached.optional(),
      recovery: recoveryMode.optional(),
      ...inSession,
    }),
    reply: accepted('update_session', forSession),
    role: 'controller',
  },
  archive_session: {
    summary: 'Puts a session out of sight, or back with archived:false.',
    payload: z.looseObject({ archived: z.boolean().default(true), ...inSession }),
    reply: accepted('archive_session', forSession),
    role: 'controller',
  },
  delete_session: {
    summary: 'Deletes a session and what only it uses; a run in progress is aborted first.',
    payload: z.looseObject({ session_id: id }),
    reply: accepted('delete_session', forSession),
    role: 'controller',
  },
  search_messages: {
    summary: 'Messages that hold all the words, best first.',
    payload: z.looseObject({ query: z.string().min(1).max(limits.searchQueryCharsMax), ...page, ...inSession }),
    reply: { type: 'messages', payload: z.object({ messages: z.array(searchHit), has_more: z.boolean() }) },
    role: 'observer',
  },
  get_queue: {
    summary: 'What waits, in order.',
    payload: nothing,
    reply: { type: 'queue', payload: queueView.extend({ session_id: z.string() }) },
    role: 'observer',
  },
  update_queued: {
    summary: 'Edits, moves, holds or releases a waiting message, if its revision is still the one named.',
    payload: z.looseObject({
      input_id: inputId,
      revision: z.int().min(1),
      text: wireText.optional(),
      kind: inputKind.exclude(['prompt']).optional(),
      position: z.int().min(0).max(limits.queuedInputsMax).optional(),
      hold: z.boolean().optional(),
      ...inSession,
    }),
    reply: accepted('update_queued', { ...forSession, input_id: z.string(), revision: z.number() }),
    role: 'controller',
  },
  remove_queued: {
    summary: 'Takes a waiting message out.',
    payload: z.looseObject({ input_id: inputId, ...inSession }),
    reply: accepted('remove_queued', { ...forSession, input_id: z.string() }),
    role: 'controller',
  },
  clear_queue: {
    summary: 'Takes all waiting messages out; their texts are in the event.',
    payload: nothing,
    reply: accepted('clear_queue', { ...forSession, count: z.number() }),
    role: 'controller',
  },
  resume_queue: {
    summary: 'Unpauses the queue and starts a run with the first waiting message.',
    payload: nothing,
    reply: accepted('resume_queue', { ...forSession, run_id: z.string() }),
    role: 'controller',
  },
  list_runs: {
    summary: 'Runs of a session, newest first.',
    payload: z.looseObject({ before: id.optional(), ...page, ...inSession }),
    reply: { type: 'runs', payload: z.object({ runs: z.array(runRow), has_more: z.boolean() }) },
    role: 'observer',
  },
  resume_run: {
    summary:
      'After a run that failed, was aborted or interrupted: retry from the last user message, continue from what there is, or abandon.',
    payload: z.looseObject({ run_id: id, action: z.enum(['retry', 'continue', 'abandon']), ...inSession }),
    reply: accepted('resume_run', { ...forSession, run_id: z.string() }),
    role: 'controller',
  },
  ui_response: {
    summary: 'Answers an open request.',
    payload: z.looseObject({
      request_id: id,
      result: z.unknown().optional(),
      error: z.string().max(10_000).nullish(),
      cancelled: z.boolean().default(false),
    }),
    reply: accepted('ui_response', { ...forSession, request_id: z.string() }),
    role: 'controller',
  },
  list_ui_requests: {
    summary: 'Open requests, of one session or of all.',
    payload: nothing,
    reply: { type: 'requests', payload: z.object({ requests: z.array(uiRequest) }) },
    role: 'observer',
  },
  list_models: {
    summary: 'Models that can be used.',
    payload: nothing,
    reply: {
      type: 'models',
      payload: z.object({ models: z.array(z.object({ model: z.string(), title: z.string() })), default: z.string() }),
    },
    role: 'observer',
    waits: true,
  },
  set_model: {
    summary: 'The model of the session’s next turns.',
    payload: z.looseObject({ model: modelName, thinking: thinkingLevel.optional(), ...inSession }),
    reply: accepted('set_model', { ...forSession, model: z.string() }),
    role: 'controller',
  },
  list_tools: {
    summary: 'Tools there are, and which of them this session may use.',
    payload: nothing,
    reply: {
      type: 'tools',
      payload: z.object({ tools: z.array(z.object({ name: z.string(), description: z.string(), active: z.boolean() })) }),
    },
    role: 'observer',
  },
  get_artifact: {
    summary: 'A piece of something too long for a line; offset and limit count bytes.',
    payload: z.looseObject({
      artifact_id: id,
      offset: z.int().min(0).default(0),
      limit: z.int().min(4).max(limits.artifactPageBytesMax).default(limits.artifactPageBytesMax),
    }),
    reply: {
      type: 'artifact',
      payload: z.object({
        artifact_id: z.string(),
        mime_type: z.string(),
        offset: z.number(),
        data: z.string(),
        next_offset: z.number(),
        total_bytes: z.number(),
        has_more: z.boolean(),
      }),
    },
    role: 'observer',
  },
  get_daemon: {
    summary: 'Version, process, paths and counts of this daemon.',
    payload: z.looseObject({}),
    reply: {
      type: 'daemon',
      payload: z.object({
        version: z.string(),
        pid: z.number(),
        started_at: z.string(),
        socket: z.string(),
        state_dir: z.string(),
        config_dir: z.string(),
        log_file: z.string(),
        log_id: z.string(),
        model: z.string(),
        sessions: z.number(),
        runs: z.number(),
        clients: z.number(),
        draining: z.boolean(),
      }),
    },
    role: 'observer',
  },
  drain: {
    summary: 'Takes no new runs and answers when the last one has ended.',
    payload: z.looseObject({}),
    reply: accepted('drain', {}),
    role: 'controller',
    waits: true,
  },
  shutdown: {
    summary: 'Interrupts what runs, keeps every queue and stops the daemon.',
    payload: z.looseObject({}),
    reply: accepted('shutdown', {}),
    role: 'controller',
    waits: true,
  },
} as const satisfies Record<string, CommandRow>;

/** The one command of the event socket. */
export const subscribe = {
  summary: 'Events of one session or of all (`*`), after a cursor or from now on.',
  payload: z.looseObject({
    session_id: z.string().min(1).max(200),
    after: z.int().min(0).optional(),
    log_id: z.string().max(200).optional(),
    live: z.boolean().default(true),
    client_id: z.string().max(200).optional(),
  }),
  reply: {
    type: 'subscribed',
    payload: z.object({ seq: z.number(), resumed: z.boolean(), log_id: z.string(), session_id: z.string() }),
  },
} as const;

export type CommandType = keyof typeof commands;
/** A payload as a client may write it: what has a default is optional. */
export type CommandInput<T extends CommandType> = z.input<(typeof commands)[T]['payload']>;
/** A payload as a handler gets it: defaults filled in. */
export type CommandPayload<T extends CommandType> = z.output<(typeof commands)[T]['payload']>;
/** `prompt` has two replies: with `wait:false` it is accepted like a steer. */
export type ReplyPayload<T extends CommandType> = z.infer<(typeof commands)[T]['reply']['payload']>;

import * as z from 'zod';
import {
  id,
  inputId,
  inSession,
  count,
  title,
  path,
  modelName,
  nothing,
  accepted,
  forSession,
  forRun,
  submitted,
  messagesReply,
  command,
} from './command-shapes.js';
import { outcome, queueMode } from '../events.js';
import { limits } from '../limits.js';
import { compactionFacts, inputContent } from '../messages.js';
import { stateView, treeNode } from '../views.js';

/** `content` that has text says it all. Where it has none, `text` goes before it. */
function withContent(payload: Record<string, unknown>): Record<string, unknown> {
  return payload.text === undefined && Array.isArray(payload.content) ? { ...payload, text: '' } : payload;
}

/** Names, required keys and reply types that may not change: clients rely on them. */
export const frozenCommands = {
  ping: command({
    summary: 'Is anybody there?',
    payload: () => z.looseObject({}),
    reply: { type: 'pong', payload: () => z.object({ message: z.literal('pong') }) },
    role: 'observer',
  }),
  prompt: command({
    summary: 'Starts a run. With wait (the default) the answer is the run’s result. `text` may be left out when there is `content`.',
    normalize: withContent,
    payload: () =>
      z.looseObject({
        text: z.string(),
        wait: z.boolean().default(true),
        leaf_id: id.optional(),
        content: inputContent.optional(),
        if_busy: z.enum(['reject', 'steer', 'follow_up']).default('reject'),
        input_id: inputId.optional(),
        ...inSession,
      }),
    reply: {
      type: 'result',
      payload: () =>
        z.object({
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
  }),
  steer: command({
    summary: 'A message for the run in progress, taken at its next turn boundary. `text` may be left out when there is `content`.',
    normalize: withContent,
    payload: () =>
      z.looseObject({
        text: z.string(),
        content: inputContent.optional(),
        if_idle: z.enum(['reject', 'prompt']).default('reject'),
        input_id: inputId.optional(),
        ...inSession,
      }),
    reply: accepted('steer', () => submitted),
    role: 'controller',
  }),
  follow_up: command({
    summary: 'A message for when the run would otherwise end. `text` may be left out when there is `content`.',
    normalize: withContent,
    payload: () =>
      z.looseObject({
        text: z.string(),
        content: inputContent.optional(),
        if_idle: z.enum(['reject', 'prompt']).default('reject'),
        input_id: inputId.optional(),
        ...inSession,
      }),
    reply: accepted('follow_up', () => submitted),
    role: 'controller',
  }),
  abort: command({
    summary: 'Stops the run. Queued messages are dropped and told, or kept paused with keep_queue.',
    payload: () =>
      z.looseObject({
        keep_queue: z.boolean().default(false),
        reason: z.string().max(limits.abortReasonCharsMax).optional(),
        ...inSession,
      }),
    reply: accepted('abort', () => ({ ...forRun, ...forSession })),
    role: 'controller',
  }),
  set_active_tools: command({
    summary: 'Which tools the model may use in this session.',
    payload: () => z.looseObject({ tools: z.array(z.string().max(limits.toolNameCharsMax)).max(limits.activeToolsMax), ...inSession }),
    reply: accepted('set_active_tools', () => ({ count: z.number(), ...forSession })),
    role: 'controller',
  }),
  set_steering_mode: command({
    summary: 'How many waiting steers one turn boundary takes.',
    payload: () => z.looseObject({ mode: queueMode, ...inSession }),
    reply: accepted('set_steering_mode', () => ({ mode: queueMode, ...forSession })),
    role: 'controller',
  }),
  set_follow_up_mode: command({
    summary: 'How many waiting follow-ups one turn boundary takes.',
    payload: () => z.looseObject({ mode: queueMode, ...inSession }),
    reply: accepted('set_follow_up_mode', () => ({ mode: queueMode, ...forSession })),
    role: 'controller',
  }),
  get_state: command({
    summary: 'Everything that is current about a session.',
    payload: () => nothing,
    reply: { type: 'state', payload: () => stateView },
    role: 'observer',
  }),
  get_messages: command({
    summary: 'Ended messages of the path to the leaf, oldest first; without limit as many of the newest as fit a line.',
    payload: () =>
      z.looseObject({ leaf_id: id.optional(), limit: count.optional(), before: id.optional(), after: id.optional(), ...inSession }),
    reply: { type: 'messages', payload: () => z.object(messagesReply) },
    role: 'observer',
  }),
  new_session: command({
    summary:
      'Makes a session. With `one_off` it is for one prompt: it is not the newest session of its directory until somebody goes on with it (a later input, a title).',
    payload: () =>
      z.looseObject({ cwd: path.optional(), title: title.optional(), model: modelName.optional(), one_off: z.boolean().optional() }),
    reply: { type: 'session', payload: () => z.object({ session_id: z.string(), active: z.boolean() }) },
    role: 'controller',
  }),
  switch_session: command({
    summary: 'Makes a session the connection’s own.',
    payload: () => z.looseObject({ session_id: id }),
    reply: { type: 'session', payload: () => z.object({ session_id: z.string(), active: z.boolean() }) },
    role: 'controller',
  }),
  branch_session: command({
    summary: 'A new session that shares history with another, up to a message. `parent_id` is accepted as another name of session_id.',
    normalize: ({ parent_id, ...payload }) => ({ session_id: parent_id, ...payload }),
    payload: () => z.looseObject({ session_id: id, leaf_id: id.optional() }),
    reply: { type: 'session', payload: () => z.object({ session_id: z.string(), parent_id: z.string(), active: z.boolean() }) },
    role: 'controller',
  }),
  set_leaf: command({
    summary: 'Moves the session to another message of its tree.',
    payload: () => z.looseObject({ leaf_id: id, ...inSession }),
    reply: { type: 'leaf', payload: () => z.object({ session_id: z.string(), leaf_id: z.string() }) },
    role: 'controller',
  }),
  get_tree: command({
    summary: 'Messages of the session as a tree, as many of the newest as fit a line; with `before` those that are older than a message.',
    payload: () => z.looseObject({ before: id.optional(), ...inSession }),
    reply: {
      type: 'tree',
      payload: () =>
        z.object({
          session_id: z.string(),
          nodes: z.array(treeNode),
          leaf_id: z.string().nullable(),
          has_more: z.boolean(),
        }),
    },
    role: 'observer',
  }),
  compact_session: command({
    summary: 'Has the model summarise old history, so that the context window has room again. Nothing is deleted.',
    payload: () => z.looseObject({ instruction: z.string().max(limits.instructionCharsMax).optional(), ...inSession }),
    reply: {
      type: 'compaction',
      payload: () => z.object({ session_id: z.string(), summary: z.string(), ...compactionFacts.shape }),
    },
    role: 'controller',
    waits: true,
  }),
  extension_command: command({
    summary: 'Runs a command of an extension. There are no extensions yet: the answer is always extension_command_not_found.',
    payload: () =>
      z.looseObject({ name: z.string().min(1).max(limits.extensionCommandCharsMax), payload: z.unknown().optional(), ...inSession }),
    reply: { type: 'extension_result', payload: () => z.object({}) },
    role: 'controller',
    waits: true,
  }),
} as const;

import * as z from 'zod';
import {
  id,
  inputId,
  inSession,
  title,
  path,
  modelName,
  nothing,
  page,
  accepted,
  forSession,
  messagesReply,
  command,
} from './command-shapes.js';
import { approvalMode, inputKind, recoveryMode, thinkingLevel, whenDetached } from '../events.js';
import { limits } from '../limits.js';
import { uiAnswer, type UiAnswer } from '../requests/request-answers.js';
import { uiMethod, uiRequest } from '../requests/requests.js';
import { clientView, listedModel, listedProvider, queueView, resumeAction, runRow, searchHit, sessionRow, stateView } from '../views.js';

/** Commands beyond the frozen contract. */
export const extendedCommands = {
  hello: command({
    summary: 'Says who is calling and what it can show; answers with the limits of this daemon.',
    payload: () =>
      z.looseObject({
        client: z
          .looseObject({
            name: z.string().max(limits.clientNameCharsMax).default('unknown'),
            version: z.string().max(limits.clientNameCharsMax).default(''),
            kind: z.string().max(limits.clientNameCharsMax).default(''),
          })
          .prefault({}),
        role: z.enum(['controller', 'observer']).default('controller'),
        ui_capabilities: z.array(uiMethod).max(limits.uiCapabilitiesMax).default([]),
      }),
    reply: {
      type: 'hello',
      payload: () =>
        z.object({
          server: z.object({ name: z.string(), version: z.string() }),
          protocol: z.string(),
          client_id: z.string(),
          log_id: z.string(),
          capabilities: z.array(z.string()),
          limits: z.record(z.string(), z.number()),
          /** Where the daemon keeps its data and finds its config; absent from older daemons. */
          state_dir: z.string().optional(),
          config_dir: z.string().optional(),
        }),
    },
    role: 'observer',
  }),
  attach: command({
    summary: 'Makes a session this connection’s own and reads it whole: state, newest messages and the seq to subscribe after.',
    payload: () => z.looseObject({ session_id: id, ...page }),
    reply: {
      type: 'attached',
      payload: () =>
        z.object({
          ...messagesReply,
          /** How many messages are on the path to the leaf; absent from older daemons. */
          path_count: z.number().optional(),
          log_id: z.string(),
          state: stateView,
        }),
    },
    role: 'observer',
  }),
  detach: command({
    summary: 'Lets go of the connection’s session.',
    payload: () => z.looseObject({}),
    reply: accepted('detach', () => forSession),
    role: 'observer',
  }),
  list_clients: command({
    summary: 'Who is connected.',
    payload: () => nothing,
    reply: { type: 'clients', payload: () => z.object({ clients: z.array(clientView) }) },
    role: 'observer',
  }),
  list_sessions: command({
    summary: 'Sessions, newest first. With `one_off`, only those that are (true) or are not (false) one-off.',
    payload: () =>
      z.looseObject({
        cwd: path.optional(),
        query: z.string().max(limits.searchQueryCharsMax).optional(),
        archived: z.boolean().default(false),
        one_off: z.boolean().optional(),
        cursor: z
          .string()
          .regex(/^\d{1,15}:ses_[0-9a-z]{1,40}$/, 'a cursor that an earlier page gave')
          .optional(),
        ...page,
      }),
    reply: {
      type: 'sessions',
      payload: () => z.object({ sessions: z.array(sessionRow), has_more: z.boolean(), cursor: z.string().nullable(), active: z.string() }),
    },
    role: 'observer',
  }),
  update_session: command({
    summary: 'Changes what is named and nothing else.',
    payload: () =>
      z.looseObject({
        title: title.optional(),
        model: modelName.optional(),
        thinking: thinkingLevel.optional(),
        approval_mode: approvalMode.optional(),
        when_detached: whenDetached.optional(),
        recovery: recoveryMode.optional(),
        ...inSession,
      }),
    reply: accepted('update_session', () => forSession),
    role: 'controller',
  }),
  archive_session: command({
    summary: 'Puts a session out of sight, or back with archived:false.',
    payload: () => z.looseObject({ archived: z.boolean().default(true), ...inSession }),
    reply: accepted('archive_session', () => forSession),
    role: 'controller',
  }),
  delete_session: command({
    summary: 'Deletes a session and what only it uses; a run in progress is aborted first.',
    payload: () => z.looseObject({ session_id: id }),
    reply: accepted('delete_session', () => forSession),
    role: 'controller',
  }),
  search_messages: command({
    summary: 'Messages that hold all the words, best first.',
    payload: () => z.looseObject({ query: z.string().min(1).max(limits.searchQueryCharsMax), ...page, ...inSession }),
    reply: { type: 'messages', payload: () => z.object({ messages: z.array(searchHit), has_more: z.boolean() }) },
    role: 'observer',
  }),
  get_queue: command({
    summary: 'What waits, in order; images by type and size.',
    payload: () => nothing,
    reply: { type: 'queue', payload: () => queueView.extend({ session_id: z.string() }) },
    role: 'observer',
  }),
  update_queued: command({
    summary:
      'Edits, moves, holds or releases a waiting message, if its revision is still the one named. A new `text` replaces the words; images stay.',
    payload: () =>
      z.looseObject({
        input_id: inputId,
        revision: z.int().min(1),
        text: z.string().optional(),
        kind: inputKind.exclude(['prompt']).optional(),
        position: z.int().min(0).max(limits.queuedInputsMax).optional(),
        hold: z.boolean().optional(),
        ...inSession,
      }),
    reply: accepted('update_queued', () => ({ ...forSession, input_id: z.string(), revision: z.number() })),
    role: 'controller',
  }),
  remove_queued: command({
    summary: 'Takes a waiting message out.',
    payload: () => z.looseObject({ input_id: inputId, ...inSession }),
    reply: accepted('remove_queued', () => ({ ...forSession, input_id: z.string() })),
    role: 'controller',
  }),
  clear_queue: command({
    summary: 'Takes all waiting messages out; their texts are in the event.',
    payload: () => nothing,
    reply: accepted('clear_queue', () => ({ ...forSession, count: z.number() })),
    role: 'controller',
  }),
  resume_queue: command({
    summary: 'Unpauses the queue and starts a run with the first waiting message.',
    payload: () => nothing,
    reply: accepted('resume_queue', () => ({ ...forSession, run_id: z.string() })),
    role: 'controller',
  }),
  list_runs: command({
    summary: 'Runs of a session, newest first.',
    payload: () => z.looseObject({ before: id.optional(), ...page, ...inSession }),
    reply: { type: 'runs', payload: () => z.object({ runs: z.array(runRow), has_more: z.boolean() }) },
    role: 'observer',
  }),
  resume_run: command({
    summary:
      'After a run that failed, was aborted or interrupted: retry from the last user message, continue from what there is, or abandon.',
    payload: () => z.looseObject({ run_id: id, action: resumeAction, ...inSession }),
    reply: accepted('resume_run', () => ({ ...forSession, run_id: z.string() })),
    role: 'controller',
  }),
  ui_response: command({
    summary:
      'Answers an open request. `result` is what its kind takes; with `cancelled` or an `error` there is no answer, and the result is null.',
    payload: () =>
      z.looseObject({
        request_id: id,
        // An invalid answer is refused by the schema of its request, if that is still open.
        result: uiAnswer()
          .catch((context: { input: unknown } | undefined) => context?.input as UiAnswer)
          .optional(),
        error: z.string().max(limits.answerErrorCharsMax).nullish(),
        cancelled: z.boolean().default(false),
      }),
    reply: accepted('ui_response', () => ({ ...forSession, request_id: z.string() })),
    role: 'controller',
  }),
  list_ui_requests: command({
    summary: 'Open requests, of one session or of all.',
    payload: () => nothing,
    reply: { type: 'requests', payload: () => z.object({ requests: z.array(uiRequest()) }) },
    role: 'observer',
  }),
  list_models: command({
    summary: 'Models that can be used, as their providers tell; a provider that cannot be asked says why.',
    payload: () => nothing,
    reply: {
      type: 'models',
      payload: () =>
        z.object({ models: z.array(listedModel), providers: z.array(listedProvider), default: z.string(), has_more: z.boolean() }),
    },
    role: 'observer',
    waits: true,
  }),
  set_model: command({
    summary: 'The model of the session’s next turns.',
    payload: () => z.looseObject({ model: modelName, thinking: thinkingLevel.optional(), ...inSession }),
    reply: accepted('set_model', () => ({ ...forSession, model: z.string() })),
    role: 'controller',
  }),
  list_tools: command({
    summary: 'Tools there are, and which of them this session may use.',
    payload: () => nothing,
    reply: {
      type: 'tools',
      payload: () => z.object({ tools: z.array(z.object({ name: z.string(), description: z.string(), active: z.boolean() })) }),
    },
    role: 'observer',
  }),
  get_artifact: command({
    summary:
      'A piece of something too long for a line. `data` is text; offset, limit and next_offset count its bytes in UTF-8, and a piece never ends within a character.',
    payload: () =>
      z.looseObject({
        artifact_id: id,
        offset: z.int().min(0).default(0),
        limit: z.int().min(limits.artifactPageBytesMin).max(limits.artifactPageBytesMax).default(limits.artifactPageBytesMax),
        /** Of a message: its whole `content` as JSON instead of its text, with the MIME type application/json. */
        content: z.boolean().optional(),
      }),
    reply: {
      type: 'artifact',
      payload: () =>
        z.object({
          artifact_id: z.string(),
          mime_type: z.string(),
          offset: z.number(),
          data: z.string(),
          next_offset: z.number(),
          total_bytes: z.number(),
          /** Bytes beyond the size limit, which were dropped. */
          dropped_bytes: z.number(),
          has_more: z.boolean(),
        }),
    },
    role: 'observer',
  }),
  get_daemon: command({
    summary: 'Version, process, paths and counts of this daemon.',
    payload: () => z.looseObject({}),
    reply: {
      type: 'daemon',
      payload: () =>
        z.object({
          version: z.string(),
          pid: z.number(),
          started_at: z.string(),
          socket: z.string(),
          state_dir: z.string(),
          config_dir: z.string(),
          log_file: z.string(),
          log_id: z.string(),
          /** The systemd unit that runs the daemon; null when none does, absent from older daemons. */
          unit: z.string().nullable().optional(),
          /** What keeps other users out: the owner and mode of the socket directory, or the credentials of each peer. */
          peer_check: z.enum(['directory', 'credentials']).optional(),
          model: z.string(),
          sessions: z.number(),
          runs: z.number(),
          clients: z.number(),
          draining: z.boolean(),
          /** Why the current config file is invalid; the previous config stays in force. */
          config_problem: z.string().nullable(),
          /** Whether config.json was changed after it was read; absent from older daemons. */
          config_stale: z.boolean().optional(),
          /** What is wrong with files that the config names; absent from older daemons. */
          config_warnings: z.array(z.string()).optional(),
          /** The store on disk; absent from older daemons. */
          store: z
            .object({
              db_bytes: z.number(),
              wal_bytes: z.number(),
              artifact_bytes: z.number(),
              log_bytes: z.number(),
              free_bytes: z.number(),
              /** A damaged store that was moved aside, a disk that is nearly full. */
              warnings: z.array(z.string()),
            })
            .optional(),
        }),
    },
    role: 'observer',
  }),
  reload_config: command({
    summary: 'Reads config.json again. One that cannot be used is named in `problem`, and the one before it stays in force.',
    payload: () => z.looseObject({}),
    reply: accepted('reload_config', () => ({
      /** The changed keys. */
      changed: z.array(z.string()),
      /** The changed keys that take effect only after a restart. */
      needs_restart: z.array(z.string()),
      problem: z.string().nullable(),
      warnings: z.array(z.string()),
    })),
    role: 'controller',
  }),
  back_up_store: command({
    summary: 'Copies the database of the store to a file while the daemon works, and answers when the copy is complete.',
    payload: () =>
      z.looseObject({
        /** Absolute, and outside of the state directory. */
        path,
        /** Whether a file that is there is replaced. */
        overwrite: z.boolean().default(false),
      }),
    reply: accepted('back_up_store', () => ({ path: z.string(), bytes: z.number() })),
    role: 'controller',
    waits: true,
  }),
  drain: command({
    summary: 'Takes no new runs and answers when the last one has ended.',
    payload: () => z.looseObject({}),
    reply: accepted('drain', () => ({})),
    role: 'controller',
    waits: true,
  }),
  shutdown: command({
    summary: 'Interrupts what runs, keeps every queue and stops the daemon.',
    payload: () => z.looseObject({}),
    reply: accepted('shutdown', () => ({})),
    role: 'controller',
    waits: true,
  }),
} as const;

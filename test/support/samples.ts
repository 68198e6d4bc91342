import type { CommandType } from '../../src/protocol/commands/commands.js';
import type { TestDaemon } from './daemon.js';
import type { RawClient } from './raw-client.js';
import { begin, done, isEvent, listenTo, newSession, say } from './wire.js';

/** A session with a history, and one with a run that waits for a person and an input that waits for it. */
export interface Scene {
  client: RawClient;
  idleId: string;
  busyId: string;
  runId: string;
  messageId: string;
  requestId: string;
  inputId: string;
}

export async function setScene(daemon: TestDaemon): Promise<Scene> {
  const client = await daemon.raw();
  const idleId = await newSession(client, { title: 'idle' });
  await say(client, idleId, 'say ahoy');
  const { messages } = done(await client.call('get_messages', { session_id: idleId }));
  const busyId = await newSession(client, { title: 'busy' });
  const events = await listenTo(daemon, { session_id: busyId });
  const runId = await begin(client, busyId, 'ask me');
  const request = await events.until(isEvent('ui_request'));
  const queued = done(await client.call('follow_up', { text: 'say later', session_id: busyId }));
  events.close();
  return {
    client,
    idleId,
    busyId,
    runId,
    messageId: messages[0].id as string,
    requestId: request.payload.request_id as string,
    inputId: queued.input_id as string,
  };
}

/** A payload of each command with every field that it knows, all of them right. */
export function samplesOf({ idleId, busyId, runId, messageId, requestId, inputId }: Scene): Record<CommandType, Record<string, unknown>> {
  const here = { session_id: idleId };
  return {
    ping: {},
    list_permissions: { ...here, cwd: '/', all: true },
    add_permission: { ...here, cwd: '/', rule: { tool: 'bash', action: 'allow', command: 'git status' }, scope: 'workspace' },
    remove_permission: { permission_id: '1' },
    get_ruling: { ...here, cwd: '/', tool: 'bash', command: 'ls', path: 'a.txt', mode: 'ask', network: false, unsandboxed: false },
    set_trust: { ...here, cwd: '/', digest: 'x', trusted: false },
    list_decisions: { ...here, cursor: '9', limit: 10 },
    hello: { client: { name: 'n', version: '1', kind: 'test' }, role: 'controller', ui_capabilities: ['select', 'confirm'] },
    attach: { ...here, limit: 10 },
    detach: {},
    list_clients: { ...here },
    prompt: {
      text: 'say x',
      wait: false,
      leaf_id: messageId,
      content: [{ type: 'text', text: 'say x' }],
      if_busy: 'reject',
      input_id: 'sample-prompt',
      ...here,
    },
    steer: { text: 'say x', content: [{ type: 'text', text: 'say x' }], if_idle: 'reject', input_id: 'sample-steer', session_id: busyId },
    follow_up: {
      text: 'say x',
      content: [{ type: 'text', text: 'say x' }],
      if_idle: 'reject',
      input_id: 'sample-follow',
      session_id: busyId,
    },
    abort: { keep_queue: true, reason: 'enough', session_id: busyId },
    set_active_tools: { tools: ['clock', 'echo', 'ask_user'], ...here },
    set_steering_mode: { mode: 'all', ...here },
    set_follow_up_mode: { mode: 'one-at-a-time', ...here },
    get_state: { ...here },
    get_messages: { leaf_id: messageId, limit: 10, before: messageId, ...here },
    new_session: { cwd: '/tmp', title: 't', model: 'offline/guide', one_off: true },
    switch_session: { ...here },
    branch_session: { ...here, leaf_id: messageId },
    set_leaf: { leaf_id: messageId, ...here },
    get_tree: { before: messageId, ...here },
    compact_session: { instruction: 'short', ...here },
    extension_command: { name: 'none', payload: {}, ...here },
    list_sessions: { cwd: '/tmp', query: 'x', archived: false, one_off: true, limit: 10 },
    update_session: {
      title: 't',
      model: 'offline/guide',
      thinking: 'low',
      approval_mode: 'ask',
      when_detached: 'wait',
      recovery: 'pause',
      ...here,
    },
    archive_session: { archived: false, ...here },
    delete_session: { ...here },
    search_messages: { query: 'ahoy', limit: 10, ...here },
    get_queue: { session_id: busyId },
    update_queued: { input_id: inputId, revision: 1, text: 'say y', kind: 'steer', position: 0, hold: false, session_id: busyId },
    remove_queued: { input_id: inputId, session_id: busyId },
    clear_queue: { session_id: busyId },
    resume_queue: { session_id: busyId },
    list_runs: { before: runId, limit: 10, session_id: busyId },
    resume_run: { run_id: runId, action: 'abandon', session_id: busyId },
    ui_response: { request_id: requestId, result: 'north', error: null, cancelled: false },
    list_ui_requests: { session_id: busyId },
    list_models: { ...here },
    set_model: { model: 'offline/guide', thinking: 'off', ...here },
    list_tools: { ...here },
    get_artifact: { artifact_id: 'art_none', offset: 0, limit: 1000, content: true },
    set_draft: { draft_id: 'dra_sample', text: 'half a tho', ...here },
    list_drafts: { draft_id: 'dra_sample', ...here },
    list_prompts: { query: 'say', limit: 10, ...here },
    list_files: { query: 'a', limit: 10, ...here },
    ack_cursor: { name: 'sample', seq: 1 },
    list_cursors: {},
    remove_cursor: { name: 'sample' },
    get_daemon: {},
    back_up_store: { path: '/nonexistent/copy.db', overwrite: true },
    reload_config: {},
    drain: {},
    shutdown: {},
  };
}

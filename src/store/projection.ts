import { abandonedRunOf, abortReasonOf } from '../core/session.js';
import type { DurableEvent, EventPayload } from '../protocol/events.js';
import { noSession } from '../protocol/ids.js';
import { limits } from '../protocol/limits.js';
import type { AnchorRows } from './rows/anchor-rows.js';
import type { EntryRows } from './rows/entry-rows.js';
import type { InputRows } from './rows/input-rows.js';
import type { PartialRows } from './rows/partial-rows.js';
import type { PermissionRows } from './rows/permission-rows.js';
import type { RequestRows } from './rows/request-rows.js';
import type { RunRows } from './rows/run-rows.js';
import type { SessionRows } from './rows/session-rows.js';

interface Tables {
  sessions: SessionRows['write'];
  entries: EntryRows['write'];
  inputs: InputRows['write'];
  runs: RunRows['write'];
  requests: RequestRows['write'];
  partials: PartialRows['write'];
  permissions: PermissionRows['write'];
  anchors: AnchorRows['write'];
  pathLength: EntryRows['read']['pathLength'];
  paramsOf: RequestRows['read']['paramsOf'];
}

/** Applies an event to the rows: the SQL twin of `evolve`. Called in the transaction that appends the event. */
export function createProjection(tables: Tables, bootId: string) {
  const { sessions, entries, inputs, runs, requests, partials, permissions, anchors, pathLength, paramsOf } = tables;

  function endMessage(event: DurableEvent & { type: 'message_end' }, atMs: number): void {
    const { session_id, message_id, message } = event.payload;
    runs.endMessage(event.payload);
    partials.drop(message_id);
    if (!message) return;
    entries.insert(session_id, message, atMs);
    const userText = message.role === 'user' ? message.text.slice(0, limits.snippetCharsMax) : undefined;
    sessions.addMessage(session_id, message_id, userText, atMs);
  }

  function updateQueue({ payload }: DurableEvent & { type: 'queue_update' }): void {
    const { session_id, op, input, order, dropped, paused, run_id } = payload;
    sessions.setPaused(session_id, paused);
    if (input && (op === 'edited' || op === 'held' || op === 'released')) inputs.change(input);
    if (input && (op === 'taken' || op === 'removed')) inputs.leave(input.input_id, op, op === 'taken' ? (run_id ?? null) : null);
    for (const { input_id } of dropped ?? []) inputs.leave(input_id, 'dropped', null);
    if (order) inputs.reorder(order);
  }

  /** An approved directory becomes the session's anchor in the commit of the answer. Rules and trust have events of their own. */
  function applyAnswer({ session_id, request_id, outcome, result }: EventPayload<'ui_resolved'>): void {
    const params = outcome === 'answered' && result === true ? paramsOf(request_id) : undefined;
    if (params?.kind === 'directory') anchors.set(session_id, params.anchor);
  }

  function updateRules({ session_id, op, permission_id, workspace, rule, by }: EventPayload<'rule_update'>, atMs: number): void {
    const no = Number(permission_id);
    if (op === 'removed') permissions.remove(no);
    else permissions.add({ no, workspace, sessionId: session_id === noSession ? null : session_id, rule }, by, atMs);
  }

  function createOrUpdate({ payload }: DurableEvent & { type: 'session_update' }, atMs: number): void {
    const pathCount = payload.leaf_id === undefined ? undefined : pathLength(payload.leaf_id);
    if (!payload.created) return sessions.update(payload, pathCount, atMs);
    sessions.insert(payload, pathCount ?? 0, atMs);
    if (payload.parent_id !== undefined && payload.parent_id !== null) anchors.copy(payload.parent_id, payload.session_id);
  }

  return function project(event: DurableEvent, atMs: number): void {
    switch (event.type) {
      case 'session_update':
        createOrUpdate(event, atMs);
        break;
      case 'agent_start':
        runs.start(event.payload, bootId, event.seq, atMs);
        inputs.begin(event.payload.run_id);
        break;
      case 'agent_end':
        runs.end(event.payload, event.seq, atMs);
        break;
      case 'turn_start':
        runs.startTurn(event.payload);
        break;
      case 'turn_end':
        runs.endTurn(event.payload.run_id);
        break;
      case 'message_start':
        runs.startMessage(event.payload);
        break;
      case 'message_end':
        endMessage(event, atMs);
        break;
      case 'tool_execution_start':
        runs.startCall(event.payload);
        break;
      case 'tool_execution_end':
        runs.endCall(event.payload.run_id, event.payload.tool_call_id);
        break;
      case 'queue_update':
        updateQueue(event);
        break;
      case 'ui_request':
        requests.insert(event.payload, atMs);
        break;
      case 'ui_resolved':
        requests.resolve(event.payload, atMs);
        applyAnswer(event.payload);
        break;
      case 'usage_update': {
        const { input, output, cache_read, cache_write, cost_usd, context_left_percent } = event.payload;
        sessions.setUsage(event.payload.session_id, { input, output, cache_read, cache_write, cost_usd }, context_left_percent);
        break;
      }
      case 'compaction_start': {
        const { session_id, trigger, tokens_before: tokensBefore, instruction = null } = event.payload;
        sessions.setCompaction(session_id, { trigger, tokensBefore, instruction });
        break;
      }
      case 'compaction_end': {
        const { session_id, message } = event.payload;
        sessions.setCompaction(session_id, null);
        if (!message) break;
        entries.insert(session_id, message, atMs);
        sessions.addMessage(session_id, message.id, undefined, atMs);
        break;
      }
      case 'status':
        if (event.payload.run_state === 'aborting' && event.payload.run_id !== undefined) {
          runs.abort(event.payload.run_id, abortReasonOf(event.payload));
        } else if (abandonedRunOf(event.payload) !== undefined) runs.abandon(abandonedRunOf(event.payload) ?? '');
        break;
      case 'rule_update':
        updateRules(event.payload, atMs);
        break;
      case 'trust_update': {
        const { workspace, digest, trusted, by } = event.payload;
        permissions.setTrust(workspace, digest, trusted, by, atMs);
        break;
      }
      case 'config_update':
      case 'tools_update':
      case 'daemon_update':
      case 'warning':
      case 'error':
      case 'ui_notify':
        break;
    }
  };
}

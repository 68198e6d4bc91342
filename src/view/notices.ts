import { unexplainedAbort } from '../core/session.js';
import type { EventPayload, QueuedInput, WireEvent } from '../protocol/events.js';
import { noSession } from '../protocol/ids.js';
import { limits } from '../protocol/limits.js';
import { clipLine } from './clip-text.js';
import { formatDuration } from './durations.js';
import { modes } from './modes.js';
import { describeAnswer } from './questions.js';
import { inputKindText } from './queue-text.js';
import { ruleText } from './rule-text.js';
import { describeError } from './run-outcome.js';
import { describeStatus } from './status-text.js';

/** A notice about an event beside the conversation, in one sanitized line of bounded length. */
export interface Notice {
  about: 'question' | 'queue' | 'session' | 'run' | 'status' | 'permission' | 'warning' | 'error' | 'summary' | 'notice' | 'daemon';
  /** `alarm` when something went wrong. */
  level: 'info' | 'alarm';
  text: string;
}

/**
 * The notices of an event, beside messages, tool calls and requests. The end of a run is not among them (`describeEnding`), nor is what the
 * view shows better: statuses, widgets, the order of the queue and its pause.
 */
export function noticesOf(event: WireEvent): Notice[] {
  switch (event.type) {
    case 'queue_update':
      return queueNotices(event.payload);
    case 'session_update':
      return sessionNotices(event.payload);
    case 'agent_start':
      return event.payload.resumes === undefined ? [] : [info('run', `goes on after ${event.payload.resumes}`)];
    case 'status':
      return statusNotices(event.payload);
    case 'warning':
      return [alarm('warning', quote(event.payload.message))];
    case 'error': {
      const { retry_in_ms: retryMs, attempt = 1, attempts_max: most = attempt } = event.payload;
      // Without another attempt, the end of the run says why.
      if (retryMs === undefined) return [];
      const failed = reasonLine(describeError(event.payload));
      return [alarm('error', `${failed}; tried again in ${formatDuration(retryMs)} (${attempt} of ${most} failed)`)];
    }
    case 'compaction_start':
      return [compactionNotice];
    case 'compaction_end': {
      const { message, error } = event.payload;
      return message ? [] : [alarm('summary', `none was made: ${error ? reasonLine(describeError(error)) : 'no reason was given'}`)];
    }
    case 'ui_notify':
      return [info('notice', quote(event.payload.params.message))];
    case 'rule_update':
      return [ruleNotice(event.payload)];
    case 'trust_update': {
      const { workspace, trusted, by } = event.payload;
      return [
        info('permission', `the config of ${quote(workspace)} is ${trusted ? 'trusted' : 'not trusted'}: said by ${describeAnswerer(by)}`),
      ];
    }
    case 'config_update':
      return configNotices(event.payload);
    case 'tools_update':
      return [info('daemon', `tool ${event.payload.op}: ${quote(event.payload.tool_name)}`)];
    case 'daemon_update':
      return [info('daemon', 'takes no new runs, and stops when those in progress have ended')];
    case 'goodbye':
      return event.payload.reason === 'shutting_down' ? [info('daemon', 'stops')] : [];
    default:
      return [];
  }
}

/** The notice about a compaction in progress, also for clients that attach meanwhile. */
export const compactionNotice = info('summary', 'old messages are being summarised');

/** The notice about a status of `ui_status` or the view. */
export function statusNotice(text: string, nowMs: number): Notice {
  return info('status', reasonLine(describeStatus(text, nowMs)));
}

/** The notice about a queued input. */
export function waitingNotice({ kind, text }: Pick<QueuedInput, 'kind' | 'text'>): Notice {
  return info('queue', `${inputKindText(kind)} waits: ${quote(text)}`);
}

/** The client id at the end of `by`, which people do not know. */
const clientId = / \(\w+_\w+\)$/;

/** The notice about a resolved request: its outcome, and the answering client unless that is this one (`isOwn`). */
export function resolvedNotice({ outcome, result, secret, by }: EventPayload<'ui_resolved'>, isOwn: boolean): Notice {
  const hasAnswer = outcome === 'answered' || (outcome === 'denied' && result !== undefined && result !== null);
  const answer = hasAnswer && !secret ? `: ${reasonLine(describeAnswer(result))}` : '';
  const who = hasAnswer && !isOwn ? ` by ${describeAnswerer(by)}` : '';
  return info('question', `${outcome}${answer}${who}`);
}

function describeAnswerer(by: string): string {
  if (by === 'mode') return 'the new mode';
  return by === 'rule' ? 'a new rule' : quote(by.replace(clientId, ''));
}

function queueNotices({ op, input, dropped = [] }: EventPayload<'queue_update'>): Notice[] {
  switch (op) {
    case 'added':
      return input ? [waitingNotice(input)] : [];
    case 'edited':
    case 'held':
    case 'released':
    case 'removed':
      return [info('queue', `${op}: ${quote(input?.text ?? '')}`)];
    case 'dropped':
      return dropped.map(({ text }) => info('queue', `dropped: ${quote(text)}`));
    default:
      return [];
  }
}

function sessionNotices({ created, deleted, title, model, approval_mode, archived, leaf_id }: EventPayload<'session_update'>): Notice[] {
  if (deleted) return [info('session', 'deleted')];
  if (created) return [];
  return [
    ...(title === undefined ? [] : [`is now called ${quote(title)}`]),
    ...(model === undefined ? [] : [`model ${quote(model)}`]),
    ...(approval_mode === undefined ? [] : [`mode ${approval_mode}: ${modes[approval_mode]}`]),
    ...(archived === undefined ? [] : [archived ? 'archived' : 'back from the archive']),
    ...(leaf_id === undefined ? [] : ['goes on from an earlier message']),
  ].map((text) => info('session', text));
}

function ruleNotice({ op, session_id, workspace, rule, by }: EventPayload<'rule_update'>): Notice {
  const where = session_id !== noSession ? 'in this session' : workspace === null ? 'everywhere' : `in ${quote(workspace)}`;
  return info('permission', `rule ${op} ${where}: ${quote(ruleText(rule))} (by ${describeAnswerer(by)})`);
}

function configNotices({ changed, needs_restart: needsRestart, problem }: EventPayload<'config_update'>): Notice[] {
  if (problem !== undefined) return [alarm('daemon', `${reasonLine(problem)}; the config before it stays in force`)];
  const what = changed.length === 0 ? 'nothing has changed' : quote(changed.join(', '));
  const late = needsRestart.length === 0 ? '' : `; after a restart only: ${quote(needsRestart.join(', '))}`;
  return [info('daemon', `config.json was read again: ${what}${late}`)];
}

function statusNotices({ message, run_state, request_id }: EventPayload<'status'>): Notice[] {
  // The request is shown as a card.
  if (request_id !== undefined) return [];
  if (run_state !== 'aborting') return [info('status', quote(message))];
  return [info('run', message === unexplainedAbort ? 'stopping' : `stopping: ${reasonLine(message)}`)];
}

function info(about: Notice['about'], text: string): Notice {
  return { about, level: 'info', text };
}

function alarm(about: Notice['about'], text: string): Notice {
  return { about, level: 'alarm', text };
}

/** A short quote of untrusted text. */
function quote(text: string): string {
  return clipLine(text, limits.quoteCharsMax);
}

/** A longer line for errors. */
function reasonLine(text: string): string {
  return clipLine(text, limits.headlineCharsMax);
}

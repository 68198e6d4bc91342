import type { WireEvent } from '../../protocol/events.js';
import { formatAge } from '../durations.js';

/** What happened in a session while nobody looked. */
export interface Absence {
  runs: number;
  failedRuns: number;
  calls: number;
  /** Paths that file tools changed, in the order of their first change. */
  changedPaths: readonly string[];
  questions: number;
  messages: number;
}

/** Sums up the durable events of an absence. */
export function sumUpAbsence(events: readonly WireEvent[]): Absence {
  const paths = new Map<string, string>();
  const changed = new Set<string>();
  let runs = 0;
  let failedRuns = 0;
  let calls = 0;
  let questions = 0;
  let messages = 0;
  for (const { type, payload } of events) {
    switch (type) {
      case 'agent_start':
        runs++;
        break;
      case 'agent_end':
        if (payload.outcome === 'failed' || payload.outcome === 'interrupted') failedRuns++;
        break;
      case 'tool_execution_start':
        calls++;
        if (typeof payload.args.path === 'string') paths.set(payload.tool_call_id, payload.args.path);
        break;
      case 'tool_execution_end': {
        const path = paths.get(payload.tool_call_id);
        if (path !== undefined && payload.diff !== undefined && payload.diff !== '') changed.add(path);
        break;
      }
      case 'ui_request':
        questions++;
        break;
      case 'message_end':
        messages++;
        break;
      default:
    }
  }
  return { runs, failedRuns, calls, changedPaths: [...changed], questions, messages };
}

/** An absence in one line; empty when nothing happened. */
export function absenceText({ runs, failedRuns, calls, changedPaths, questions, messages }: Absence, awayMs: number): string {
  const parts = [
    count(runs, 'run', failedRuns === 0 ? '' : ` (${failedRuns} failed)`),
    count(messages, 'message'),
    count(calls, 'call'),
    count(changedPaths.length, 'file', ' changed'),
    count(questions, 'question'),
  ].filter((part) => part !== '');
  return parts.length === 0 ? '' : `while you were away (${formatAge(awayMs)}): ${parts.join(', ')}`;
}

function count(number: number, noun: string, more = ''): string {
  return number === 0 ? '' : `${number} ${noun}${number === 1 ? '' : 's'}${more}`;
}

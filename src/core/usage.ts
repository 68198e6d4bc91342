import type { Usage } from '../protocol/messages.js';
import type { Draft } from './decision.js';

const none: Usage = { input: 0, output: 0, cache_read: 0, cache_write: 0, cost_usd: null };
/** Costs are rounded to a billionth of a dollar, against floating-point noise. */
const costDigits = 9;

/** Adds usage to the session's totals, and says how much of the context window is left. */
export function sayUsage(draft: Draft, added: Usage | null, contextLeftPercent: number | null): void {
  const { id: session_id, run, usage } = draft.state;
  if (!added && contextLeftPercent === draft.state.contextLeftPercent) return;
  const total = combine(usage ?? none, added ?? none, 1);
  const at = { session_id, ...(run ? { run_id: run.id } : {}), ...(run?.turn ? { turn_id: run.turn.id } : {}) };
  draft.say({ type: 'usage_update', payload: { ...at, ...total, context_left_percent: contextLeftPercent } });
}

/** The usage since `before`. */
export function usageSince(before: Usage | null, now: Usage | null): Usage | null {
  if (!now) return null;
  return before ? combine(now, before, -1) : now;
}

function combine(a: Usage, b: Usage, sign: 1 | -1): Usage {
  return {
    input: a.input + sign * b.input,
    output: a.output + sign * b.output,
    cache_read: a.cache_read + sign * b.cache_read,
    cache_write: a.cache_write + sign * b.cache_write,
    cost_usd: a.cost_usd === null && b.cost_usd === null ? null : round((a.cost_usd ?? 0) + sign * (b.cost_usd ?? 0)),
  };
}

function round(dollars: number): number {
  return Number(dollars.toFixed(costDigits));
}

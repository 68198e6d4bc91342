import type { Berth } from '../../client/connect.js';
import type { RunOutcome, WireEvent } from '../../protocol/events.js';
import { printableLine } from '../../view/printable.js';
import { toCard } from '../../view/questions.js';
import { describeEnding } from '../../view/run-outcome.js';
import { sessionTitle } from '../../view/session-list.js';

/** What can be followed: a question, a run that failed or was interrupted, and the end of any run. */
export const conditionNames = ['ask', 'fail', 'end'] as const;
export type Condition = (typeof conditionNames)[number];

/** Something that a person may want to be told, as `--json` prints it. Texts are printable. */
export interface Happening {
  happened: Condition;
  seq: number;
  at: string;
  session_id: string;
  run_id: string;
  /** One line. */
  text: string;
  outcome?: RunOutcome;
  request_id?: string;
  /** The answers to choose from, with what `berth answer` takes for each. */
  choices?: { key: string; label: string }[];
}

export interface ToldHappening extends Happening {
  title: string;
  /** Whether the question waits for its answer still. */
  open?: boolean;
}

/** Undefined when the event is none of what is wanted. */
export function toHappening(event: WireEvent, seq: number, wanted: ReadonlySet<Condition>): Happening | undefined {
  if (event.type === 'ui_request' && wanted.has('ask')) {
    const { session_id, run_id, request_id } = event.payload;
    const { title, choices } = toCard(event.payload);
    const offered = choices.map(({ key, label }) => ({ key, label }));
    return { happened: 'ask', seq, at: event.ts, session_id, run_id, text: title, request_id, choices: offered };
  }
  if (event.type !== 'agent_end') return undefined;
  const { session_id, run_id, outcome, error } = event.payload;
  const failed = outcome === 'failed' || outcome === 'interrupted';
  const happened = failed && wanted.has('fail') ? 'fail' : wanted.has('end') ? 'end' : undefined;
  return happened && { happened, seq, at: event.ts, session_id, run_id, text: describeEnding({ outcome, error }).text, outcome };
}

/** Adds what is known now: the title of the session, and whether a question is open. */
export async function describeNow(berth: Berth, happening: Happening): Promise<ToldHappening> {
  const { session_id, request_id } = happening;
  const state = await berth.call('get_state', { session_id });
  // A session that was deleted meanwhile has no title, and asks nothing.
  const open = state.ok && state.payload.requests.some((request) => request.request_id === request_id);
  const title = state.ok ? state.payload.title || (await firstWords(berth, session_id)) : '';
  return { ...happening, title: printableLine(title), ...(request_id === undefined ? {} : { open }) };
}

/** What lists call a session without a title. */
async function firstWords(berth: Berth, sessionId: string): Promise<string> {
  const listed = await berth.call('list_sessions', { query: sessionId });
  const row = listed.ok ? listed.payload.sessions.find(({ session_id }) => session_id === sessionId) : undefined;
  return row ? sessionTitle(row) : '';
}

import { refusal } from '../protocol/errors.js';
import { limits } from '../protocol/limits.js';
import { refuse, type Decision } from './decision.js';

/** A new position of a named cursor; null removes it. */
export interface NamedCursorChange {
  name: string;
  seq: number | null;
}

/** The log and the named cursors, as an acknowledgement needs them. */
export interface CursorStanding {
  head: number;
  /** The position of this name; undefined when it has none yet. */
  seq: number | undefined;
  /** When each of the names was used. */
  usedMs: readonly number[];
}

/**
 * Acknowledges the log up to `seq` under a name. A cursor never goes back, so that repeating is harmless; without `seq` it stays where it is.
 * A new name begins at the head. The reply is its position.
 */
export function acknowledge(name: string, seq: number | undefined, standing: CursorStanding, nowMs: number): Decision<number> {
  if (seq !== undefined && seq > standing.head) {
    const message = `seq: the log ends at ${standing.head}, so ${seq} cannot be acknowledged yet`;
    return refuse(refusal('invalid_payload', message, { field: 'seq' }));
  }
  const kept = standing.usedMs.filter((usedMs) => usedMs >= nowMs - limits.namedCursorIdleMs);
  if (standing.seq === undefined && kept.length >= limits.namedCursorsMax) {
    const message = `name: there can be ${limits.namedCursorsMax} named cursors: remove some with berth follow --rm NAME`;
    return refuse(refusal('invalid_payload', message, { field: 'name' }));
  }
  const position = Math.max(standing.seq ?? 0, seq ?? standing.seq ?? standing.head);
  return { ok: true, facts: [], namedCursor: { name, seq: position }, reply: position };
}

/** Forgets a name; the reply is whether there was one. */
export function removeCursor(name: string, exists: boolean): Decision<boolean> {
  return { ok: true, facts: [], namedCursor: { name, seq: null }, reply: exists };
}

import assert from 'node:assert/strict';
import { isDeepStrictEqual } from 'node:util';
import type { SessionState } from '../../src/core/session.js';

/** What a client that came in the middle of a run knows of it. */
export function toKnown(state: SessionState): unknown {
  const { parentId: _parentId, run, ...rest } = state;
  return { ...rest, run: run && { id: run.id, aborting: run.aborting, turns: run.turns, turn: run.turn?.id, message: run.message } };
}

/** Throws with what is different, and with nothing else. */
export function same(actual: unknown, expected: unknown, claim: string): void {
  if (isDeepStrictEqual(actual, expected)) return;
  const [left, right] = [differing(actual, expected), differing(expected, actual)];
  assert.deepEqual(left, right, `${claim}:\n  ${JSON.stringify(left)}\nis not\n  ${JSON.stringify(right)}`);
}

function differing(one: unknown, other: unknown): unknown {
  const isPlainObject = (value: unknown): value is Record<string, unknown> =>
    typeof value === 'object' && value !== null && !Array.isArray(value);
  if (!isPlainObject(one) || !isPlainObject(other)) return one;
  return Object.fromEntries(Object.entries(one).filter(([key, value]) => !isDeepStrictEqual(value, other[key])));
}

import assert from 'node:assert/strict';
import { isDeepStrictEqual } from 'node:util';
import type { SessionView } from '../../src/view/session-view.js';

/** All that the log tells of a view: its state, the messages that are open and the calls that run. What they say is told live. */
export function toldBy({ state, open, tools }: SessionView): unknown {
  return { state, open: open.map(({ id, role }) => ({ id, role })), tools: tools.map(({ id, name, title }) => ({ id, name, title })) };
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

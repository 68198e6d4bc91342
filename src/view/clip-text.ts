import { wholeUnits } from '../protocol/content.js';
import { printableLine } from './printable.js';

/** Truncates a text to UTF-16 units, with `…`. Never splits a surrogate pair. */
export function clipText(text: string, unitsMax: number): string {
  return text.length <= unitsMax ? text : `${text.slice(0, wholeUnits(text, Math.max(0, unitsMax - 1)))}…`;
}

/** Sanitizes and truncates an untrusted text to one line, in bounded time. */
export function clipLine(text: string, unitsMax: number): string {
  return clipText(printableLine(clipText(text, 2 * unitsMax)), unitsMax);
}

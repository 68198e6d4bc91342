import { wholeUnits } from '../protocol/content.js';
import { printableLine } from './printable.js';

/** A text of at most so many UTF-16 units, with `…` where something is missing. Never cuts a character in two. */
export function clipText(text: string, unitsMax: number): string {
  return text.length <= unitsMax ? text : `${text.slice(0, wholeUnits(text, Math.max(0, unitsMax - 1)))}…`;
}

/** Text of somebody else as one printable line of at most so many UTF-16 units. What is read for it is bounded, too. */
export function clipLine(text: string, unitsMax: number): string {
  return clipText(printableLine(clipText(text, 2 * unitsMax)), unitsMax);
}

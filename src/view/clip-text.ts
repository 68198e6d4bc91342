import { wholeUnits } from '../protocol/content.js';

/** A text of at most so many UTF-16 units, with `…` where something is missing. Never cuts a character in two. */
export function clipText(text: string, unitsMax: number): string {
  return text.length <= unitsMax ? text : `${text.slice(0, wholeUnits(text, Math.max(0, unitsMax - 1)))}…`;
}

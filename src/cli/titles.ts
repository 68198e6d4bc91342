import { WrongUsage } from './exit.js';

/** A title as it was typed. One that means another session everywhere else is refused. */
export function readTitle(typed: string): string {
  if (typed.trim() === '.') throw new WrongUsage('. means the newest session of this directory; choose another title');
  return typed;
}

import { modeNames, toMode, type Mode } from '../view/modes.js';
import { WrongUsage } from './exit.js';

/** Parses a mode of a command line. */
export function readMode(typed: string): Mode {
  const mode = toMode(typed);
  if (mode === undefined) throw new WrongUsage(`there is no mode ${typed}; there are ${modeNames.join(', ')}`);
  return mode;
}

import type { StateView } from '../protocol/views.js';
import { modeNames, toMode, type Mode } from '../view/modes.js';
import { WrongUsage } from './exit.js';

type Thinking = StateView['thinking'];

export const thinkingLevels = ['off', 'low', 'medium', 'high'] as const satisfies readonly Thinking[];

/** Parses a mode of a command line. */
export function readMode(typed: string): Mode {
  const mode = toMode(typed);
  if (mode === undefined) throw new WrongUsage(`there is no mode ${typed}; there are ${modeNames.join(', ')}`);
  return mode;
}

/** Parses a thinking level of a command line. */
export function readThinking(typed: string): Thinking {
  const level = thinkingLevels.find((candidate) => candidate === typed);
  if (level === undefined) throw new WrongUsage(`--thinking is one of ${thinkingLevels.join(', ')}`);
  return level;
}

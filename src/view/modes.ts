import type { StateView } from '../protocol/views.js';

export type Mode = StateView['approval_mode'];

/** A description of each approval mode. */
export const modes: Record<Mode, string> = {
  ask: 'files are changed and commands run when you or a rule says so',
  auto_edit: 'files of the workspace are changed, and commands run in the sandbox, without asking',
  full: 'files of the workspace are changed, files elsewhere read, and commands run in the sandbox with the network, without asking',
  read_only: 'nothing is written; commands run in a sandbox that cannot write',
};

export const modeNames = Object.keys(modes) as Mode[];

/** Parses a mode, with - or _. */
export function toMode(typed: string): Mode | undefined {
  return modeNames.find((name) => name === typed.replaceAll('-', '_'));
}

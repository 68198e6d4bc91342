import { homeOrRoot } from '../machine/home.js';
import { findPromptProblem } from '../context/system-prompt.js';
import { toRealPath, whyNotGranted } from '../policy/real-paths.js';
import type { Config } from '../machine/config.js';

/** Warnings about files and directories that a valid config names, but that have no effect. */
export function findConfigWarnings(
  { sandbox }: Config,
  { systemPromptPath, env }: { systemPromptPath: string | undefined; env: Record<string, string | undefined> },
): string[] {
  const named = homeOrRoot(env);
  const home = toRealPath(named) ?? named;
  const problems = sandbox.writable.map((path) => whyNotGranted(path, home));
  return [
    systemPromptPath === undefined ? undefined : findPromptProblem(systemPromptPath),
    ...problems.map((why) => (why === undefined ? undefined : `sandbox.writable: ${why}`)),
  ].filter((warning) => warning !== undefined);
}

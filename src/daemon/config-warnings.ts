import { homedir } from 'node:os';
import { findPromptProblem } from '../context/system-prompt.js';
import { isGlob } from '../policy/globs.js';
import { toRealPath, whyNotGranted } from '../policy/real-paths.js';
import type { Config } from './config.js';

/** What is wrong with files and directories that a config names, as sentences: it is a good config, but does not do what it says. */
export function findConfigWarnings(
  { sandbox, rules }: Config,
  { systemPromptPath, env }: { systemPromptPath: string | undefined; env: Record<string, string | undefined> },
): string[] {
  const named = env.HOME ?? homedir();
  const home = toRealPath(named) ?? named;
  const granted = [
    ...sandbox.writable.map((path) => ({ key: 'sandbox.writable', path })),
    ...rules.flatMap(({ action, path }) =>
      action === 'allow' && path !== undefined && !isGlob(path) ? [{ key: 'permissions.rules', path }] : [],
    ),
  ];
  const problems = granted.map(({ key, path }) => ({ key, why: whyNotGranted(path, home) }));
  return [
    systemPromptPath === undefined ? undefined : findPromptProblem(systemPromptPath),
    ...problems.map(({ key, why }) => (why === undefined ? undefined : `${key}: ${why}`)),
  ].filter((warning) => warning !== undefined);
}

import { limits } from '../../protocol/limits.js';
import { compilePath, matchPath } from './glob-patterns.js';

interface Rule {
  segments: ReturnType<typeof compilePath>;
  negated: boolean;
  directoryOnly: boolean;
}

/** The rules of one .gitignore. */
export interface IgnoreRules {
  /** The directory of the .gitignore, relative to the root of the walk. For a file above the root, `above` is the path from there to the root. */
  directory: string;
  above: string;
  rules: Rule[];
}

/** Parses a .gitignore. The patterns are untrusted, so they are matched in bounded time and never as regular expressions. */
export function parseIgnoreFile(text: string, directory: string, above = ''): IgnoreRules {
  const rules = text
    .slice(0, limits.ignoreFileBytesMax)
    .split(/\r?\n/, limits.ignoreRulesMax)
    .flatMap((line) => parseRule(line) ?? []);
  return { directory, above, rules };
}

function parseRule(line: string): Rule | undefined {
  let pattern = line.replace(/(?<!\\)\s+$/, '');
  if (pattern === '' || pattern.startsWith('#') || pattern.length > limits.ignoreRuleCharsMax) return undefined;
  const negated = pattern.startsWith('!');
  if (negated) pattern = pattern.slice(1);
  const directoryOnly = pattern.endsWith('/');
  if (directoryOnly) pattern = pattern.slice(0, -1);
  if (pattern === '') return undefined;
  // A slash at the beginning or in the middle anchors a pattern to its directory.
  return { segments: compilePath(pattern.includes('/') ? pattern : `**/${pattern}`), negated, directoryOnly };
}

/** Whether a path, relative to the root of the walk, is ignored. The last matching rule decides, and deeper .gitignore files come later. */
export function isIgnored(files: readonly IgnoreRules[], path: string, isDirectory: boolean): boolean {
  for (let i = files.length - 1; i >= 0; i--) {
    const verdict = lastMatch(files[i], path, isDirectory);
    if (verdict !== undefined) return verdict;
  }
  return false;
}

function lastMatch(file: IgnoreRules | undefined, path: string, isDirectory: boolean): boolean | undefined {
  if (file === undefined) return undefined;
  const below = file.above + (file.directory === '' ? path : path.slice(file.directory.length + 1));
  const names = below.split('/');
  const last = file.rules.findLast(({ segments, directoryOnly }) => (isDirectory || !directoryOnly) && matchPath(segments, names));
  return last === undefined ? undefined : !last.negated;
}

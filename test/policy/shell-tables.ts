import { readFileSync } from 'node:fs';
import { beginsWith, parseCommand, ruleWords } from '../../src/policy/shell/command.js';

export interface Bypass {
  rules: string[];
  command: string;
}

/** What a careful person would allow an agent to run without being asked. */
export const sensibleRules = [
  'ls, cat, echo, printf, pwd, true, false, head, tail, wc, cut, tr, nl, diff, jq, stat, du, df, ps, file, which, type, date, seq, sleep, basename',
  'grep, rg, find, sort, uniq, sed -n, awk, tree, xxd, base64, md5sum, env, cd, exit, set -e, set -euo pipefail, test, command -v, tar -tf, tar -tzf',
  'git status, git log, git diff, git show, git branch, git tag, git remote, git stash list, git blame, git rev-parse, git ls-files, git ls-tree',
  'git grep, git reflog, git describe, git shortlog, git config --get, git config --list, git cat-file, git merge-base, git for-each-ref',
  'npm test, npm run build, npm run -s build, npx eslint, npx tsc, npx vitest run, npx prettier, pnpm test, pnpm -r test, yarn test, bun test',
  'npm audit, pnpm audit, go env, cargo test, cargo build, cargo check, python -m pytest, pytest, go test, make test, node --version, npm --version, python --version',
].flatMap((line) => line.split(', '));

function readLines(name: string): string[] {
  const text = readFileSync(new URL(name, import.meta.url), 'utf8');
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map(decode);
}

/** In the tables, ⟨a⟩ is a line feed, ⟨200b⟩ a zero-width space, and so on. */
function decode(line: string): string {
  return line.replaceAll(/⟨([0-9a-f]+)⟩/g, (_, hex: string) => String.fromCodePoint(Number.parseInt(hex, 16)));
}

export const benignCommands = readLines('benign-commands.txt');

export const bypasses: Bypass[] = [];
let rules: string[] = [];
for (const line of readLines('bypass-commands.txt')) {
  if (line.startsWith('= ')) rules = line.slice(2).split(', ');
  else bypasses.push({ rules, command: line });
}

const known = new Map<string, string[]>();

function wordsOf(rule: string): string[] {
  const words = known.get(rule) ?? ruleWords(rule) ?? [];
  known.set(rule, words);
  return words;
}

/** Allowed when a rule covers every part and nothing is written. */
export function isAllowed(command: string, allowed: readonly string[]): boolean {
  const parsed = parseCommand(command);
  if ('unclear' in parsed || parsed.parts.length === 0) return false;
  const words = allowed.map(wordsOf);
  return parsed.parts.every((part) => part.writes.length === 0 && words.some((rule) => beginsWith(part, rule)));
}

/** Denied when any part is what the rule names. */
export function isDenied(command: string, denied: string): boolean {
  const parsed = parseCommand(command);
  if ('unclear' in parsed) return false;
  return parsed.parts.some((part) => beginsWith(part, wordsOf(denied), true));
}

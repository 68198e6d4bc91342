import { normalize } from 'node:path';
import { createGlob, isGlob } from './globs.js';
import type { Action, SourcedRule } from './port.js';
import { isBelow, toAbsolute, toGrantedPath, toRealPath } from './real-paths.js';
import { beginsWith, exactWords, isExactly, mayBeginWith, ruleWords, type CommandPart } from './shell/command.js';

export interface Bases {
  workspace: string;
  home: string;
}

export interface Matched {
  action: Action;
  rule: SourcedRule;
}

const weight: Record<Action, number> = { deny: 2, ask: 1, allow: 0 };

/** The strictest of the rules that speak of this: deny beats ask beats allow. */
function strictest(rules: SourcedRule[]): Matched | undefined {
  const [rule] = rules.toSorted((a, b) => weight[b.action] - weight[a.action]);
  return rule && { action: rule.action, rule };
}

function isFor(rule: SourcedRule, toolNames: readonly string[]): boolean {
  return rule.tool === '*' || toolNames.includes(rule.tool);
}

/** A path as it is asked about: what it is called, and where it leads. */
export interface AskedPath {
  /** As written, made absolute, and whatever else it may mean. */
  names: readonly string[];
  real: string;
}

type Matches = (asked: AskedPath) => boolean;

/**
 * A rule's path: a file, everything below a directory, or a glob. One that allows is about real paths alone; others hold for every name of
 * what they are about, as it is written and as it leads now.
 */
function readPath(given: string, action: Action, { workspace, home }: Bases): Matches {
  // A directory may be written with a slash at its end; paths that are asked about have none.
  const path = given.replace(/(?<=[^/])\/+$/, '');
  if (isGlob(path)) {
    // A name alone, such as *.pem, is meant wherever it stands.
    const where = path.includes('/') ? normalize(toAbsolute(path, workspace, home)) : `**/${path}`;
    const glob = createGlob(where, { slashes: true });
    return (asked) => namesFor(action, asked).some(glob.holds);
  }
  const absolute = toAbsolute(path, workspace, home);
  if (action === 'allow') {
    const granted = toGrantedPath(absolute);
    return ({ real }) => granted !== undefined && isBelow(real, granted);
  }
  const meant = normalize(absolute);
  const leadsTo = toRealPath(meant);
  return (asked) => namesFor(action, asked).some((one) => isBelow(one, meant) || (leadsTo !== undefined && isBelow(one, leadsTo)));
}

function readPattern(pattern: string, action: Action): Matches {
  const glob = createGlob(pattern, { slashes: false });
  return (asked) => namesFor(action, asked).some(glob.matches);
}

function namesFor(action: Action, { names, real }: AskedPath): readonly string[] {
  return action === 'allow' ? [real] : [...names, real];
}

/** What rules say about a path. */
export type PathRules = (asked: AskedPath) => Matched | undefined;

/** The rules about paths, looked up once for many of them. */
export function createPathRules(rules: readonly SourcedRule[], toolNames: readonly string[], bases: Bases): PathRules {
  const read = rules
    .filter((rule) => isFor(rule, toolNames) && rule.command === undefined)
    .map((rule) => {
      if (rule.path !== undefined) return { rule, matches: readPath(rule.path, rule.action, bases) };
      return { rule, matches: rule.pattern === undefined ? () => true : readPattern(rule.pattern, rule.action) };
    });
  return (asked) => strictest(read.filter(({ matches }) => matches(asked)).map(({ rule }) => rule));
}

/** What the rules say about every call of a tool, whatever it touches. */
export function rulesForTool(rules: readonly SourcedRule[], toolName: string): Matched | undefined {
  return strictest(
    rules.filter((rule) => isFor(rule, [toolName]) && rule.command === undefined && rule.path === undefined && rule.pattern === undefined),
  );
}

/** What the rules say about one simple command. An allow rule must say it literally; others look through disguises. */
export function rulesForPart(rules: readonly SourcedRule[], toolName: string, part: CommandPart): Matched | undefined {
  return strictest(rules.filter((rule) => isFor(rule, [toolName]) && rule.path === undefined && matchesPart(rule, part)));
}

/**
 * A rule that denies or asks about commands and might be about this one, whose words are not all known before it runs. A pattern might
 * be about every command whose name is computed.
 */
export function ruleThatMayApply(rules: readonly SourcedRule[], toolName: string, part: CommandPart): SourcedRule | undefined {
  const isComputed = part.runsUnknown === true || part.words[0] === null;
  return rules.find((rule) => {
    if (rule.action === 'allow' || !isFor(rule, [toolName])) return false;
    if (rule.pattern !== undefined) return isComputed;
    const words = rule.command === undefined ? undefined : ruleWords(rule.command);
    return words !== undefined && mayBeginWith(part, words);
  });
}

function matchesPart(rule: SourcedRule, part: CommandPart): boolean {
  const isStrict = rule.action !== 'allow';
  if (rule.command !== undefined) {
    const words = ruleWords(rule.command);
    if (!words) return false;
    if (rule.exact === true) {
      if (isStrict) return isExactly(part, words);
      const own = exactWords(part);
      return own?.length === words.length && own.every((word, i) => word === words[i]);
    }
    return beginsWith(part, words, isStrict);
  }
  if (rule.pattern !== undefined) {
    const { matches } = createGlob(rule.pattern, { slashes: false });
    const own = exactWords(part);
    if (isStrict) return matches(part.text) || (own !== undefined && matches(own.join(' ')));
    return own !== undefined && matches(own.join(' '));
  }
  // Every call of the tool: whoever says that has said it of disguises, too.
  return true;
}

import { normalize } from 'node:path';
import { createGlob, isGlob } from './globs.js';
import type { Action, SourcedRule } from './port.js';
import { isBelow, toAbsolute, toGrantedPath, toRealPath } from './real-paths.js';
import { beginsWith, exactWords, isExactly, mayBeginWith, ruleWords, type CommandPart } from './shell/command.js';

export interface Bases {
  workspace: string;
  home: string;
}

export interface MatchedRule {
  action: Action;
  rule: SourcedRule;
}

const weight: Record<Action, number> = { deny: 2, ask: 1, allow: 0 };

/** The strictest of the matching rules: deny beats ask beats allow. */
function strictest(rules: SourcedRule[]): MatchedRule | undefined {
  const [rule] = rules.toSorted((a, b) => weight[b.action] - weight[a.action]);
  return rule && { action: rule.action, rule };
}

function isAboutTool(rule: SourcedRule, toolNames: readonly string[]): boolean {
  return rule.tool === '*' || toolNames.includes(rule.tool);
}

/** The forms of a path that rules are compared with: its names and its real path. */
export interface PathForms {
  /** As written, made absolute, and what a glob in it may expand to. */
  names: readonly string[];
  real: string;
}

type Matches = (forms: PathForms) => boolean;

/**
 * Compiles the path of a rule: a file, everything below a directory, or a glob. An allow rule matches real paths alone; deny and ask rules
 * match every form of a path, as written and as resolved now.
 */
function compilePath(rulePath: string, action: Action, { workspace, home }: Bases): Matches {
  // A directory may have a trailing slash in a rule; the compared paths have none.
  const path = rulePath.replace(/(?<=[^/])\/+$/, '');
  if (isGlob(path)) {
    // A glob without a slash, such as *.pem, matches in any directory.
    const where = path.includes('/') ? normalize(toAbsolute(path, workspace, home)) : `**/${path}`;
    const glob = createGlob(where, { slashes: true });
    return (forms) => namesFor(action, forms).some(glob.matchesOrContains);
  }
  const absolute = toAbsolute(path, workspace, home);
  if (action === 'allow') {
    const granted = toGrantedPath(absolute);
    return ({ real }) => granted !== undefined && isBelow(real, granted);
  }
  const normalized = normalize(absolute);
  const real = toRealPath(normalized);
  return (forms) => namesFor(action, forms).some((name) => isBelow(name, normalized) || (real !== undefined && isBelow(name, real)));
}

function compilePattern(pattern: string, action: Action): Matches {
  const glob = createGlob(pattern, { slashes: false });
  return (forms) => namesFor(action, forms).some(glob.matches);
}

function namesFor(action: Action, { names, real }: PathForms): readonly string[] {
  return action === 'allow' ? [real] : [...names, real];
}

/** The strictest rule for a path; undefined when none matches. */
export type PathRules = (forms: PathForms) => MatchedRule | undefined;

/** Compiles the path rules of a tool once, to match many paths. */
export function createPathRules(rules: readonly SourcedRule[], toolNames: readonly string[], bases: Bases): PathRules {
  const compiled = rules
    .filter((rule) => isAboutTool(rule, toolNames) && rule.command === undefined)
    .map((rule) => {
      if (rule.path !== undefined) return { rule, matches: compilePath(rule.path, rule.action, bases) };
      return { rule, matches: rule.pattern === undefined ? () => true : compilePattern(rule.pattern, rule.action) };
    });
  return (forms) => strictest(compiled.filter(({ matches }) => matches(forms)).map(({ rule }) => rule));
}

/** The strictest of the rules about every call of a tool. */
export function rulesForTool(rules: readonly SourcedRule[], toolName: string): MatchedRule | undefined {
  return strictest(
    rules.filter(
      (rule) => isAboutTool(rule, [toolName]) && rule.command === undefined && rule.path === undefined && rule.pattern === undefined,
    ),
  );
}

/** The strictest rule for one simple command. An allow rule must match literally; deny and ask rules look through wrappers such as sudo. */
export function rulesForPart(rules: readonly SourcedRule[], toolName: string, part: CommandPart): MatchedRule | undefined {
  return strictest(rules.filter((rule) => isAboutTool(rule, [toolName]) && rule.path === undefined && matchesPart(rule, part)));
}

/**
 * A deny or ask rule that might match a command with computed words, which are known only when it runs. A pattern might match every command
 * with a computed program name.
 */
export function ruleThatMayApply(rules: readonly SourcedRule[], toolName: string, part: CommandPart): SourcedRule | undefined {
  const isComputed = part.runsUnknown === true || part.words[0] === null;
  return rules.find((rule) => {
    if (rule.action === 'allow' || !isAboutTool(rule, [toolName])) return false;
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
  // A rule without command and pattern matches every call of the tool.
  return true;
}

import { nearest } from '../protocol/nearest.js';
import { isGlob } from './globs.js';
import type { Rule, RuleProblem, RuleCheckContext } from './port.js';
import { whyNotGranted } from './real-paths.js';
import { isAlwaysAsked } from './shell/programs/builtins.js';
import { exactWords, parseCommand, ruleWords, type CommandPart } from './shell/command.js';
import { quoteWords } from './shell/quote.js';

interface CheckContext extends RuleCheckContext {
  home: string;
}

/** Why no call could ever match a rule; undefined for a valid rule. */
export function findRuleProblem(rule: Rule, context: CheckContext): RuleProblem | undefined {
  return (
    checkTool(rule.tool, context.toolNames) ??
    checkHarmless(rule, context) ??
    checkCommand(rule) ??
    checkPath(rule, context) ??
    checkPattern(rule)
  );
}

function checkTool(tool: string, toolNames: readonly string[]): RuleProblem | undefined {
  if (tool === '*' || toolNames.includes(tool)) return undefined;
  const near = nearest(tool, toolNames);
  const hint = near === undefined ? `the tools are ${toolNames.join(', ')}` : `did you mean ${near}?`;
  return { field: 'tool', message: `there is no tool ${JSON.stringify(tool)}; ${hint}` };
}

function checkHarmless({ tool, path, pattern }: Rule, { harmlessTools = [] }: CheckContext): RuleProblem | undefined {
  if ((path === undefined && pattern === undefined) || !harmlessTools.includes(tool)) return undefined;
  return {
    field: path === undefined ? 'pattern' : 'path',
    message: `${tool} touches no files; a rule without path and pattern is about all its calls`,
  };
}

function checkCommand({ command, action, exact }: Rule): RuleProblem | undefined {
  if (command === undefined) return undefined;
  const field = 'command';
  const words = ruleWords(command);
  if (!words) return { field, message: 'a rule names one simple command, such as git status; use pattern for more' };
  if (action !== 'allow') return undefined;
  const parsed = parseCommand(command);
  if ('unclear' in parsed) return { field, message: `the command cannot be parsed: ${parsed.unclear}` };
  const [part] = parsed.parts;
  const name = part?.words[0];
  if (!part || typeof name !== 'string') return undefined;
  if (isAlwaysAsked(name, part.words.length > 1)) return { field, message: alwaysAsked(name) };
  return exact === true ? checkExact(part, words) : undefined;
}

/** A rule with `exact` must match its own words. */
function checkExact(part: CommandPart, words: readonly string[]): RuleProblem | undefined {
  const field = 'command';
  const own = exactWords(part);
  if (!own) return { field, message: `no rule allows exactly this, it is always asked about: ${part.doubts.join('; ')}` };
  if (own.length === words.length && own.every((word, i) => word === words[i])) return undefined;
  return { field, message: `rules are compared without ${quoteWords(part.wrappers ?? [])}; name ${quoteWords(own)} alone` };
}

function alwaysAsked(name: string): string {
  return `no rule allows ${name}, it is always asked about: it can change what other words mean`;
}

function checkPath({ path, action }: Rule, { home, workspace }: CheckContext): RuleProblem | undefined {
  if (path === undefined) return undefined;
  const field = 'path';
  const message = action !== 'allow' || isGlob(path) ? undefined : whyNotGranted(path, home, workspace);
  return message === undefined ? checkGlob(field, path) : { field, message };
}

function checkPattern({ tool, pattern, action }: Rule): RuleProblem | undefined {
  if (pattern === undefined) return undefined;
  if (tool === '*') return undefined;
  const field = 'pattern';
  if (tool !== 'bash') {
    if (action === 'allow' && /^[^/*?]/.test(pattern))
      return { field, message: 'what is allowed is compared with whole paths; begin the pattern with **/, or use path' };
    return checkGlob(field, pattern);
  }
  const operator = /\s(&&|\|\|?|;)\s/.exec(pattern.replaceAll(/'[^']*'|"[^"]*"/g, ''))?.[1];
  if (operator !== undefined)
    return { field, message: `each simple command is judged by itself, without ${operator}; write a rule for each of them` };
  const name = /^[^\s*?]+(?=\s|$)/.exec(pattern)?.[0];
  if (action === 'allow' && name !== undefined && isAlwaysAsked(name, false)) return { field, message: alwaysAsked(name) };
  return undefined;
}

/** Rejects syntax that globs of rules do not have: only `*`, `**` and `?` are wildcards. */
function checkGlob(field: RuleProblem['field'], glob: string): RuleProblem | undefined {
  if (glob.includes('\0')) return { field, message: 'no path has a NUL in it' };
  if (/\{[^{}/]*,[^{}/]*\}/.test(glob))
    return { field, message: 'a glob knows *, ** and ?, and braces mean themselves; write a rule for each of them' };
  return undefined;
}

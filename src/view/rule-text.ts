import type { RuleRow } from '../protocol/permissions.js';
import { sayRule, saySubject } from '../protocol/rule-words.js';
import { printableLine } from './printable.js';

/** What a rule is about, without its action and tool, in one printable line. */
export function ruleSubject(rule: RuleRow): string {
  return printableLine(saySubject(rule));
}

/** A rule in one printable line: its action, its tool and what it is about. */
export function ruleText(rule: RuleRow): string {
  return printableLine(sayRule(rule));
}

const verdicts: Record<RuleRow['action'], string> = { allow: 'allowed without asking', ask: 'always asked about', deny: 'never done' };

/** A rule in a printable sentence, for whoever has just made it. */
export function ruleSentence(rule: RuleRow): string {
  const { tool, action, command, exact, path, pattern, network, unsandboxed } = rule;
  const calls = tool === 'bash' ? 'commands' : tool === '*' ? 'calls of all tools' : `calls of the tool ${tool}`;
  const which =
    command !== undefined
      ? exact === true
        ? `that are "${command}" and no more`
        : `that begin with "${command}"`
      : path !== undefined
        ? `on ${path}`
        : pattern !== undefined
          ? `that fit ${pattern}`
          : '';
  const beside = [...(network === true ? ['with the network'] : []), ...(unsandboxed === true ? ['outside the sandbox'] : [])];
  const subject = which === '' ? `all ${calls}` : `${calls} ${which}`;
  return printableLine(`${verdicts[action]}: ${[subject, ...beside].join(', ')}`);
}

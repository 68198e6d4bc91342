import type { RuleRow } from '../protocol/permissions.js';
import { sayRule, saySubject } from '../protocol/rule-words.js';
import { printableLine } from './printable.js';

/** The subject of a rule, without action and tool, in one sanitized line. */
export function ruleSubject(rule: RuleRow): string {
  return printableLine(saySubject(rule));
}

/** A rule in one sanitized line: action, tool and subject. */
export function ruleText(rule: RuleRow): string {
  return printableLine(sayRule(rule));
}

const verdicts: Record<RuleRow['action'], string> = { allow: 'allowed without asking', ask: 'always asked about', deny: 'never done' };

/** A rule as a sanitized sentence, for the confirmation of a new rule. */
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

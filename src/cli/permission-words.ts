import type { Berth } from '../client/connect.js';
import type { CommandInput } from '../protocol/commands.js';
import type { RuleRow } from '../protocol/permissions.js';
import { sayRule, saySubject } from '../protocol/rule-words.js';
import { printableLine } from '../view/printable.js';
import { currentDirectory } from './directory.js';
import type { Cli } from './subcommand.js';

/** What a rule is about, without its action and tool. */
export function describeSubject(rule: RuleRow): string {
  return printableLine(saySubject(rule));
}

export function describeRule(rule: RuleRow): string {
  return printableLine(sayRule(rule));
}

const verdicts: Record<RuleRow['action'], string> = { allow: 'allowed without asking', ask: 'always asked about', deny: 'never done' };

/** A rule in a sentence, for whoever has just made it. */
export function confirmRule(rule: RuleRow): string {
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

/** What a command about permissions speaks of: the session that is named, or the directory the person is in. */
export async function readPlace(
  cli: Cli,
  berth: Berth,
  session: string | undefined,
): Promise<Pick<CommandInput<'list_permissions'>, 'session_id' | 'cwd'>> {
  return session === undefined ? { cwd: currentDirectory() } : { session_id: await cli.resolve(berth, session) };
}

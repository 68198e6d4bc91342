import type { RuleRow } from './permissions.js';

/** The subject and extras of a rule, without action and tool. */
export function saySubject({ tool, command, exact, path, pattern, network, unsandboxed }: RuleRow): string {
  const words = command === undefined ? undefined : `${command}${exact === true ? ' (exactly)' : ''}`;
  const place = path === undefined ? undefined : tool === 'bash' || tool === '*' ? `the path ${path}` : path;
  const like = pattern === undefined ? undefined : `anything like ${pattern}`;
  return [
    words ?? place ?? like ?? 'every call',
    ...(network === true ? ['with the network'] : []),
    ...(unsandboxed === true ? ['outside the sandbox'] : []),
  ].join(', ');
}

/** A rule in words. */
export function sayRule(rule: RuleRow): string {
  return `${rule.action} ${rule.tool} ${saySubject(rule)}`;
}

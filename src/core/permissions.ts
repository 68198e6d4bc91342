import { refusal } from '../protocol/errors.js';
import { limits } from '../protocol/limits.js';
import type { RuleRow } from '../protocol/permissions.js';
import { refuse, type Decision, type RuleScope } from './decision.js';

/** A rule that a person makes. Said twice, it is there once. */
export function addRule(scope: RuleScope, rule: RuleRow, by: string, rulesCount: number): Decision {
  if (rulesCount >= limits.rulesMax) {
    return refuse(refusal('invalid_payload', `there are ${limits.rulesMax} rules already; remove some`, { field: 'rule' }));
  }
  return { ok: true, facts: [], shared: [{ type: 'add_rule', scope, rule, by }], reply: undefined };
}

/** Takes a rule back. `no` is its number, undefined when there is none of the id that was given. */
export function removeRule(permissionId: string, no: number | undefined): Decision {
  if (no === undefined) {
    const message = `permission_id: there is no rule ${permissionId}; list_permissions shows them`;
    return refuse(refusal('invalid_payload', message, { field: 'permission_id' }));
  }
  return { ok: true, facts: [], shared: [{ type: 'remove_rule', no }], reply: undefined };
}

/** Whether exactly this content of a workspace's own config counts. */
export function setTrust(workspace: string, digest: string, trusted: boolean, by: string): Decision {
  return { ok: true, facts: [], shared: [{ type: 'set_trust', workspace, digest, trusted, by }], reply: undefined };
}

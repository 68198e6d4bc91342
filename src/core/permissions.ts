import { refusal } from '../protocol/errors.js';
import type { EventPayload, Fact } from '../protocol/events.js';
import { noSession } from '../protocol/ids.js';
import { limits } from '../protocol/limits.js';
import type { RuleRow } from '../protocol/permissions.js';
import { accept, refuse, type Decision } from './decision.js';

/** The scope of a rule: one workspace, one session, or everywhere. */
export interface RuleScope {
  workspace: string | null;
  sessionId: string | null;
}

/** A stored permission rule. */
export interface KeptRule extends RuleScope {
  no: number;
  rule: RuleRow;
}

/** The lookups in stored rules that adding another needs. */
export interface RuleNumbers {
  count(): number;
  /** The number of an equal rule. */
  find(scope: RuleScope, rule: RuleRow): number | undefined;
  /** The highest number that any rule ever had: numbers are not reused. */
  last(): number;
}

/** Adds a rule; the reply is its number. Idempotent: an equal rule is not added again. */
export function addRule(scope: RuleScope, rule: RuleRow, by: string, existing: RuleNumbers): Decision<number> {
  const added = addRules(scope, [rule], by, existing);
  return added.ok ? accept(added.facts, existing.find(scope, rule) ?? existing.last() + 1) : added;
}

/** Adds the missing ones of some rules: all of them, or none at the limit. */
export function addRules(scope: RuleScope, rules: readonly RuleRow[], by: string, existing: RuleNumbers): Decision {
  const missing = new Map(rules.filter((rule) => existing.find(scope, rule) === undefined).map((rule) => [JSON.stringify(rule), rule]));
  if (missing.size > 0 && existing.count() + missing.size > limits.rulesMax) {
    const message = `there can be ${limits.rulesMax} permission rules, and there are ${existing.count()}: remove some with berth permissions rm`;
    return refuse(refusal('invalid_payload', message, { field: 'rule' }));
  }
  const last = existing.last();
  return accept(
    [...missing.values()].map((rule, i) => toFact('added', { ...scope, no: last + 1 + i, rule }, by)),
    undefined,
  );
}

/** Removes a rule; refused when there is none. */
export function removeRule(permissionId: string, kept: KeptRule | undefined, by: string): Decision {
  if (kept) return accept([toFact('removed', kept, by)], undefined);
  const message = `permission_id: there is no rule ${permissionId}; list_permissions shows them`;
  return refuse(refusal('invalid_payload', message, { field: 'permission_id' }));
}

/** Trusts or distrusts the digest of a workspace's config. */
export function setTrust(decision: Omit<EventPayload<'trust_update'>, 'session_id'>): Decision {
  return accept([{ type: 'trust_update', payload: { session_id: noSession, ...decision } }], undefined);
}

function toFact(op: 'added' | 'removed', { no, workspace, sessionId, rule }: KeptRule, by: string): Fact {
  return { type: 'rule_update', payload: { session_id: sessionId ?? noSession, op, permission_id: String(no), workspace, rule, by } };
}

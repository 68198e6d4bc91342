import { refusal } from '../protocol/errors.js';
import { noSession, type EventPayload, type Fact } from '../protocol/events.js';
import { limits } from '../protocol/limits.js';
import type { RuleRow } from '../protocol/permissions.js';
import { accept, refuse, type Decision } from './decision.js';

/** Where a rule counts: in one workspace, in one session, or everywhere. */
export interface RuleScope {
  workspace: string | null;
  sessionId: string | null;
}

/** A rule that a person made, as it is kept. */
export interface KeptRule extends RuleScope {
  no: number;
  rule: RuleRow;
}

/** What has to be known of the rules that there are, to make another. */
export interface RuleNumbers {
  count(): number;
  /** The number of a rule that is there. */
  find(scope: RuleScope, rule: RuleRow): number | undefined;
  /** The highest number that any rule ever had. */
  last(): number;
}

/** Adds a rule that a person makes; the reply is its number. Said twice, it is there once. */
export function addRule(scope: RuleScope, rule: RuleRow, by: string, known: RuleNumbers): Decision<number> {
  const added = addRules(scope, [rule], by, known);
  return added.ok ? accept(added.facts, known.find(scope, rule) ?? known.last() + 1) : added;
}

/** Adds those of some rules that are not there yet: all of them, or none where there would be too many. */
export function addRules(scope: RuleScope, rules: readonly RuleRow[], by: string, known: RuleNumbers): Decision {
  const missing = new Map(rules.filter((rule) => known.find(scope, rule) === undefined).map((rule) => [JSON.stringify(rule), rule]));
  if (missing.size > 0 && known.count() + missing.size > limits.rulesMax) {
    const message = `there can be ${limits.rulesMax} permission rules, and there are ${known.count()}: remove some with berth permissions rm`;
    return refuse(refusal('invalid_payload', message, { field: 'rule' }));
  }
  const last = known.last();
  return accept(
    [...missing.values()].map((rule, i) => toFact('added', { ...scope, no: last + 1 + i, rule }, by)),
    undefined,
  );
}

/** Takes a rule back; undefined stands for one that is not there. */
export function removeRule(permissionId: string, kept: KeptRule | undefined, by: string): Decision {
  if (kept) return accept([toFact('removed', kept, by)], undefined);
  const message = `permission_id: there is no rule ${permissionId}; list_permissions shows them`;
  return refuse(refusal('invalid_payload', message, { field: 'permission_id' }));
}

/** Whether exactly this content of a workspace's own config counts. */
export function setTrust(said: Omit<EventPayload<'trust_update'>, 'session_id'>): Decision {
  return accept([{ type: 'trust_update', payload: { session_id: noSession, ...said } }], undefined);
}

function toFact(op: 'added' | 'removed', { no, workspace, sessionId, rule }: KeptRule, by: string): Fact {
  return { type: 'rule_update', payload: { session_id: sessionId ?? noSession, op, permission_id: String(no), workspace, rule, by } };
}

import { expect, test } from 'vitest';
import { addRule, removeRule, setTrust, type RuleNumbers, type RuleScope } from '../../src/core/permissions.js';
import { answerRequest } from '../../src/core/requests.js';
import { limits } from '../../src/protocol/limits.js';
import type { RuleRow } from '../../src/protocol/permissions.js';
import type { RequestParams, TrustParams } from '../../src/protocol/requests/requests.js';
import { createPlay, factsOf, refusalOf } from '../support/core-play.js';
import { approvalParams } from '../support/requests.js';

const status: RuleRow = { tool: 'bash', command: 'git status', action: 'allow' };
const log: RuleRow = { tool: 'bash', command: 'git log', action: 'allow' };
const everywhere: RuleScope = { workspace: null, sessionId: null };

function numbers(last: number, kept: RuleRow[] = []): RuleNumbers {
  const find = (_scope: RuleScope, rule: RuleRow): number | undefined => {
    const at = kept.findIndex((one) => JSON.stringify(one) === JSON.stringify(rule));
    return at === -1 ? undefined : at + 1;
  };
  return { count: () => kept.length, find, last: () => last };
}

function answered(params: RequestParams, result: unknown, known: RuleNumbers) {
  const play = createPlay();
  play.prompt();
  play.answer({ calls: ['bash'] });
  const id = play.ask({ params });
  return { session: play.state.id, facts: factsOf(answerRequest(play.state, id, { by: 'me', cancelled: false, result }, known)) };
}

test('a rule that counts in no single session is a fact of none, with the next number', () => {
  const decision = addRule({ ...everywhere, workspace: '/w' }, status, 'me', numbers(7));
  expect(decision).toMatchObject({ ok: true, reply: 8 });
  expect(factsOf(decision)).toEqual([
    { type: 'rule_update', payload: { session_id: '', op: 'added', permission_id: '8', workspace: '/w', rule: status, by: 'me' } },
  ]);
});

test('a rule of a session is a fact of that session', () => {
  expect(factsOf(addRule({ ...everywhere, sessionId: 'ses_1' }, status, 'me', numbers(0)))[0]?.payload.session_id).toBe('ses_1');
});

test('said twice, a rule is there once: nothing happens, and the reply is its number', () => {
  const decision = addRule(everywhere, log, 'me', numbers(9, [status, log]));
  expect(decision).toMatchObject({ ok: true, facts: [], reply: 2 });
});

test('one rule too many is refused, but not one that is there', () => {
  const full = { ...numbers(limits.rulesMax, [status]), count: () => limits.rulesMax };
  expect(refusalOf(addRule(everywhere, log, 'me', full))).toBe('invalid_payload');
  expect(addRule(everywhere, status, 'me', full)).toMatchObject({ ok: true, reply: 1 });
});

test('a rule is removed by name, and one that is not there is refused', () => {
  expect(factsOf(removeRule('3', { ...everywhere, no: 3, rule: status }, 'me'))).toEqual([
    { type: 'rule_update', payload: { session_id: '', op: 'removed', permission_id: '3', workspace: null, rule: status, by: 'me' } },
  ]);
  expect(refusalOf(removeRule('4', undefined, 'me'))).toBe('invalid_payload');
});

test('trust is a fact of no session', () => {
  const said = { workspace: '/w', digest: 'd', trusted: true, by: 'me' };
  expect(factsOf(setTrust(said))).toEqual([{ type: 'trust_update', payload: { session_id: '', ...said } }]);
});

test('an answer that allows for longer says its rules in the same decision, each once and only what is new', () => {
  const options = (['allow_once', 'allow_session', 'allow_always', 'deny'] as const).map((value) => ({ value, label: value, key: value }));
  const params = approvalParams({ workspace: '/w', remember: [status, log, log], options });
  const always = answered(params, 'allow_always', numbers(4, [status]));
  expect(always.facts.map(({ type }) => type)).toEqual(['ui_resolved', 'rule_update']);
  expect(always.facts[1]?.payload).toEqual({ session_id: '', op: 'added', permission_id: '5', workspace: '/w', rule: log, by: 'me' });
  const session = answered(params, 'allow_session', numbers(4));
  expect(session.facts.slice(1).map(({ payload }) => payload)).toMatchObject([
    { session_id: session.session, permission_id: '5', workspace: null, rule: status },
    { session_id: session.session, permission_id: '6', workspace: null, rule: log },
  ]);
  expect(answered(params, 'allow_once', numbers(4)).facts).toHaveLength(1);
  expect(answered(params, 'deny', numbers(4)).facts).toHaveLength(1);
});

test('an answer that would make one rule too many is refused and leaves the request open; once, and for rules that are there, it is taken', () => {
  const options = (['allow_once', 'allow_session', 'allow_always', 'deny'] as const).map((value) => ({ value, label: value, key: value }));
  const params = approvalParams({ workspace: '/w', remember: [status, log], options });
  const play = createPlay();
  play.prompt();
  play.answer({ calls: ['bash'] });
  const id = play.ask({ params });
  const answer = (result: string, count: number, kept: RuleRow[] = []) =>
    answerRequest(play.state, id, { by: 'me', cancelled: false, result }, { ...numbers(count, kept), count: () => count });
  for (const result of ['allow_session', 'allow_always']) {
    const refused = answer(result, limits.rulesMax - 1);
    expect(refused).toMatchObject({ ok: false, refusal: { code: 'invalid_payload', details: { field: 'result' } } });
    expect(refused).toMatchObject({
      refusal: { message: expect.stringMatching(/1000 permission rules.*permissions rm, or allow it once/) },
    });
    expect(factsOf(answer(result, limits.rulesMax - 2))).toHaveLength(3);
    expect(factsOf(answer(result, limits.rulesMax - 1, [status]))).toHaveLength(2);
    expect(factsOf(answer(result, limits.rulesMax, [status, log]))).toHaveLength(1);
  }
  for (const result of ['allow_once', 'deny']) expect(factsOf(answer(result, limits.rulesMax))).toHaveLength(1);
});

test('the answer to a question of trust says it in the same decision, yes or no', () => {
  const params: TrustParams = {
    kind: 'trust',
    title: 'Trust it?',
    what: 'workspace_config',
    path: '/w/.berth/config.json',
    digest: 'd',
    content: '',
    warnings: [],
    workspace: '/w',
    message: '',
  };
  for (const trusted of [true, false]) {
    expect(answered(params, trusted, numbers(0)).facts.slice(1)).toEqual([
      { type: 'trust_update', payload: { session_id: '', workspace: '/w', digest: 'd', trusted, by: 'me' } },
    ]);
  }
});

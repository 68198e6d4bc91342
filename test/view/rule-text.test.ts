import { expect, test } from 'vitest';
import type { RuleRow } from '../../src/protocol/permissions.js';
import { ruleSentence, ruleSubject, ruleText } from '../../src/view/rule-text.js';
import { hidden, hostileText } from './hostile-text.js';

const exact: RuleRow = { tool: 'bash', action: 'allow', command: 'git push', exact: true, network: true };

test('a rule is told by what it does, to which tool and about what', () => {
  expect(ruleSubject(exact)).toBe('git push (exactly), with the network');
  expect(ruleText(exact)).toBe('allow bash git push (exactly), with the network');
  expect(ruleText({ tool: 'read', action: 'deny', path: '/etc' })).toBe('deny read /etc');
});

test('whoever made a rule is told what it means', () => {
  expect(ruleSentence(exact)).toBe('allowed without asking: commands that are "git push" and no more, with the network');
  expect(ruleSentence({ tool: 'bash', action: 'ask', command: 'git' })).toBe('always asked about: commands that begin with "git"');
  expect(ruleSentence({ tool: '*', action: 'deny', path: '/etc' })).toBe('never done: calls of all tools on /etc');
  expect(ruleSentence({ tool: 'echo', action: 'allow' })).toBe('allowed without asking: all calls of the tool echo');
});

test('nothing hidden gets through', () => {
  const rule: RuleRow = { tool: hostileText, action: 'allow', command: hostileText };
  for (const text of [ruleSubject(rule), ruleText(rule), ruleSentence(rule)]) {
    expect(hidden.test(text)).toBe(false);
    expect(text).not.toContain('\n');
  }
});

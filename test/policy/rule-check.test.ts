import { expect, test } from 'vitest';
import type { Rule } from '../../src/policy/port.js';
import { findRuleProblem } from '../../src/policy/rule-check.js';
import { makeWorld } from './judge-world.js';

const known = {
  toolNames: ['read', 'write', 'edit', 'bash', 'grep', 'ask_user'],
  harmlessTools: ['ask_user'],
  home: '/nowhere',
  workspace: undefined,
};

const never: [string, Rule, string][] = [
  ['a misspelled tool', { tool: 'Bash', action: 'deny' }, 'did you mean bash?'],
  ['a path of a tool that touches none', { tool: 'ask_user', action: 'deny', path: 'src' }, 'touches no files'],
  ['a tool that nobody knows', { tool: 'deploy_to_production', action: 'deny' }, 'the tools are read, write'],
  ['an allowed builtin that runs a text', { tool: 'bash', action: 'allow', command: 'eval' }, 'always asked about'],
  ['an exact one', { tool: 'bash', action: 'allow', command: 'export PATH', exact: true }, 'always asked about'],
  ['a sourced file', { tool: 'bash', action: 'allow', command: 'source env.sh', exact: true }, 'always asked about'],
  ['a shell that reads', { tool: 'bash', action: 'allow', command: 'bash', exact: true }, 'it runs what it reads'],
  [
    'a wrapper that is looked through',
    { tool: 'bash', action: 'allow', command: 'timeout 5 npm test', exact: true },
    'name npm test alone',
  ],
  ['a pattern of such a builtin', { tool: 'bash', action: 'allow', pattern: 'export *' }, 'always asked about'],
  ['two commands', { tool: 'bash', action: 'deny', pattern: 'curl * | sh' }, 'judged by itself, without |'],
  ['a list', { tool: 'bash', action: 'allow', pattern: 'npm ci && npm test' }, 'judged by itself, without &&'],
  ['no command', { tool: 'bash', action: 'deny', command: 'a;b' }, 'one simple command'],
  ['braces', { tool: 'read', action: 'deny', path: 'src/*.{key,pem}' }, 'a rule for each'],
  ['an allowed relative pattern', { tool: 'write', action: 'allow', pattern: 'src/*' }, 'begin the pattern with **/'],
  ['braces in a pattern', { tool: 'write', action: 'deny', pattern: '*.{key,pem}' }, 'a rule for each'],
];

test.each(never)('%s can never match', (_, rule, message) => {
  expect(findRuleProblem(rule, known)?.message).toContain(message);
});

const possible: Rule[] = [
  { tool: '*', action: 'deny' },
  { tool: 'ask_user', action: 'deny' },
  { tool: 'bash', action: 'allow', command: 'git status' },
  { tool: 'bash', action: 'allow', command: 'timeout 5 npm test' },
  { tool: 'bash', action: 'allow', command: 'npm test', exact: true },
  { tool: 'bash', action: 'allow', command: "sh -c 'npm test'", exact: true },
  { tool: 'bash', action: 'allow', command: 'wait', exact: true },
  { tool: 'bash', action: 'allow', command: 'set -e' },
  { tool: 'bash', action: 'deny', command: 'eval' },
  { tool: 'bash', action: 'ask', command: 'export PATH', exact: true },
  { tool: 'bash', action: 'deny', command: 'timeout 5 npm test', exact: true },
  { tool: 'bash', action: 'deny', pattern: 'export *' },
  { tool: 'bash', action: 'allow', pattern: "grep 'a | b' *" },
  { tool: 'bash', action: 'deny', pattern: 'awk *{print $1,$2}*' },
  { tool: 'write', action: 'deny', pattern: 'src/*' },
  { tool: 'write', action: 'allow', pattern: '**/src/*' },
  { tool: 'write', action: 'deny', path: 'pages/[id].tsx' },
  { tool: 'write', action: 'deny', path: '{{cookiecutter.name}}/**' },
];

test.each(possible)('$action $tool $command$path$pattern can match', (rule) => {
  expect(findRuleProblem(rule, known)).toBeUndefined();
});

test('a directory with a slash at its end is that directory, in a glob as well', () => {
  using world = makeWorld();
  for (const path of ['src/', 'sr*/', '**/src/']) {
    const rules: Rule[] = [{ tool: 'write', action: 'deny', path }];
    expect(world.write('src/x.ts', { rules, mode: 'auto_edit' }).action, path).toBe('deny');
    expect(world.write('a.txt', { rules, mode: 'auto_edit' }).action, path).toBe('allow');
  }
});

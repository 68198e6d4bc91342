import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { describe, expect, test, vi } from 'vitest';
import { missing } from '../needs.js';
import { makeHome, runOk } from './run-cli.js';
import { shellEnv } from './shell-env.js';

vi.setConfig({ testTimeout: 90_000 });

const headings = [
  'NAME',
  'SYNOPSIS',
  'DESCRIPTION',
  'COMMANDS',
  'PERMISSIONS',
  'AUTH',
  'CONFIG',
  'DAEMON',
  'OPTIONS',
  'EXIT STATUS',
  'ENVIRONMENT',
  'FILES',
];

test('the man page has every command with its options and examples, and starts no daemon', async () => {
  await using home = makeHome();
  const page = await runOk(home, ['man']);
  expect(page).toMatch(/^'\\" -\*- coding: UTF-8 -\*-\n\.TH BERTH 1 "" "berth \d+\.\d+\.\d+" "User Commands"\n/);
  expect([...page.matchAll(/^\.SH (.*)$/gm)].map(([, heading]) => heading)).toEqual(headings);
  const named = [...(await runOk(home, ['--help'])).matchAll(/^ {2}([a-z]+)(?:\||\s)/gm)].map(([, name = '']) => name);
  for (const name of named) expect(page).toMatch(new RegExp(`^\\.SS berth ${name}\\b|^\\.SH ${name.toUpperCase()}$`, 'm'));
  // Nothing is a request but what is meant as one.
  const requests = new Set([...page.matchAll(/^\.(\S+)/gm)].map(([, request]) => request));
  expect([...requests].sort()).toEqual(['B', 'PP', 'RI', 'SH', 'SS', 'TH', 'TP', 'ad', 'fi', 'nf', 'nh']);
  expect(page).toContain(
    '\\fBberth run \\-\\-json \\(dqlist the flaky tests\\(dq | jq \\-r \\(aqselect(.type==\\(dqresult\\(dq).output\\(aq\\fR\n',
  );
});

test('every command has an example in its help', async () => {
  await using home = makeHome();
  const page = await runOk(home, ['man']);
  const commands = page.split(/^\.S[SH] /m).filter((part) => part.startsWith('berth ') && !part.startsWith('berth \\-'));
  expect(commands.length).toBeGreaterThan(30);
  expect(commands.filter((part) => !/^Examples:$/m.test(part)).map((part) => part.split('\n')[0])).toEqual([]);
});

describe.skipIf(missing('man'))('with man (needs man)', () => {
  test('man renders it without a warning', async () => {
    await using home = makeHome();
    const env = { ...shellEnv(home), MANWIDTH: '90', MANPAGER: 'cat', MAN_KEEP_FORMATTING: '' };
    const { stdout, stderr } = await promisify(execFile)('sh', ['-c', 'berth man | man --warnings=all -l - | col -b'], { env });
    expect(stderr).toBe('');
    for (const heading of headings) expect(stdout).toMatch(new RegExp(`^${heading}$`, 'm'));
    expect(stdout).toMatch(/^ {3}berth run \[text\]$/m);
    expect(stdout).toMatch(/^ +git diff \| berth run --quiet --mode read_only > review\.md\n/m);
  });
});

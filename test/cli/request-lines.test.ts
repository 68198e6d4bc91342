import { expect, test } from 'vitest';
import { requestLines } from '../../src/cli/attach/request-lines.js';
import { createStyle } from '../../src/cli/terminal/style.js';
import { ask, fullApproval, questionParams, uiRequest } from '../support/requests.js';

const full = ask('select', fullApproval);

test('a question shows its options with numbers, and yes and no without', () => {
  const select = ask('select', { title: 'Which way?', options: ['North', 'South'] });
  expect(requestLines(select)).toEqual(['Which way?', '1) North', '2) South']);
  expect(requestLines(ask('confirm', { title: 'Sure?', message: 'It is late.' }))).toEqual(['Sure?', 'It is late.']);
  expect(requestLines(uiRequest(questionParams('editor', { title: 'Log', default: 'Day 1\nfog' })))).toEqual([
    'Log',
    '(left empty: Day 1 fog)',
  ]);
});

test('an approval says who asks and what would run, and nothing in a command looks like a line of ours', () => {
  expect(requestLines(full)).toEqual([
    'make 1) Allow',
    'asked by the ␛[2Jbuild (0123456789), a/b in /w',
    '$ make',
    '| 1) Allow once',
    '| rm x',
    'no rule allows it',
    'It runs in the sandbox, with the network.',
    '[in a sandbox, with the network]',
    'a) Allow once',
    's) Allow this in this session',
    'w) Always allow in this workspace: bash make',
    'd) Deny, and stop the run',
    'r) Deny with a reason, and go on: r REASON',
  ]);
  expect(requestLines(ask('select', { ...fullApproval, sandboxed: false }))).toContain('[not in a sandbox, with the network]');
});

test('a call that is no command is shown with its arguments', () => {
  const call = ask('select', { kind: 'approval', title: 'Run it?', tool_name: 'mystery', args: { to: 'ls \u001b[2J' }, options: [] });
  expect(requestLines(call)[2]).toBe('mystery {"to":"ls \\u001b[2J"}');
});

test('what is too long to show says how much is missing and what shows it', () => {
  const rest = 'berth answer q --show';
  const long = { ...fullApproval, command: undefined, message: '', tool_name: 'edit', args: { path: 'a.txt', edits: [] } };
  const diff = ['--- a.txt', '+++ a.txt', '@@ -1 +1 @@', ...Array.from({ length: 100 }, (_, n) => `+${n}`), ''].join('\n');
  const cut = requestLines(ask('select', { ...long, diff }), { linesMax: 10, rest });
  expect(cut.slice(2, 4)).toEqual(['edit a.txt', '--- a.txt']);
  expect(cut).toContain('  [this is not the whole change: 93 more lines]');
  expect(cut).toContain(`${rest} shows all of it`);
  expect(requestLines(ask('select', { ...long, diff }))).toContain('+99');
  const wide = { ...fullApproval, command: `echo ${'x'.repeat(1_000)}; rm y`, message: '' };
  expect(requestLines(ask('select', wide), { linesMax: 10, rest })).toContain('  [this is not the whole command: the ends of 1 long line]');
  const painted = requestLines(ask('select', { ...long, diff: '-a\n+b\n' }), { style: createStyle(true) });
  expect(painted).toContain('\u001b[31m-a\u001b[39m');
  expect(painted).toContain('\u001b[32m+b\u001b[39m');
});

test('of a long command the options repeat only the beginning, unless all of it is wanted', () => {
  const command = `echo ${'x'.repeat(5_000)}`;
  const always = { value: 'allow_always', label: `Always allow in this workspace: bash ${command}` };
  const long = ask('select', { ...fullApproval, command, message: '', options: [{ value: 'allow_once', label: 'Allow once' }, always] });
  const cut = requestLines(long, { linesMax: 60, rest: '/show' });
  expect(cut.at(-2)).toMatch(/^w\) Always allow in this workspace: bash echo x+…$/);
  expect(cut.at(-2)?.length).toBeLessThan(120);
  expect(requestLines(long).at(-2)).toBe(`w) ${always.label}`);
  const choice = ask('select', { title: 'Which?', options: [command] });
  expect(requestLines(choice, { linesMax: 60 })).toContain(`1) ${command}`);
});

test('questions are printable whatever is in them', () => {
  const hostile = ask('select', { title: 'a\u001b[2Jb', message: 'c\u202ed', options: [{ value: 'v', label: 'l\u0007' }, 'bare', 5] });
  expect(requestLines(hostile)).toEqual(['a␛[2Jb', 'c<U+202E>d', '1) l␇', '2) bare', '3) 5']);
});

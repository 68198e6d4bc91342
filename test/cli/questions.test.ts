import { expect, test } from 'vitest';
import { describeAnswer, describeQuestion, hintOf, readAnswer } from '../../src/cli/questions.js';
import { approvalAnswers, denyReasonKey } from '../../src/protocol/approval-answers.js';
import { createStyle } from '../../src/cli/style.js';
import { currentParams } from '../../src/protocol/old-requests.js';
import type { UiMethod, UiRequest } from '../../src/protocol/requests.js';

/** A request of which only what matters is said. */
function ask(method: UiMethod, said: Record<string, unknown>): UiRequest {
  const address = { session_id: 'ses_0123456789abc', run_id: 'r', turn_id: '1', request_id: 'q', tool_call_id: 'c', ask_key: 'k' };
  return { ...address, method, params: currentParams({ session_id: address.session_id, method, params: said }), expires_at: null };
}

const options = [
  { value: 'n', label: 'North' },
  { value: '3', label: 'South' },
  { value: 'x', label: 'Stay' },
];
const select = ask('select', { title: 'Which way?', options });
const approval = ask('select', {
  kind: 'approval',
  title: 'Run it?',
  tool_name: 'bash',
  args: { command: 'ls \u001b[2J' },
  options: [
    { value: 'allow_once', label: 'Allow once' },
    { value: 'deny', label: 'Deny' },
  ],
});

test('a choice is made by number, label or value, and a value wins over a number', () => {
  expect(readAnswer(select, '1')).toEqual({ ok: true, result: 'n' });
  expect(readAnswer(select, 'south')).toEqual({ ok: true, result: '3' });
  expect(readAnswer(select, '3')).toEqual({ ok: true, result: '3' });
  for (const wrong of ['0', '4', '-1', '1.5', 'west', '']) expect(readAnswer(select, wrong)).toEqual({ ok: false, hint: hintOf(select) });
  expect(describeQuestion(select)).toEqual(['Which way?', '1) North', '2) South', '3) Stay']);
});

test('an approval is denied with a reason, and says what would run', () => {
  expect(readAnswer(approval, 'deny not today')).toEqual({ ok: true, result: { value: 'deny', reason: 'not today' } });
  expect(readAnswer(approval, 'r not\ntoday')).toEqual({ ok: true, result: { value: 'deny', reason: 'not\ntoday' } });
  expect(readAnswer(approval, 'Deny')).toEqual({ ok: true, result: 'deny' });
  expect(readAnswer(select, 'deny it')).toMatchObject({ ok: false });
  expect(describeQuestion(approval)[2]).toBe('bash {"command":"ls \\u001b[2J"}');
  expect(describeAnswer({ value: 'deny', reason: 'no' })).toBe('deny, because no');
  expect(describeAnswer({ value: 'deny', reason: ' ' })).toBe('deny');
});

const saidFull = {
  kind: 'approval',
  title: 'make\n1) Allow',
  command: 'make\n1) Allow once\nrm x',
  message: 'make\n1) Allow once\nrm x\nno rule allows it\nIt runs in the sandbox, with the network.',
  tool_name: 'bash',
  args: {},
  asked_by: { session_id: 'ses_0123456789abc', title: 'the \u001b[2Jbuild', model: 'a/b' },
  workspace: '/w',
  sandboxed: true,
  network: true,
  options: [
    { value: 'allow_once', label: 'Allow once' },
    { value: 'allow_session', label: 'Allow this in this session' },
    { value: 'allow_always', label: 'Always allow in this workspace: bash make' },
    { value: 'deny', label: 'Deny, and stop the run' },
  ],
};
const full = ask('select', saidFull);

test('an approval says who asks and what would run, and nothing in a command looks like a line of ours', () => {
  expect(describeQuestion(full)).toEqual([
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
  expect(describeQuestion(ask('select', { ...saidFull, sandboxed: false }))).toContain('[not in a sandbox, with the network]');
});

test('an approval is answered with a letter or a word, which means the same in every question that has it', () => {
  const meant = { a: 'allow_once', s: 'allow_session', w: 'allow_always', d: 'deny', D: 'deny', n: 'deny', no: 'deny', once: 'allow_once' };
  for (const [typed, result] of Object.entries({ ...meant, session: 'allow_session', always: 'allow_always', allow_once: 'allow_once' })) {
    expect(readAnswer(full, typed)).toEqual({ ok: true, result });
    const offered = result === 'allow_once' || result === 'deny';
    expect(readAnswer(approval, typed)).toMatchObject(offered ? { ok: true, result } : { ok: false });
  }
  for (const typed of ['i', 'y', 'yes', 'r', 'constructor', 'allow', 'as', ''])
    expect(readAnswer(full, typed)).toMatchObject({ ok: false });
  const online = ask('select', { ...saidFull, options: [{ value: 'allow_network', label: 'Allow once, with internet access' }] });
  for (const typed of ['i', 'internet']) expect(readAnswer(online, typed)).toEqual({ ok: true, result: 'allow_network' });
  expect(readAnswer(online, 'n')).toMatchObject({ ok: false });
  expect(readAnswer(select, 'yes')).toMatchObject({ ok: false });
});

test('every answer to an approval has a key of its own', () => {
  const keys = [...Object.values(approvalAnswers).map(({ key }) => key), denyReasonKey];
  expect(new Set(keys).size).toBe(keys.length);
  expect(keys).not.toContain('n');
  expect(keys).not.toContain('y');
});

test('a number is no answer to an approval, whatever stands at its place, and the refusal says what is', () => {
  for (const typed of ['0', '1', '2', '3', '4', '12', ' 1 ']) {
    expect(readAnswer(full, typed)).toEqual({
      ok: false,
      hint: 'a, s, w, d, or r and a reason, with which the run goes on; approvals are not answered with numbers',
    });
  }
});

test('what is too long to show says how much is missing and what shows it', () => {
  const rest = 'berth answer q --show';
  const long = { ...saidFull, command: undefined, message: '', tool_name: 'edit', args: { path: 'a.txt', edits: [] } };
  const diff = ['--- a.txt', '+++ a.txt', '@@ -1 +1 @@', ...Array.from({ length: 100 }, (_, n) => `+${n}`), ''].join('\n');
  const cut = describeQuestion(ask('select', { ...long, diff }), { linesMax: 10, rest });
  expect(cut.slice(2, 4)).toEqual(['edit a.txt', '--- a.txt']);
  expect(cut).toContain('  [this is not the whole change: 93 more lines]');
  expect(cut).toContain(`${rest} shows all of it`);
  expect(describeQuestion(ask('select', { ...long, diff }))).toContain('+99');
  const wide = { ...saidFull, command: `echo ${'x'.repeat(1_000)}; rm y`, message: '' };
  expect(describeQuestion(ask('select', wide), { linesMax: 10, rest })).toContain(
    '  [this is not the whole command: the ends of 1 long line]',
  );
  const painted = describeQuestion(ask('select', { ...long, diff: '-a\n+b\n' }), { style: createStyle(true) });
  expect(painted).toContain('\u001b[31m-a\u001b[39m');
  expect(painted).toContain('\u001b[32m+b\u001b[39m');
});

test('of a long command the options repeat only the beginning, unless all of it is wanted', () => {
  const command = `echo ${'x'.repeat(5_000)}`;
  const always = { value: 'allow_always', label: `Always allow in this workspace: bash ${command}` };
  const long = ask('select', { ...saidFull, command, message: '', options: [{ value: 'allow_once', label: 'Allow once' }, always] });
  const cut = describeQuestion(long, { linesMax: 60, rest: '/show' });
  expect(cut.at(-2)).toMatch(/^w\) Always allow in this workspace: bash echo x+…$/);
  expect(cut.at(-2)?.length).toBeLessThan(120);
  expect(describeQuestion(long).at(-2)).toBe(`w) ${always.label}`);
  const choice = ask('select', { title: 'Which?', options: [command] });
  expect(describeQuestion(choice, { linesMax: 60 })).toContain(`1) ${command}`);
});

test('yes and no are understood, other words are not', () => {
  const confirm = ask('confirm', { title: 'Sure?' });
  for (const yes of ['y', 'YES', ' true ']) expect(readAnswer(confirm, yes)).toEqual({ ok: true, result: true });
  for (const no of ['n', 'No', 'false']) expect(readAnswer(confirm, no)).toEqual({ ok: true, result: false });
  for (const wrong of ['', 'maybe', 'yess']) expect(readAnswer(confirm, wrong)).toEqual({ ok: false, hint: 'y or n' });
});

test('a text is taken as it is, and nothing means what was proposed', () => {
  expect(readAnswer(ask('input', { title: 'Name?' }), ' Ada ')).toEqual({ ok: true, result: ' Ada ' });
  expect(readAnswer(ask('editor', { title: 'Log', default: 'Day 1' }), '')).toEqual({ ok: true, result: 'Day 1' });
  expect(readAnswer(ask('input', {}), '')).toEqual({ ok: true, result: '' });
});

test('questions are printable whatever is in them', () => {
  const hostile = ask('select', { title: 'a\u001b[2Jb', message: 'c\u202ed', options: [{ value: 'v', label: 'l\u0007' }, 'bare', 5] });
  expect(describeQuestion(hostile)).toEqual(['a␛[2Jb', 'c<U+202E>d', '1) l␇', '2) bare', '3) 5']);
});

import { describe, expect, test } from 'vitest';
import { approvalAnswers, denyReasonKey } from '../../src/protocol/requests/approval-answers.js';
import { describeAnswer, hintOf, isSecret, readAnswer, toCard } from '../../src/view/questions.js';
import { approvalParams, ask, fullApproval, questionParams, uiRequest } from '../support/requests.js';

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

const full = ask('select', fullApproval);

test('a choice is made by number, label or value, and a value wins over a number', () => {
  expect(readAnswer(select, '1')).toEqual({ ok: true, result: 'n' });
  expect(readAnswer(select, 'south')).toEqual({ ok: true, result: '3' });
  expect(readAnswer(select, '3')).toEqual({ ok: true, result: '3' });
  for (const wrong of ['0', '4', '-1', '1.5', 'west', '']) expect(readAnswer(select, wrong)).toEqual({ ok: false, hint: hintOf(select) });
});

test('of several options, any number are chosen with commas', () => {
  const multi = uiRequest({
    kind: 'question',
    method: 'select',
    title: 'Which?',
    options: [...options, { value: 'a,b', label: 'A, B' }],
    multi: true,
  });
  expect(readAnswer(multi, '1, stay,n')).toEqual({ ok: true, result: ['n', 'x'] });
  expect(readAnswer(multi, 'a, b')).toEqual({ ok: true, result: ['a,b'] });
  expect(readAnswer(multi, ' ')).toEqual({ ok: true, result: [] });
  expect(readAnswer(multi, '1,west')).toEqual({ ok: false, hint: 'a number from 1 to 4, or several with commas' });
  expect(describeAnswer(['n', 'x'])).toBe('n, x');
  expect(describeAnswer([])).toBe('nothing');
});

test('an approval is denied with a reason', () => {
  expect(readAnswer(approval, 'deny not today')).toEqual({ ok: true, result: { value: 'deny', reason: 'not today' } });
  expect(readAnswer(approval, 'r not\ntoday')).toEqual({ ok: true, result: { value: 'deny', reason: 'not\ntoday' } });
  expect(readAnswer(approval, 'Deny')).toEqual({ ok: true, result: 'deny' });
  expect(readAnswer(select, 'deny it')).toMatchObject({ ok: false });
  expect(describeAnswer({ value: 'deny', reason: 'no' })).toBe('deny, because no');
  expect(describeAnswer({ value: 'deny', reason: ' ' })).toBe('deny');
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
  const online = ask('select', { ...fullApproval, options: [{ value: 'allow_network', label: 'Allow once, with internet access' }] });
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

describe('a card', () => {
  test('of an approval says who asks, what would be done, why, and every answer with its key', () => {
    const options = [
      { value: 'allow_once' as const, label: 'Allow once', key: 'a' },
      { value: 'deny' as const, label: 'Deny', key: 'd' },
    ];
    const card = toCard(
      uiRequest(approvalParams({ options, notes: ['There is no sandbox.'], sandbox: { kind: 'bare', network: true, writable: [] } })),
    );
    expect(card).toEqual({
      kind: 'approval',
      title: 'make',
      parts: [
        { kind: 'asker', sessionId: 'ses_a', title: '', model: 'a/b', workspace: '/w' },
        { kind: 'command', text: 'make' },
        { kind: 'reasons', text: 'no rule allows it\nThere is no sandbox.' },
        { kind: 'sandbox', isConfined: false, text: 'not in a sandbox, with the network' },
      ],
      choices: [
        { key: 'a', label: 'Allow once', answer: 'allow_once' },
        { key: 'd', label: 'Deny', answer: 'deny' },
        { key: 'r', label: 'Deny with a reason, and go on', answer: undefined },
      ],
      preset: '',
      hint: 'a, d, or r and a reason, with which the run goes on',
      isSecret: false,
      isDangerous: false,
    });
  });

  test('of a change names the files within the workspace, and has all arguments when the diff is cut', () => {
    const paths = [
      { access: 'read' as const, path: '/etc/hosts' },
      { access: 'write' as const, path: '/w/a.txt' },
      { access: 'write' as const, path: '/elsewhere/b.txt' },
    ];
    const { parts } = toCard(
      uiRequest(
        approvalParams({
          tool_name: 'edit',
          args: { text: 'a\u001b' },
          subject: { kind: 'paths', paths },
          diff: '+a\n',
          diff_is_cut: true,
          sandbox: null,
        }),
      ),
    );
    expect(parts.slice(1, 4)).toEqual([
      { kind: 'call', text: 'edit a.txt, /elsewhere/b.txt' },
      { kind: 'diff', text: '+a\n' },
      { kind: 'arguments', each: [{ name: 'text', text: 'a␛' }] },
    ]);
  });

  test('of trust or a directory is answered with yes or no', () => {
    const anchor = { realPath: '/w', device: '1', inode: '2' };
    const card = toCard(uiRequest({ kind: 'directory', title: 'Work in /w?', message: 'It moved.', anchor }));
    expect(card).toMatchObject({
      parts: [{ kind: 'message', text: 'It moved.' }],
      choices: [{ answer: true }, { answer: false }],
      hint: 'y or n',
    });
    expect(readAnswer(ask('confirm', { kind: 'trust', title: 'Trust?' }), 'y')).toEqual({ ok: true, result: true });
  });

  test('says that a yes cannot be undone', () => {
    const confirm = questionParams('confirm');
    const card = toCard(uiRequest({ ...confirm, danger: true } as typeof confirm));
    expect([card.isDangerous, card.choices[0]?.label, card.preset]).toEqual([true, 'Yes, although it cannot be undone', '']);
    expect([toCard(uiRequest(confirm)).isDangerous, toCard(uiRequest(confirm)).choices[0]?.label]).toEqual([false, 'Yes']);
  });

  test('says what must not be shown', () => {
    const secret = uiRequest({ kind: 'question', method: 'input', title: 'Password?', secret: true });
    expect([toCard(secret).isSecret, isSecret(secret)]).toEqual([true, true]);
    expect(isSecret(uiRequest(questionParams('input')))).toBe(false);
  });

  test('of a request from a daemon that is older, or newer, than its client is made of what it says', () => {
    const old = { kind: 'approval', title: 'make', tool_name: 'bash', args: {}, command: 'make', options: ['allow_once'] };
    const address = { ...uiRequest(questionParams('confirm')), method: 'select' as const };
    expect(toCard({ ...address, params: old as never }).parts).toContainEqual({ kind: 'command', text: 'make' });
    const unknown = { kind: 'poll', title: 'Which?', options: [{ value: 'n', label: 'North' }] };
    expect(toCard({ ...address, params: unknown as never }).choices).toEqual([{ key: '1', label: 'North', answer: 'n' }]);
  });
});

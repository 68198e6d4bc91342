import { expect, test } from 'vitest';
import { describeAnswer, describeQuestion, hintOf, readAnswer } from '../../src/cli/questions.js';
import type { UiRequest } from '../../src/protocol/events.js';

function ask(method: UiRequest['method'], params: Record<string, unknown>): UiRequest {
  return { session_id: 's', run_id: 'r', turn_id: '1', request_id: 'q', tool_call_id: 'c', ask_key: 'k', method, params, expires_at: null };
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
  expect(readAnswer(approval, 'Deny')).toEqual({ ok: true, result: 'deny' });
  expect(readAnswer(select, 'deny it')).toMatchObject({ ok: false });
  expect(describeQuestion(approval)[1]).toBe('bash {"command":"ls \\u001b[2J"}');
  expect(describeAnswer({ value: 'deny', reason: 'no' })).toBe('deny, because no');
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

import { expect, test } from 'vitest';
import { createAskUserTool } from '../../src/tools/talk/ask-user.js';
import type { QuestionAnswer } from '../../src/protocol/requests/request-answers.js';
import { toolText, type Question } from '../../src/tools/port.js';
import { badFields, parseArgs, toolContext } from '../support/tool-context.js';

const askUser = createAskUserTool();

async function ask(args: unknown, answer: QuestionAnswer) {
  const asked: { key: string; question: Question }[] = [];
  const context = toolContext({
    cwd: '/',
    output: () => expect.unreachable(),
    ask: async (key, question) => {
      asked.push({ key, question });
      return answer;
    },
  });
  return { result: await askUser.run(parseArgs(askUser, args), context), asked };
}

test('a question goes out once, under a key that is the same after a restart', async () => {
  const args = { method: 'select', title: 'Which?', message: 'Choose.', options: ['a', 'b'], timeout_seconds: 1.5 };
  expect((await ask(args, 'a')).asked).toEqual([
    {
      key: 'answer',
      question: {
        params: {
          kind: 'question',
          method: 'select',
          title: 'Which?',
          message: 'Choose.',
          options: [
            { value: 'a', label: 'a' },
            { value: 'b', label: 'b' },
          ],
        },
        timeoutMs: 1_500,
      },
    },
  ]);
});

test('only what was given is sent, and without a timeout the question waits', async () => {
  expect((await ask({ method: 'confirm', title: 'Go?' }, true)).asked[0]?.question).toEqual({
    params: { kind: 'question', method: 'confirm', title: 'Go?' },
    timeoutMs: null,
  });
  expect((await ask({ method: 'confirm', title: 'Delete it?', danger: true }, false)).asked[0]?.question.params).toEqual({
    kind: 'question',
    method: 'confirm',
    title: 'Delete it?',
    danger: true,
  });
  expect((await ask({ method: 'editor', title: 'Log', placeholder: 'p', default: 'd' }, '')).asked[0]?.question.params).toEqual({
    kind: 'question',
    method: 'editor',
    title: 'Log',
    placeholder: 'p',
    default: 'd',
  });
});

test.for([
  ['select', 'north', 'The person chose: north'],
  ['confirm', true, 'The person said yes.'],
  ['confirm', false, 'The person said no.'],
  ['input', 'Seagull', 'The person wrote: Seagull'],
  ['input', '', 'The person left it empty.'],
  ['editor', 'one\ntwo', 'The person wrote: one\ntwo'],
  ['select', ['north', 'east'], 'The person chose: ["north","east"]'],
] satisfies [string, QuestionAnswer, string][])('%s answered with %j is told as "%s"', async ([method, answer, text]) => {
  expect((await ask({ method, title: 'T', options: ['north'] }, answer)).result).toEqual(toolText(text));
});

test('no answer is told, and is no error', async () => {
  for (const method of ['select', 'confirm', 'input', 'editor']) {
    expect((await ask({ method, title: 'T', options: ['a'] }, null)).result).toEqual(toolText('The person gave no answer.'));
  }
});

test('arguments that make no question are refused, each by name', () => {
  const refused = (args: unknown) => badFields(askUser, args);
  expect(refused({ method: 'select', title: 'T' })).toEqual(['options']);
  expect(refused({ method: 'select', title: 'T', options: [] })).toEqual(['options']);
  expect(refused({ method: 'guess', title: 'T' })).toEqual(['method']);
  expect(refused({ method: 'input', title: '' })).toEqual(['title']);
  expect(refused({ method: 'input', title: 'T', timeout_seconds: 0 })).toEqual(['timeout_seconds']);
  expect(refused({ method: 'input', title: 'T', options: Array(51).fill('x') })).toEqual(['options']);
});

test('its parameters are one JSON Schema object, as providers want it', () => {
  expect(askUser.parameters.jsonSchema).toMatchObject({ type: 'object', required: ['method', 'title'] });
});

test('it only asks, so that a restart may run it again', () => {
  expect([askUser.readOnly, askUser.resumable, 'approval' in askUser]).toEqual([false, true, false]);
  expect(askUser.description.length).toBeLessThanOrEqual(120);
  expect(askUser.title({ method: 'confirm', title: 'Go\nnow?' })).toBe('Ask: Go now?');
});

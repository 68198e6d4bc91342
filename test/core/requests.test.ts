import { describe, expect, test } from 'vitest';
import { answerRequest, askPerson, closeRequest, toVerdict, type Response } from '../../src/core/requests.js';
import { abortRun } from '../../src/core/runs.js';
import { encodeDurable } from '../../src/protocol/encode.js';
import { limits } from '../../src/protocol/limits.js';
import type { RequestParams } from '../../src/protocol/requests/requests.js';
import { createPlay, factsOf, refusalOf, type CorePlay } from '../support/core-play.js';
import { approvalParams, questionParams } from '../support/requests.js';

const noRules = { count: () => 0, find: () => undefined, last: () => 0 };
const select = questionParams('select', { options: ['north', 'south'] });

function createAsked(params: RequestParams = questionParams('confirm')): { play: CorePlay; id: string } {
  const play = createPlay();
  play.prompt();
  play.answer({ calls: ['ask_user'] });
  return { play, id: play.ask({ params }) };
}

function answer(play: CorePlay, id: string, given: Partial<Response>) {
  return answerRequest(play.state, id, { by: 'somebody', cancelled: false, ...given }, noRules);
}

test('a question names its run, turn and call, and when it expires', () => {
  const play = createPlay();
  play.prompt();
  play.answer({ calls: ['ask_user'] });
  const request = { id: 'req_1', toolCallId: 'call_1', askKey: 'k', params: questionParams('input'), expiresAtMs: 0 };
  expect(factsOf(askPerson(play.state, request))).toEqual([
    {
      type: 'ui_request',
      payload: {
        session_id: 'ses_a',
        run_id: play.state.run?.id,
        turn_id: '1',
        request_id: 'req_1',
        tool_call_id: 'call_1',
        ask_key: 'k',
        method: 'input',
        params: { kind: 'question', method: 'input', title: 'x' },
        expires_at: '1970-01-01T00:00:00.000Z',
      },
    },
    {
      type: 'status',
      payload: {
        session_id: 'ses_a',
        run_id: play.state.run?.id,
        turn_id: '1',
        request_id: 'req_1',
        message: 'waiting for an answer: x',
      },
    },
  ]);
});

test('nobody is asked for a run that is over or being aborted', () => {
  const request = { id: 'req_1', toolCallId: 'call_1', askKey: 'k', params: questionParams('input'), expiresAtMs: null };
  const play = createPlay();
  expect(refusalOf(askPerson(play.state, request))).toBe('aborted');
  play.prompt();
  play.take(abortRun(play.state, false, undefined));
  expect(refusalOf(askPerson(play.state, request))).toBe('aborted');
});

describe('an answer', () => {
  const trust: RequestParams = {
    kind: 'trust',
    title: 'Trust it?',
    what: 'workspace_config',
    path: '/w/.berth/config.json',
    digest: 'd',
    content: 'allow bash make',
    warnings: [],
    workspace: '/w',
    message: '',
  };
  const directory: RequestParams = {
    kind: 'directory',
    title: 'Work in /w?',
    message: '',
    anchor: { realPath: '/w', device: '1', inode: '2' },
  };
  const cases: { name: string; params: RequestParams; right: unknown[]; wrong: [unknown, field?: string][] }[] = [
    { name: 'confirm', params: questionParams('confirm'), right: [true, false], wrong: [[null], ['yes'], [1], [{}], [undefined]] },
    { name: 'input', params: questionParams('input'), right: ['', 'words', null], wrong: [[true], [1], [{}], [[]], [undefined]] },
    { name: 'editor', params: questionParams('editor'), right: ['a\nb', null], wrong: [[false], [0], [{ text: 'x' }], [undefined]] },
    {
      name: 'select',
      params: select,
      right: ['north', 'south', null],
      wrong: [['North'], ['west'], [0], [true], [['north']], [undefined]],
    },
    {
      name: 'select of several',
      params: { ...select, multi: true } as RequestParams,
      right: [['north'], ['south', 'north'], [], null],
      wrong: [['north'], [['north', 'west'], 'result.1'], [['north', 'north']], [[7], 'result.0'], [undefined]],
    },
    { name: 'trust', params: trust, right: [true, false], wrong: [[null], ['yes'], [undefined]] },
    { name: 'directory', params: directory, right: [true, false], wrong: [[null], [1], [undefined]] },
    {
      name: 'approval',
      params: approvalParams(),
      right: ['allow_once', 'deny', { value: 'deny', reason: 'not now' }],
      wrong: [
        [null],
        [true],
        ['allow'],
        ['allow_always'],
        [{ value: 'allow_once', reason: 'x' }, 'result.value'],
        [{ value: 'deny', reason: 5 }, 'result.reason'],
        [{ value: 'deny' }, 'result.reason'],
        [undefined],
      ],
    },
  ];

  test.each(cases)('of the right kind is taken: $name', ({ params, right }) => {
    for (const result of right) {
      const { play, id } = createAsked(params);
      expect(factsOf(answer(play, id, { result }))[0]).toMatchObject({
        type: 'ui_resolved',
        payload: { request_id: id, by: 'somebody', outcome: 'answered', result },
      });
    }
  });

  test.each(cases)('of the wrong kind is refused, names the field and leaves the request open: $name', ({ params, wrong }) => {
    const { play, id } = createAsked(params);
    for (const [result, field = 'result'] of wrong) {
      expect(answer(play, id, { result })).toMatchObject({
        ok: false,
        refusal: { code: 'invalid_payload', message: expect.stringMatching(new RegExp(`^${field}: .`)), details: { field } },
      });
    }
    expect(play.state.requests).toHaveLength(1);
  });

  test('to an approval says which answers there are', () => {
    const { play, id } = createAsked(approvalParams());
    expect(answer(play, id, { result: 'allow_always' })).toMatchObject({
      refusal: { message: 'result: an approval is answered with one of "allow_once", "deny", or {"value":"deny","reason":"…"}' },
    });
  });

  test('has a bound', () => {
    const { play, id } = createAsked(questionParams('input'));
    expect(answer(play, id, { result: 'x'.repeat(limits.answerCharsMax) })).toMatchObject({
      refusal: { message: expect.stringMatching(/^result: an answer has at most/), details: { field: 'result' } },
    });
  });

  test('that is secret is marked as such, so that it is not told', () => {
    const { play, id } = createAsked({ ...questionParams('input'), secret: true } as RequestParams);
    const [fact] = factsOf(answer(play, id, { result: 'hunter2' }));
    expect(fact).toMatchObject({ payload: { result: 'hunter2', secret: true } });
    if (!fact) throw new Error('an answer is a fact');
    expect(encodeDurable({ ...fact, seq: 1, ts: '' })).not.toContain('hunter2');
  });

  test('comes first or too late', () => {
    const { play, id } = createAsked();
    play.take(answer(play, id, { result: true }));
    expect(play.state.requests).toEqual([]);
    expect(refusalOf(answer(play, id, { result: false }))).toBe('already_resolved');
    expect(refusalOf(answer(play, 'req_none', { result: false }))).toBe('already_resolved');
    expect(refusalOf(closeRequest(play.state, id, 'timeout'))).toBe('already_resolved');
  });

  test('that is cancelled or an error counts as null, whatever was asked', () => {
    for (const method of ['confirm', 'input', 'editor', 'select'] as const) {
      const cancelled = createAsked(questionParams(method, { options: ['north'] }));
      expect(factsOf(answer(cancelled.play, cancelled.id, { cancelled: true }))).toMatchObject([
        { payload: { outcome: 'cancelled', result: null } },
      ]);
      const broken = createAsked(questionParams(method, { options: ['north'] }));
      expect(factsOf(answer(broken.play, broken.id, { error: 'no terminal' }))).toMatchObject([
        { payload: { outcome: 'error', result: null } },
      ]);
    }
  });
});

test('a question that nobody answers is closed with null, by timeout or by policy', () => {
  const late = createAsked();
  expect(factsOf(closeRequest(late.play.state, late.id, 'timeout'))).toMatchObject([
    { payload: { by: 'timeout', outcome: 'timeout', result: null } },
  ]);
  const detached = createAsked();
  expect(factsOf(closeRequest(detached.play.state, detached.id, 'denied'))).toMatchObject([
    { payload: { by: 'policy', outcome: 'denied', result: null } },
  ]);
});

test('only an explicit yes is a yes', () => {
  expect(toVerdict('allow_once')).toEqual({ allow: true, scope: 'once' });
  expect(toVerdict('allow_session')).toEqual({ allow: true, scope: 'session' });
  expect(toVerdict('allow_always')).toEqual({ allow: true, scope: 'always' });
  for (const result of [null, true, 'yes', 'deny', { value: 'deny' as const, reason: ' ' }, ['allow_once']]) {
    expect(toVerdict(result)).toEqual({ allow: false, reason: undefined });
  }
  expect(toVerdict({ value: 'deny', reason: 'use the other file' })).toEqual({ allow: false, reason: 'use the other file' });
});

import { describe, expect, test } from 'vitest';
import { answerRequest, askPerson, closeRequest, toVerdict, type Answer } from '../../src/core/requests.js';
import { abortRun } from '../../src/core/runs.js';
import type { UiMethod } from '../../src/protocol/events.js';
import { createPlay, factsOf, refusalOf, type CorePlay } from '../support/core-play.js';

const options = [
  { value: 'north', label: 'North' },
  { value: 'south', label: 'South' },
];
const approval = { kind: 'approval', options: [{ value: 'allow_once' }, { value: 'deny' }] };

function createAsked(method: UiMethod, params: Record<string, unknown> = {}): { play: CorePlay; id: string } {
  const play = createPlay();
  play.prompt();
  play.answer({ calls: ['ask_user'] });
  return { play, id: play.ask({ method, params }) };
}

function answer(play: CorePlay, id: string, given: Partial<Answer>) {
  return answerRequest(play.state, id, { by: 'somebody', cancelled: false, ...given });
}

test('a question names its run, turn and call, and when it expires', () => {
  const play = createPlay();
  play.prompt();
  play.answer({ calls: ['ask_user'] });
  const request = { id: 'req_1', toolCallId: 'call_1', askKey: 'k', method: 'input' as const, params: { title: 'x' }, expiresAtMs: 0 };
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
        params: { title: 'x' },
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
  const request = { id: 'req_1', toolCallId: 'call_1', askKey: 'k', method: 'input' as const, params: {}, expiresAtMs: null };
  const play = createPlay();
  expect(refusalOf(askPerson(play.state, request))).toBe('aborted');
  play.prompt();
  play.take(abortRun(play.state, false, undefined));
  expect(refusalOf(askPerson(play.state, request))).toBe('aborted');
});

describe('an answer', () => {
  const cases: { method: UiMethod; params?: Record<string, unknown>; right: unknown[]; wrong: unknown[] }[] = [
    { method: 'confirm', right: [true, false], wrong: [null, 'yes', 1, {}, undefined] },
    { method: 'input', right: ['', 'words', null], wrong: [true, 1, {}, [], undefined] },
    { method: 'editor', right: ['a\nb', null], wrong: [false, 0, { text: 'x' }, undefined] },
    { method: 'select', params: { options }, right: ['north', 'south', null], wrong: ['North', 'west', 0, true, ['north'], undefined] },
    { method: 'select', params: { options: ['a', 'b'] }, right: ['a'], wrong: ['c', 0] },
    {
      method: 'select',
      params: approval,
      right: ['allow_once', 'deny', { value: 'deny', reason: 'not now' }],
      wrong: [null, true, 'allow', 'allow_always', { value: 'allow_once', reason: 'x' }, { value: 'deny', reason: 5 }, undefined],
    },
  ];

  test.each(cases)('of the right kind is taken: $method $params', ({ method, params, right }) => {
    for (const result of right) {
      const { play, id } = createAsked(method, params);
      expect(factsOf(answer(play, id, { result }))).toMatchObject([
        { type: 'ui_resolved', payload: { request_id: id, by: 'somebody', outcome: 'answered', result } },
      ]);
    }
  });

  test.each(cases)(
    'of the wrong kind is refused, names result and leaves the question open: $method $params',
    ({ method, params, wrong }) => {
      const { play, id } = createAsked(method, params);
      for (const result of wrong) {
        expect(answer(play, id, { result })).toMatchObject({
          ok: false,
          refusal: { code: 'invalid_payload', message: expect.stringMatching(/^result: /), details: { field: 'result' } },
        });
      }
      expect(play.state.requests).toHaveLength(1);
    },
  );

  test('comes first or too late', () => {
    const { play, id } = createAsked('confirm');
    play.take(answer(play, id, { result: true }));
    expect(play.state.requests).toEqual([]);
    expect(refusalOf(answer(play, id, { result: false }))).toBe('already_resolved');
    expect(refusalOf(answer(play, 'req_none', { result: false }))).toBe('already_resolved');
    expect(refusalOf(closeRequest(play.state, id, 'timeout'))).toBe('already_resolved');
  });

  test('that is cancelled or an error counts as null, whatever was asked', () => {
    for (const method of ['confirm', 'input', 'editor', 'select'] as const) {
      const cancelled = createAsked(method, { options });
      expect(factsOf(answer(cancelled.play, cancelled.id, { cancelled: true }))).toMatchObject([
        { payload: { outcome: 'cancelled', result: null } },
      ]);
      const broken = createAsked(method, { options });
      expect(factsOf(answer(broken.play, broken.id, { error: 'no terminal' }))).toMatchObject([
        { payload: { outcome: 'error', result: null } },
      ]);
    }
  });
});

test('a question that nobody answers is closed with null, by timeout or by policy', () => {
  const late = createAsked('confirm');
  expect(factsOf(closeRequest(late.play.state, late.id, 'timeout'))).toMatchObject([
    { payload: { by: 'timeout', outcome: 'timeout', result: null } },
  ]);
  const detached = createAsked('confirm');
  expect(factsOf(closeRequest(detached.play.state, detached.id, 'denied'))).toMatchObject([
    { payload: { by: 'policy', outcome: 'denied', result: null } },
  ]);
});

test('only an explicit yes is a yes', () => {
  expect(toVerdict('allow_once')).toEqual({ allow: true, scope: 'once' });
  expect(toVerdict('allow_session')).toEqual({ allow: true, scope: 'session' });
  expect(toVerdict('allow_always')).toEqual({ allow: true, scope: 'always' });
  for (const result of [null, undefined, true, 'yes', 'deny', { value: 'allow_once' }, { value: 'deny', reason: ' ' }, ['allow_once']]) {
    expect(toVerdict(result)).toEqual({ allow: false, reason: undefined });
  }
  expect(toVerdict({ value: 'deny', reason: 'use the other file' })).toEqual({ allow: false, reason: 'use the other file' });
});

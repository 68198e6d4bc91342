import { describe, expect, test } from 'vitest';
import { startDaemon, type TestDaemon } from '../support/daemon.js';
import type { RawLine } from '../support/raw-client.js';
import { shareDaemon } from '../support/shared-daemon.js';
import { openTalk, type Talk } from '../support/talk.js';

const daemon = shareDaemon();

/** The n-th question that was put in the session. */
async function question(talk: Talk, n: number): Promise<RawLine['payload'] & { request_id: string; method: string }> {
  const seen = (): RawLine[] => talk.events.lines.filter(({ type }) => type === 'ui_request');
  await talk.until(() => seen().length >= n);
  return seen()[n - 1]?.payload as RawLine['payload'] & { request_id: string; method: string };
}

function resolutions(talk: Talk): RawLine['payload'][] {
  return talk.events.lines.filter(({ type }) => type === 'ui_resolved').map(({ payload }) => payload);
}

async function results(talk: Talk): Promise<string[]> {
  return talk.texts('tool_result');
}

describe('a question to a person', () => {
  test('of each kind is raised, answered and told to the model', async () => {
    const talk = await openTalk(daemon());
    const run = await talk.prompt('ask me');
    const answers: [string, unknown][] = [
      ['select', 'south'],
      ['confirm', false],
      ['input', 'Argo'],
      ['editor', 'Day 1: calm\nDay 2: storm'],
    ];
    for (const [index, [method, result]] of answers.entries()) {
      const asked = await question(talk, index + 1);
      expect(asked).toMatchObject({ method, run_id: run, expires_at: null });
      expect((await talk.state()).requests).toMatchObject([{ request_id: asked.request_id }]);
      const accepted = await talk.ok('ui_response', { request_id: asked.request_id, result });
      expect(accepted).toMatchObject({ command: 'ui_response', request_id: asked.request_id });
    }
    expect(await talk.ended(run)).toBe('completed');
    expect(await results(talk)).toEqual([
      'The person chose: south',
      'The person said no.',
      'The person wrote: Argo',
      'The person wrote: Day 1: calm\nDay 2: storm',
    ]);
    expect((await talk.state()).requests).toEqual([]);
  });

  test('takes the first valid answer: a wrong one names result, a late one is already_resolved', async () => {
    const talk = await openTalk(daemon());
    const other = await daemon().raw();
    const run = await talk.prompt('ask me');
    const { request_id } = await question(talk, 1);
    for (const payload of [{ result: 'west' }, { result: 5 }, {}]) {
      const refused = await other.call('ui_response', { request_id, ...payload });
      expect(refused).toMatchObject({
        ok: false,
        error: { code: 'invalid_payload', message: expect.stringMatching(/^result/), details: { field: 'result' } },
      });
    }
    const replies = await Promise.all([
      talk.commands.call('ui_response', { request_id, result: 'north' }),
      other.call('ui_response', { request_id, result: 'south' }),
    ]);
    expect(replies.filter(({ ok }) => ok)).toHaveLength(1);
    expect(replies.find(({ ok }) => !ok)?.error?.message).toBe('already_resolved');
    await question(talk, 2);
    const won = replies[0]?.ok ? 'north' : 'south';
    expect(resolutions(talk)).toMatchObject([{ request_id, outcome: 'answered', result: won }]);
    await talk.ok('abort');
    expect(await talk.ended(run)).toBe('aborted');
    expect(await talk.refused('ui_response', { request_id: 'req_none', result: true })).toBe('already_resolved');
  });

  test('that is cancelled has no answer, and the run goes on', async () => {
    const talk = await openTalk(daemon());
    const run = await talk.prompt('ask me');
    for (let n = 1; n <= 4; n++) await talk.ok('ui_response', { request_id: (await question(talk, n)).request_id, cancelled: true });
    expect(await talk.ended(run)).toBe('completed');
    expect(new Set(await results(talk))).toEqual(new Set(['The person gave no answer.']));
  });

  test('is resolved by abort, and everyone is told', async () => {
    const talk = await openTalk(daemon());
    const run = await talk.prompt('ask me');
    const { request_id } = await question(talk, 1);
    await talk.ok('abort');
    expect(await talk.ended(run)).toBe('aborted');
    expect(resolutions(talk)).toMatchObject([{ request_id, by: 'abort', outcome: 'aborted' }]);
    expect(await talk.refused('ui_response', { request_id, result: 'north' })).toBe('already_resolved');
    expect(await results(talk)).toHaveLength(4);
  });

  test('is seen by whoever comes later, and an observer may not answer it', async () => {
    const talk = await openTalk(daemon());
    const run = await talk.prompt('ask me');
    const { request_id } = await question(talk, 1);
    const late = await daemon().raw();
    await late.call('hello', { role: 'observer' });
    const attached = await late.call('attach', { session_id: talk.session });
    expect((attached.payload.state as { requests: unknown }).requests).toMatchObject([{ request_id, method: 'select' }]);
    expect((await late.call('ui_response', { request_id, result: 'north' })).error?.message).toBe('read_only_client');
    await talk.ok('abort');
    await talk.ended(run);
  });

  test('with when_detached deny: denied with nobody there, waits with somebody who can show it', async () => {
    const alone = await openTalk(daemon(), undefined, { when_detached: 'deny' });
    expect(await alone.run('ask me')).toBe('completed');
    expect(resolutions(alone)).toHaveLength(4);
    for (const resolved of resolutions(alone)) expect(resolved).toMatchObject({ outcome: 'denied', result: null });

    const attended = await openTalk(daemon(), undefined, { when_detached: 'deny' });
    const person = await daemon().connect({ uiCapabilities: ['select', 'confirm'] });
    const stream = await person.subscribe({ sessionId: attended.session, clientId: person.hello().client_id });
    const run = await attended.prompt('ask me');
    const first = await question(attended, 1);
    expect(resolutions(attended)).toEqual([]);
    await attended.ok('ui_response', { request_id: first.request_id, result: 'north' });
    const second = await question(attended, 2);
    await attended.ok('ui_response', { request_id: second.request_id, result: true });
    // Nobody can show an input or an editor.
    expect(await attended.ended(run)).toBe('completed');
    expect(resolutions(attended).map(({ outcome }) => outcome)).toEqual(['answered', 'answered', 'denied', 'denied']);
    stream.close();
    person.close();
  });
});

describe('an approval', () => {
  test('is asked for with all that is needed to decide, and allowed', async () => {
    const talk = await openTalk(daemon());
    const run = await talk.prompt('echo hi with approval');
    const asked = await question(talk, 1);
    expect(asked).toMatchObject({
      method: 'select',
      params: { kind: 'approval', tool_name: 'echo', args: { text: 'hi', confirm: true }, sandboxed: false, digest: expect.any(String) },
    });
    expect(talk.told(run)).not.toContain('tool_execution_start');
    await talk.ok('ui_response', { request_id: asked.request_id, result: 'allow_once' });
    expect(await talk.ended(run)).toBe('completed');
    expect(await results(talk)).toEqual(['hi']);
    const told = talk.told(run);
    expect(told.indexOf('tool_execution_start')).toBeGreaterThan(told.indexOf('ui_resolved'));
  });

  test('denied ends the run as aborted; with a reason the model is told and goes on', async () => {
    const talk = await openTalk(daemon());
    const plain = await talk.prompt('echo hi with approval');
    await talk.ok('ui_response', { request_id: (await question(talk, 1)).request_id, result: 'deny' });
    expect(await talk.ended(plain)).toBe('aborted');
    expect((await results(talk)).at(-1)).toBe('Denied by the person.');
    const told = await talk.prompt('echo ho with approval');
    await talk.ok('ui_response', { request_id: (await question(talk, 2)).request_id, result: { value: 'deny', reason: 'too loud' } });
    expect(await talk.ended(told)).toBe('completed');
    expect((await results(talk)).at(-1)).toContain('too loud');
    expect((await talk.texts()).at(-1)).toContain('too loud');
    expect(await talk.refused('ui_response', { request_id: (await question(talk, 2)).request_id, result: 'allow_once' })).toBe(
      'already_resolved',
    );
  });
});

describe('after a kill -9', () => {
  async function restart(killed: TestDaemon, talk: Talk): Promise<Talk> {
    await killed.kill9();
    await killed.start();
    return openTalk(killed, talk.session);
  }

  test('a question waits on under the same id, and the run completes after the answers', async () => {
    await using killed = await startDaemon();
    let talk = await openTalk(killed);
    const run = await talk.prompt('ask me');
    const results: unknown[] = ['north', true, 'Argo', 'Day 1'];
    for (const [index, result] of results.entries()) {
      const before = await question(talk, index + 1);
      talk = await restart(killed, talk);
      const state = await talk.state();
      expect(state).toMatchObject({
        run_state: 'running',
        run_id: run,
        requests: [{ request_id: before.request_id }],
        queue: { paused: false },
      });
      await talk.ok('ui_response', { request_id: before.request_id, result });
    }
    expect(await talk.ended(run)).toBe('completed');
    expect(await talk.texts('tool_result')).toEqual([
      'The person chose: north',
      'The person said yes.',
      'The person wrote: Argo',
      'The person wrote: Day 1',
    ]);
    expect(talk.told(run).filter((type) => type === 'agent_start')).toHaveLength(1);
    expect(talk.told(run).filter((type) => type === 'ui_request')).toHaveLength(4);
  });

  test('that comes right after the answer, the run goes on with it all the same', async () => {
    await using killed = await startDaemon({ env: { BERTH_FAULT: 'tool.ending:1' } });
    const talk = await openTalk(killed);
    const run = await talk.prompt('ask me');
    const first = await question(talk, 1);
    // The daemon dies by itself between the answer and the result of the call.
    talk.commands.send({ id: 'a', type: 'ui_response', payload: { request_id: first.request_id, result: 'north' } });
    await talk.commands.ended();
    await killed.kill9();
    delete killed.env.BERTH_FAULT;
    await killed.start();
    const again = await openTalk(killed, talk.session);
    const second = await question(again, 2);
    expect(second).toMatchObject({ method: 'confirm', run_id: run });
    expect(await again.texts('tool_result')).toEqual(['The person chose: north']);
    await again.ok('abort');
    expect(await again.ended(run)).toBe('aborted');
  });

  test('an approval is asked on; a tool that had begun is not run again', async () => {
    await using killed = await startDaemon();
    let talk = await openTalk(killed);
    const run = await talk.prompt('echo one two three for 30 seconds with approval');
    const asked = await question(talk, 1);
    talk = await restart(killed, talk);
    await talk.ok('ui_response', { request_id: asked.request_id, result: 'allow_once' });
    await talk.until((event) => event.type === 'tool_execution_start' && event.payload.run_id === run);
    talk = await restart(killed, talk);
    expect(await talk.ended(run)).toBe('interrupted');
    expect((await talk.texts('tool_result'))[0]).toContain('may or may not');
    expect(talk.told(run).filter((type) => type === 'tool_execution_start')).toHaveLength(1);
    expect(await talk.state()).toMatchObject({ run_state: 'idle', queue: { paused: true } });
  });
});

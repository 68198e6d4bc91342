import { describe, expect, test } from 'vitest';
import { limits } from '../../src/protocol/limits.js';
import { startDaemon, type TestDaemon } from '../support/daemon.js';
import { sized } from '../support/fault-sizes.js';
import { seedHistory } from '../support/seed-store.js';
import { openTalk, type Talk } from '../support/talk.js';

async function restart(daemon: TestDaemon): Promise<void> {
  await daemon.kill9();
  await daemon.start();
}

async function queued(talk: Talk): Promise<string[]> {
  return (await talk.state()).queue.inputs.map(({ text }) => String(text));
}

describe('after a kill -9', () => {
  test('no session says it is running, what was said is kept, and the queue waits, paused', async () => {
    await using daemon = await startDaemon({ wps: 500 });
    const [speaking, working] = [await openTalk(daemon), await openTalk(daemon)];
    await speaking.prompt('stream 100000 words');
    await speaking.until((event) => event.type === 'message_update' && Number(event.payload.offset) > 200);
    await speaking.ok('follow_up', { text: 'say later' });
    await working.prompt('echo a b c for 30 seconds');
    await working.until((event) => event.type === 'tool_execution_start');
    await restart(daemon);
    const client = await daemon.raw();
    const { payload } = await client.call('list_sessions');
    expect((payload.sessions as { run_state: string }[]).map(({ run_state }) => run_state)).toEqual(['idle', 'idle']);
    for (const session of [speaking.session, working.session]) {
      const talk = await openTalk(daemon, session);
      expect(await talk.state()).toMatchObject({
        run_state: 'idle',
        run_id: '',
        queue: { paused: true },
        last_run: { outcome: 'interrupted' },
      });
      const told = talk.told();
      expect(told.slice(-3)).toEqual(['turn_end', 'queue_update', 'agent_end']);
      expect(told.filter((type) => type === 'agent_start')).toHaveLength(1);
      expect(told.filter((type) => type === 'agent_end')).toHaveLength(1);
    }
    const talk = await openTalk(daemon, speaking.session);
    expect((await talk.texts('assistant'))[0]).toMatch(/^word1 word2 /);
    expect(await queued(talk)).toEqual(['say later']);
    const tool = await openTalk(daemon, working.session);
    expect(await tool.messages()).toMatchObject([{ role: 'user' }, { role: 'assistant' }, { role: 'tool_result', is_error: true }]);
    expect(await tool.run('say on')).toBe('completed');
  });

  test('what was said is kept but for the last moment', async () => {
    await using daemon = await startDaemon({ wps: 1_000 });
    const talk = await openTalk(daemon);
    await talk.prompt('stream 100000 words');
    const heard: { atMs: number; units: number }[] = [];
    for (let units = 0; units < 6_000;) {
      const line = await talk.events.next();
      if (line.type !== 'message_update') continue;
      units = Number(line.payload.offset) + String(line.payload.delta).length;
      heard.push({ atMs: performance.now(), units });
    }
    const killedMs = performance.now();
    await restart(daemon);
    const kept = (await (await openTalk(daemon, talk.session)).texts('assistant'))[0] ?? '';
    // What was heard longer ago than two checkpoints is in the store; the rest may be.
    const safe = heard.findLast(({ atMs }) => atMs < killedMs - 2 * limits.checkpointMs)?.units ?? 0;
    expect(safe).toBeGreaterThan(0);
    expect(kept.length).toBeGreaterThanOrEqual(safe);
  });

  test('during an abort the run is aborted, not interrupted, and nothing is paused', async () => {
    // new_session, prompt, the response begins, it ends, the tool begins, follow_up, abort: the daemon dies when that is committed.
    await using daemon = await startDaemon({ env: { BERTH_FAULT: 'commit.done:7' } });
    const talk = await openTalk(daemon);
    const run = await talk.prompt('echo a b c for 60 seconds');
    await talk.until((event) => event.type === 'tool_execution_start');
    await talk.ok('follow_up', { text: 'dropped' });
    talk.commands.send({ id: 'a', type: 'abort', payload: { session_id: talk.session } });
    await talk.commands.ended();
    expect(talk.commands.lines.map(({ id }) => id)).not.toContain('a');
    delete daemon.env.BERTH_FAULT;
    await restart(daemon);
    const again = await openTalk(daemon, talk.session);
    expect(await again.ended(run)).toBe('aborted');
    expect(await again.state()).toMatchObject({ run_state: 'idle', queue: { inputs: [], paused: false } });
    expect(again.told(run).filter((type) => type === 'agent_end')).toHaveLength(1);
  });

  test(
    'full queues are kept in order, and after resume_queue everything is run once, within the bound of runs at once',
    async () => {
      const sessions = sized({ short: 12, long: 12, full: 50 });
      const each = sized({ short: 3, long: 5, full: 10 });
      const atOnce = 4;
      await using daemon = await startDaemon({ wps: 100, config: { limits: { runs_at_once: atOnce } } });
      // It takes so long to say that the runs which may work at once meet.
      const textOf = (i: number, n: number): string => `say ${i}.${n} and nothing but what was asked of me`;
      const talks: Talk[] = [];
      for (let i = 0; i < sessions; i++) {
        const talk = await openTalk(daemon);
        talks.push(talk);
        await talk.prompt('echo a b for 60 seconds');
        for (let n = 0; n < each; n++) await talk.ok('follow_up', { text: textOf(i, n) });
      }
      await restart(daemon);
      const client = await daemon.raw();
      const watch = await daemon.rawEvents();
      watch.send({ id: 'all', type: 'subscribe', payload: { session_id: '*' } });
      await watch.until(({ id }) => id === 'all');
      const expected = (i: number): string[] => Array.from({ length: each }, (_, n) => textOf(i, n));
      for (const [i, { session }] of talks.entries()) {
        const { payload } = await client.call('get_queue', { session_id: session });
        expect(payload.paused).toBe(true);
        expect((payload.inputs as { text: string }[]).map(({ text }) => text)).toEqual(expected(i));
      }
      await Promise.all(talks.map(({ session }) => client.call('resume_queue', { session_id: session })));
      let ended = 0;
      let speaking = 0;
      let most = 0;
      for (let seen = 0; ended < sessions;) {
        const line = watch.lines[seen++];
        if (!line) {
          const have = watch.lines.length;
          await watch.until(() => watch.lines.length > have);
          seen--;
          continue;
        }
        if (line.payload.role === 'assistant' && line.type === 'message_start') most = Math.max(most, ++speaking);
        if (line.payload.role === 'assistant' && line.type === 'message_end') speaking--;
        if (line.type === 'agent_end') ended++;
      }
      expect(most).toBeGreaterThan(1);
      expect(most).toBeLessThanOrEqual(atOnce);
      for (const [i, { session }] of talks.entries()) {
        const talk = await openTalk(daemon, session);
        expect((await talk.texts('user')).slice(1)).toEqual(expected(i));
        expect(await talk.state()).toMatchObject({ run_state: 'idle', queue: { inputs: [], paused: false } });
      }
    },
    sized({ short: 90_000, long: 90_000, full: 300_000 }),
  );
});

describe('recovery: continue', () => {
  test('goes on by itself at the next start, three times in a row at most', async () => {
    await using daemon = await startDaemon({ wps: 3 });
    const talk = await openTalk(daemon, undefined, { recovery: 'continue' });
    const runs = [await talk.prompt('stream 1000 words')];
    await talk.until((event) => event.type === 'message_update');
    for (let attempt = 1; attempt <= 3; attempt++) {
      await restart(daemon);
      const again = await openTalk(daemon, talk.session);
      const state = await again.state();
      expect(state).toMatchObject({ run_state: 'running', queue: { paused: false } });
      runs.push(String(state.run_id));
      // It is really at work, not only said to be.
      await again.until((event) => event.type === 'message_update' && event.payload.run_id === state.run_id);
    }
    await restart(daemon);
    const after = await openTalk(daemon, talk.session);
    expect(await after.state()).toMatchObject({
      run_state: 'idle',
      queue: { paused: true },
      last_run: { run_id: runs[3], outcome: 'interrupted' },
    });
    const listed = (await after.ok('list_runs')).runs as { run_id: string; resumes: string | null; outcome: string }[];
    expect(listed.map(({ run_id, resumes, outcome }) => [run_id, resumes, outcome])).toEqual(
      runs.map((run, i) => [run, runs[i - 1] ?? null, 'interrupted']).toReversed(),
    );
    // A person may go on.
    const { run_id: resumed } = await after.ok('resume_run', { run_id: runs[3], action: 'continue' });
    await after.until((event) => event.type === 'message_update' && event.payload.run_id === resumed);
    await after.ok('abort');
    expect(await after.ended(resumed)).toBe('aborted');
    await restart(daemon);
    expect((await (await openTalk(daemon, talk.session)).state()).run_state).toBe('idle');
  });

  test('never repeats a tool silently: the call that was cut short has a result that says so', async () => {
    await using daemon = await startDaemon();
    const talk = await openTalk(daemon, undefined, { recovery: 'continue' });
    await talk.prompt('echo a b c for 30 seconds');
    await talk.until((event) => event.type === 'tool_execution_start');
    await restart(daemon);
    const again = await openTalk(daemon, talk.session);
    await again.until((event) => event.type === 'agent_end' && event.payload.outcome === 'completed');
    expect(again.told().filter((type) => type === 'tool_execution_start')).toHaveLength(1);
    expect((await again.texts('tool_result'))[0]).toContain('may or may not');
    expect((await again.texts()).at(-1)).toContain('echo failed');
  });
});

describe('SIGTERM', () => {
  test('in mid-run is interrupted, never aborted: exit 0 within 5 s, goodbye, and the queue is kept, paused', async () => {
    await using daemon = await startDaemon({ wps: 200 });
    const [speaking, working, asking] = [await openTalk(daemon), await openTalk(daemon), await openTalk(daemon)];
    const runs = [
      await speaking.prompt('stream 100000 words'),
      await working.prompt('echo a b c for 60 seconds'),
      await asking.prompt('ask me'),
    ];
    await speaking.until((event) => event.type === 'message_update');
    await working.until((event) => event.type === 'tool_execution_start');
    await asking.until((event) => event.type === 'ui_request');
    await speaking.ok('follow_up', { text: 'say later' });
    const waiting = working.commands.call('prompt', { session_id: working.session, text: 'say then', if_busy: 'follow_up' });
    const from = performance.now();
    expect(await daemon.terminate()).toBe(0);
    expect(performance.now() - from).toBeLessThan(5_000);
    for (const talk of [speaking, working]) {
      expect(talk.events.lines.at(-1)).toMatchObject({ type: 'goodbye', payload: { reason: 'shutting_down' } });
      expect(talk.events.lines.findLast(({ type }) => type === 'agent_end')).toMatchObject({ payload: { outcome: 'interrupted' } });
    }
    expect(asking.told()).not.toContain('agent_end');
    expect(await waiting).toMatchObject({ ok: false, error: { code: 'command_rejected', message: 'aborted' } });
    await daemon.start();
    const [again, tool, question] = [
      await openTalk(daemon, speaking.session),
      await openTalk(daemon, working.session),
      await openTalk(daemon, asking.session),
    ];
    expect(await queued(again)).toEqual(['say later']);
    expect(await queued(tool)).toEqual(['say then']);
    for (const talk of [again, tool]) expect(await talk.state()).toMatchObject({ run_state: 'idle', queue: { paused: true } });
    // Nothing of the run that only waited for a person was lost.
    expect(await question.state()).toMatchObject({ run_state: 'running', run_id: runs[2], queue: { paused: false } });
    const { run_id } = await again.ok('resume_queue');
    expect(await again.ended(run_id)).toBe('completed');
    expect((await again.texts()).slice(-2)).toEqual(['say later', 'later']);
  });

  test('in the middle of sweeping a big session is a clean stop', async () => {
    await using daemon = await startDaemon();
    const { session } = await openTalk(daemon);
    await daemon.terminate();
    seedHistory(daemon, session, 20_000, 'x'.repeat(1_000));
    await daemon.start();
    const talk = await openTalk(daemon, session);
    await talk.ok('delete_session');
    expect(await daemon.terminate()).toBe(0);
    await daemon.start();
    expect((await (await daemon.raw()).call('ping')).ok).toBe(true);
  });
});

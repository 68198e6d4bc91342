import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { addRule } from '../../src/core/permissions.js';
import { startDaemon, type TestDaemon } from '../support/daemon.js';
import { createTestEngine } from '../support/engine.js';
import { dialBeforePrompt, expectWholeRun, saidIn } from '../support/first-protocol.js';
import type { RawLine } from '../support/raw-client.js';
import { openTalk } from '../support/talk.js';
import { isEvent, listenTo } from '../support/wire.js';

const status = { tool: 'bash', command: 'git status', action: 'allow' } as const;
const shared = new Set(['rule_update', 'trust_update', 'config_update']);

function toldIn(lines: readonly RawLine[]): RawLine[] {
  return lines.filter(({ type }) => shared.has(type));
}

function writeOwnConfig(daemon: TestDaemon): void {
  mkdirSync(join(daemon.workdir, '.berth'));
  writeFileSync(join(daemon.workdir, '.berth', 'config.json'), JSON.stringify({ permissions: { rules: [status] } }));
}

describe('what is not of one session', () => {
  test('is heard by who listens to all sessions, in order, and again from a cursor', async () => {
    await using daemon = await startDaemon();
    writeOwnConfig(daemon);
    const talk = await openTalk(daemon);
    const all = await listenTo(daemon, { session_id: '*' });
    const added = await talk.ok('add_permission', { rule: status, scope: 'workspace' });
    await talk.ok('add_permission', { rule: status, scope: 'workspace' });
    const { workspace, digest } = await talk.ok('set_trust', { trusted: false });
    writeFileSync(
      join(daemon.paths.configDir, 'config.json'),
      JSON.stringify({ permissions: { mode: 'full' }, limits: { runs_at_once: 3 } }),
    );
    await talk.ok('reload_config');
    await talk.ok('remove_permission', { permission_id: added.permission_id });
    await all.until(isEvent('rule_update', { op: 'removed' }));
    const by = expect.any(String) as string;
    const rule = { session_id: '', permission_id: added.permission_id, workspace, rule: status, by };
    const expected = [
      { type: 'rule_update', payload: { ...rule, op: 'added' } },
      { type: 'trust_update', payload: { session_id: '', workspace, digest, trusted: false, by } },
      {
        type: 'config_update',
        payload: { session_id: '', changed: ['permissions.mode', 'limits.runs_at_once'], needs_restart: ['limits.runs_at_once'] },
      },
      { type: 'rule_update', payload: { ...rule, op: 'removed' } },
    ];
    const told = toldIn(all.lines);
    expect(told.map(({ type, payload }) => ({ type, payload }))).toEqual(expected);
    await daemon.kill9();
    await daemon.start();
    const again = await listenTo(daemon, { session_id: '*', after: (told[0]?.seq ?? 0) - 1 });
    await again.until(isEvent('rule_update', { op: 'removed' }));
    expect(toldIn(again.lines)).toEqual(told);
  });

  test('is not sent to who listens to one session; a rule of that session is', async () => {
    await using daemon = await startDaemon();
    const [talk, other] = [await openTalk(daemon), await openTalk(daemon)];
    await talk.ok('add_permission', { rule: status, scope: 'everywhere' });
    await talk.ok('add_permission', { rule: status, scope: 'workspace' });
    const own = await talk.ok('add_permission', { rule: status, scope: 'session' });
    await talk.ok('remove_permission', { permission_id: own.permission_id });
    await Promise.all([talk.run('say done'), other.run('say done')]);
    const heard = toldIn(talk.events.lines).map(({ type, payload }) => [type, payload.session_id, (payload as { op?: string }).op]);
    expect(heard).toEqual([
      ['rule_update', talk.session, 'added'],
      ['rule_update', talk.session, 'removed'],
    ]);
    expect(toldIn(other.events.lines)).toEqual([]);
  });

  test('does not confuse a client of the first protocol', async () => {
    await using daemon = await startDaemon();
    const talk = await openTalk(daemon);
    const silent = await daemon.rawEvents();
    await talk.ok('add_permission', { rule: status, scope: 'everywhere' });
    const { runId, followed, trace } = await dialBeforePrompt(daemon, 'say ahoy');
    expect(followed).toBe(runId);
    expectWholeRun(trace, runId);
    expect(saidIn(trace, runId)).toBe('ahoy');
    await silent.until(isEvent('agent_end', { run_id: runId }));
    expectWholeRun(silent.lines, runId);
  });

  test('needs no session to be there', async () => {
    await using daemon = await startDaemon();
    const all = await listenTo(daemon, { session_id: '*' });
    const client = await daemon.raw();
    const reply = await client.call('add_permission', { rule: status, scope: 'everywhere' });
    const event = await all.until(isEvent('rule_update'));
    expect(reply).toMatchObject({ ok: true, seq: event.seq });
  });
});

test('that the daemon takes no new runs is told, once', async () => {
  await using daemon = await startDaemon();
  const talk = await openTalk(daemon);
  const all = await listenTo(daemon, { session_id: '*' });
  await talk.ok('drain');
  await all.until(isEvent('daemon_update', { session_id: '', state: 'draining' }));
  expect(await talk.refused('prompt', { text: 'say late' })).toBe('shutting_down');
  await talk.ok('drain');
  await talk.ok('add_permission', { rule: status, scope: 'everywhere' });
  await all.until(isEvent('rule_update'));
  expect(all.lines.filter(({ type }) => type === 'daemon_update')).toHaveLength(1);
});

test('a rule and the event that tells of it are one commit: a fault in it leaves neither', async () => {
  let fails = false;
  await using berth = createTestEngine({
    fault(point) {
      if (fails && point === 'commit.inside') throw new Error('killed');
    },
  });
  const add = (command: string) =>
    berth.engine.commit.decideShared(() =>
      addRule({ workspace: null, sessionId: null }, { ...status, command }, 'me', berth.store.permissions),
    );
  fails = true;
  expect(() => add('git log')).toThrow('killed');
  expect([berth.store.permissions.count(), berth.store.log.head()]).toEqual([0, 0]);
  fails = false;
  expect(add('git diff')).toMatchObject({ ok: true, seq: 1, reply: 1 });
  expect(berth.store.permissions.all().map(({ rule }) => rule.command)).toEqual(['git diff']);
});

test('the number of a rule that was removed is not given again', async () => {
  await using daemon = await startDaemon();
  const talk = await openTalk(daemon);
  const first = await talk.ok('add_permission', { rule: status });
  await talk.ok('remove_permission', { permission_id: first.permission_id });
  const second = await talk.ok('add_permission', { rule: status });
  expect(Number(second.permission_id)).toBe(Number(first.permission_id) + 1);
});

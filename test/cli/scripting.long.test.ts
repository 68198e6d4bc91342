import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test, vi } from 'vitest';
import { missing } from '../needs.js';
import { shareDaemon } from '../support/shared-daemon.js';
import { makeHome, openPlace, parseLines, runCommand, runJsonLine, runOk, startCommand, untilHeard } from './run-cli.js';
import { openScreen } from './screen.js';

vi.setConfig({ testTimeout: 90_000 });

const shared = shareDaemon();

test('ls --watch waits for a daemon that was stopped, and what it says then is a change', async () => {
  await using home = makeHome();
  await runOk(home, ['new', '--title', 'kept']);
  await using watch = startCommand(home, ['ls', '--watch', '--json']);
  await watch.until((text) => text.includes('"kept"'));
  await runOk(home, ['daemon', 'stop']);
  await watch.untilError((text) => text.includes('{"notice":{"message":"lost connection…"}}\n'));
  await runOk(home, ['new', '--title', 'later']);
  await watch.until((text) => text.includes('"later"'));
  expect(parseLines(watch.stdout()).map(({ change, title }) => ({ change, title }))).toEqual([
    { change: 'added', title: 'kept' },
    { change: 'added', title: 'later' },
  ]);
});

test('wait outlives a daemon that is killed, and waits for what it did', async () => {
  await using home = makeHome({ BERTH_OFFLINE_WPS: '300' });
  await runOk(home, ['send', 'stream 90000 words']);
  await using waits = startCommand(home, ['wait', '--until', 'fail']);
  const { pid } = await runJsonLine(home, ['daemon', 'status']);
  await untilHeard(home, (await runJsonLine(home, ['state'])).session_id);
  process.kill(pid, 'SIGKILL');
  expect(await waits.finished()).toMatchObject({ code: 0, stdout: 'interrupted: the daemon stopped while it ran\n' });
});

test('a text that was kept for a daemon is not taken by who only looks', async () => {
  await using home = makeHome();
  const session = (await runOk(home, ['new'])).trim();
  await using writer = startCommand(home, ['attach', session]);
  await writer.until((text) => text.includes('offline/guide'));
  await runOk(home, ['daemon', 'stop']);
  writer.type('say kept\n');
  await writer.until((text) => text.includes('[kept]'));
  writer.child.kill('SIGKILL');
  await writer.finished();
  const outbox = join(home.paths.stateDir, 'outbox');
  const kept = readdirSync(outbox);
  expect(kept).toHaveLength(1);
  expect(await runCommand(home, ['attach', session, '--observe'])).toMatchObject({ code: 0, stderr: '' });
  expect(await runOk(home, ['wait', session])).toBe('idle: there was no run yet\n');
  expect(readdirSync(outbox)).toEqual(kept);
  expect(await runOk(home, ['attach', session])).toContain('> say kept\nkept\n');
});

describe.skipIf(missing('tmux'))('on a terminal (needs tmux)', () => {
  test('sessions that run, ask and failed are marked, nothing is written while nothing changes, and leaving gives the screen back', async () => {
    await using daemon = openPlace(shared());
    for (const [title, text] of [
      ['broken', 'fail'],
      ['busy', 'echo a b c for 300 seconds'],
      ['unsure', 'echo this with approval'],
    ] as const) {
      await runOk(daemon, ['new', '--title', title]);
      await runOk(daemon, ['send', title, text]);
    }
    await using screen = await openScreen(daemon, ['ls', '--watch']);
    const text = await screen.until((seen) => seen.startsWith('3 sessions, 1 running, 1 asking you, 1 failed'));
    expect(text).toMatch(/\n\? \w+ +asks you +\d\d:\d\d:\d\d +\d+ +unsure /);
    expect(text).toMatch(/\n● \w+ +running +\d\d:\d\d:\d\d +\d+ +busy /);
    expect(text).toMatch(/\n✗ \w+ +failed +\d\d:\d\d:\d\d +\d+ +broken /);
    const written = await screen.record();
    await runOk(daemon, ['rename', 'busy', 'renamed']);
    await screen.until((seen) => seen.includes(' renamed '));
    expect(written().split('\u001b[?2026h')).toHaveLength(2);
    await runOk(daemon, ['abort', 'renamed']);
    await screen.until((seen) => seen.startsWith('3 sessions, 1 asking you, 1 failed'));
    await screen.type('q');
    await screen.until((seen) => !seen.includes('sessions'));
    expect((await runJsonLine(daemon, ['state', 'renamed'])).run_state).toBe('idle');
  });
});

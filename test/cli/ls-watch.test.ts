import { describe, expect, test, vi } from 'vitest';
import { missing } from '../needs.js';
import { shareDaemon } from '../support/shared-daemon.js';
import { makeHome, openPlace, runCommand, runJsonLine, runOk, startCommand, type JsonLine } from './run-cli.js';
import { openScreen } from './screen.js';

vi.setConfig({ testTimeout: 90_000 });

const shared = shareDaemon();

function lines(printed: string): JsonLine[] {
  return printed
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as JsonLine);
}

test('on a pipe each change of a session is a line of JSON; without --json it is refused with what to do', async () => {
  await using daemon = openPlace(shared());
  expect(await runCommand(daemon, ['ls', '--watch'])).toMatchObject({ code: 64, stderr: expect.stringContaining('use --watch --json') });
  const first = (await runOk(daemon, ['new', '--title', 'first'])).trim();
  await using watch = startCommand(daemon, ['ls', '--watch', '--json']);
  await watch.until((text) => text.includes('"added"'));
  const second = (await runOk(daemon, ['new', '--title', 'second'])).trim();
  await watch.until((text) => text.split('"added"').length === 3);
  await runOk(daemon, ['send', 'second', 'echo this with approval']);
  await watch.until((text) => text.includes('"asks":true'));
  await runOk(daemon, ['rm', 'second', '--yes']);
  const seen = lines(await watch.until((text) => text.includes('"removed"')));
  expect(seen.slice(0, 2)).toMatchObject([
    { change: 'added', session_id: first, title: 'first', asks: false },
    { change: 'added', session_id: second, title: 'second', asks: false },
  ]);
  expect(seen.filter(({ change }) => change === 'changed').every(({ session_id }) => session_id === second)).toBe(true);
  expect(seen.at(-1)).toEqual({ change: 'removed', session_id: second });
  watch.child.kill('SIGINT');
  expect(await watch.finished()).toMatchObject({ code: 0, stderr: '' });
});

test('a daemon that was stopped is waited for, and what it says then is a change', async () => {
  await using home = makeHome();
  await runOk(home, ['new', '--title', 'kept']);
  await using watch = startCommand(home, ['ls', '--watch', '--json']);
  await watch.until((text) => text.includes('"kept"'));
  await runOk(home, ['daemon', 'stop']);
  await watch.untilError((text) => text.includes('{"notice":{"message":"lost connection…"}}\n'));
  await runOk(home, ['new', '--title', 'later']);
  await watch.until((text) => text.includes('"later"'));
  expect(lines(watch.stdout()).map(({ change, title }) => ({ change, title }))).toEqual([
    { change: 'added', title: 'kept' },
    { change: 'added', title: 'later' },
  ]);
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

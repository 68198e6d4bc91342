import { expect, test, vi } from 'vitest';
import { shareDaemon } from '../support/shared-daemon.js';
import { openPlace, parseLines, runCommand, runOk, startCommand } from './run-cli.js';

vi.setConfig({ testTimeout: 90_000 });

const shared = shareDaemon();

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
  const seen = parseLines(await watch.until((text) => text.includes('"removed"')));
  expect(seen.slice(0, 2)).toMatchObject([
    { change: 'added', session_id: first, title: 'first', asks: false },
    { change: 'added', session_id: second, title: 'second', asks: false },
  ]);
  expect(seen.filter(({ change }) => change === 'changed').every(({ session_id }) => session_id === second)).toBe(true);
  expect(seen.at(-1)).toEqual({ change: 'removed', session_id: second });
  watch.child.kill('SIGINT');
  expect(await watch.finished()).toMatchObject({ code: 0, stderr: '' });
});

import { expect, test, vi } from 'vitest';
import { startDaemon } from '../support/daemon.js';
import { runJson, runOk, startCommand } from './run-cli.js';

vi.setConfig({ testTimeout: 90_000 });

test('a text typed while the daemon is away outlives the terminal, and the next attach sends it once', async () => {
  await using daemon = await startDaemon();
  const id = (await runOk(daemon, ['new'])).trim();
  await using first = startCommand(daemon, ['attach', id]);
  first.type('say hello\n');
  await first.until((text) => text.includes('\nhello\n'));
  await daemon.terminate();
  await first.until((text) => text.includes('[daemon] lost connection'));
  first.type('say after all\n');
  await first.until((text) =>
    text.includes('[kept] the daemon is away; it is sent when that is over, here or by the next berth attach: say after all\n'),
  );
  first.child.kill('SIGKILL');
  await first.finished();
  await daemon.start();
  await using second = startCommand(daemon, ['attach', id]);
  await second.until((text) => /\[sent\] say after all\n[^]*> say after all\nafter all\n/.test(text));
  second.type('/quit\n');
  expect(await second.finished()).toMatchObject({ code: 0, stdout: expect.not.stringContaining('not sent yet') });
  const texts = (await runJson(daemon, ['log', id])).filter(({ role }) => role === 'user').map(({ text }) => text);
  expect(texts).toEqual(['say hello', 'say after all']);
  expect((await runOk(daemon, ['attach', id])).includes('[sent]')).toBe(false);
});

test('a text that is kept holds nobody up: what is typed after it is done, and leaving says that it waits', async () => {
  await using daemon = await startDaemon();
  const id = (await runOk(daemon, ['new'])).trim();
  await using view = startCommand(daemon, ['attach', id]);
  view.type('say hello\n');
  // It hears of the goodbye from here on, and does not start a daemon that somebody stopped.
  await view.until((text) => text.includes('\nhello\n'));
  await daemon.terminate();
  await view.until((text) => text.includes('[daemon] lost connection'));
  view.type('say one\nsay two\n/quit\n');
  const { stdout, code } = await view.finished();
  expect(code).toBe(0);
  expect(stdout).toMatch(
    /\[kept\][^\n]*: say one\n[^]*\[kept\][^\n]*: say two\n[^]*\[detached\] 2 not sent yet: kept, and sent by the next berth attach\. /,
  );
  await daemon.start();
  await using next = startCommand(daemon, ['attach', id]);
  await next.until((text) => text.includes('\ntwo\n'));
  expect(next.stdout()).toMatch(/\[sent\] say one\n[^]*\[sent\] say two\n/);
});

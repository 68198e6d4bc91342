import { expect, test, vi } from 'vitest';
import { shareDaemon } from '../support/shared-daemon.js';
import { openPlace, runCommand, runJsonLine, runOk, startCommand } from './run-cli.js';

vi.setConfig({ testTimeout: 90_000 });

const shared = shareDaemon();

test('who only looks sees everything, and is told why nothing that is typed is sent or answered', async () => {
  await using daemon = openPlace(shared());
  const session = (await runOk(daemon, ['new', '--title', 'watched'])).trim();
  await using observer = startCommand(daemon, ['attach', 'watched', '--observe']);
  await observer.until((text) => text.includes('watched'));
  await runOk(daemon, ['send', 'watched', 'echo this with approval']);
  const id = /berth answer (\w+) answers it\n/.exec(await observer.until((text) => text.includes(' answers it\n')))?.[1] ?? '';
  for (const line of ['a', 'hello', '/steer now', '/abort', '/mode full', '/help', '/queue']) observer.type(`${line}\n`);
  const seen = await observer.until((text) => text.includes('[queue] nothing waits'));
  for (const line of ['a', 'hello', '/steer now', '/abort', '/mode full']) {
    expect(seen).toContain(
      `[not done] this view only looks, because of --observe; berth attach without it sends and answers; typed: ${line}\n`,
    );
  }
  // What is not done here is not offered.
  expect(seen).toContain('  /show          all of the question');
  for (const refused of ['/steer TEXT', '/abort ', '/skip', '/compact', '//TEXT']) expect(seen).not.toContain(refused);
  const { clients, approval_mode } = await runJsonLine(daemon, ['state', session]);
  expect({ clients, approval_mode }).toMatchObject({ clients: [{ role: 'observer', subscribed: true }], approval_mode: 'ask' });
  await runOk(daemon, ['answer', id, 'a']);
  await observer.until((text) => text.includes('[run] completed'));
  observer.endInput();
  expect(await observer.finished()).toMatchObject({ code: 1, stderr: '' });
  expect(await runCommand(daemon, ['attach', 'watched', '--observe'])).toMatchObject({ code: 0, stderr: '' });
});

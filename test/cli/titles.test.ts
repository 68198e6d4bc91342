import { expect, test, vi } from 'vitest';
import { startDaemon } from '../support/daemon.js';
import { runCommand, runOk } from './run-cli.js';

vi.setConfig({ testTimeout: 90_000 });

test('a title that would be taken for the id of a session is refused', async () => {
  await using daemon = await startDaemon();
  const first = (await runOk(daemon, ['new'])).trim();
  const second = (await runOk(daemon, ['new'])).trim();
  expect(await runCommand(daemon, ['rename', second, first])).toMatchObject({
    code: 64,
    stderr: expect.stringContaining('looks like the id'),
  });
  expect(await runCommand(daemon, ['rename', second, first.slice(4, 14)])).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('is the beginning of the id of session'),
  });
  expect(await runCommand(daemon, ['new', '--title', first.slice(4)])).toMatchObject({ code: 1 });
  await runOk(daemon, ['rename', second, 'ordinary words']);
});

test('a list calls a session by its first prompt, whatever is said later, and shows the newest beside it', async () => {
  await using daemon = await startDaemon();
  await runOk(daemon, ['send', 'say first words', '--wait']);
  expect(await runOk(daemon, ['ls'])).toMatch(/^ID .* TITLE +DIRECTORY +LAST PROMPT\n\w+ .* say first words +\/\S+\n$/);
  await runOk(daemon, ['send', 'say later words', '--wait']);
  expect(await runOk(daemon, ['ls'])).toMatch(/\n\w+ .* say first words +\/\S+ +say later words\n$/);
});

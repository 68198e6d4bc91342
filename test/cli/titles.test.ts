import { expect, test, vi } from 'vitest';
import { startDaemon } from '../support/daemon.js';
import { runCommand, runJson, runJsonLine, runOk } from './run-cli.js';

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

test('what a list calls a session names it, also by its beginning, and who could be meant is said', async () => {
  await using daemon = await startDaemon();
  for (const text of ['say fix the\nbuild of the old harbour', 'say fix the docs']) await runOk(daemon, ['run', text]);
  const [docs, build] = (await runJson(daemon, ['ls'])).map(({ session_id }) => session_id);
  for (const name of ['say fix the build of the old harbour', 'say fix the b', 'say fix the build of…']) {
    expect(await runJsonLine(daemon, ['state', name])).toMatchObject({ session_id: build });
  }
  const unclear = await runCommand(daemon, ['attach', 'say fix']);
  expect(unclear).toMatchObject({ code: 1, stderr: expect.stringContaining('say fix could be 2 sessions: ') });
  for (const named of [`${docs} (say fix the docs)`, `${build} (say fix the build of the old harbour)`])
    expect(unclear.stderr).toContain(named);
  // A whole title comes before what only begins so, and a text is no name for having been said before.
  await runOk(daemon, ['rename', docs!, 'say fix']);
  expect(await runJsonLine(daemon, ['state', 'say fix'])).toMatchObject({ session_id: docs });
  expect(await runJsonLine(daemon, ['send', 'say fix the build of the old harbour'])).toMatchObject({ run_id: expect.any(String) });
  expect(await runCommand(daemon, ['attach', 'sa'])).toMatchObject({ code: 1, stderr: 'berth: there is no session sa; see berth ls\n' });
});

test('a list calls a session by its first prompt, whatever is said later, and shows the newest beside it', async () => {
  await using daemon = await startDaemon();
  await runOk(daemon, ['send', 'say first words', '--wait']);
  expect(await runOk(daemon, ['ls'])).toMatch(/^ID .* TITLE +DIRECTORY +LAST PROMPT\n\w+ .* say first words +\/\S+\n$/);
  await runOk(daemon, ['send', 'say later words', '--wait']);
  expect(await runOk(daemon, ['ls'])).toMatch(/\n\w+ .* say first words +\/\S+ +say later words\n$/);
});

import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { missing } from '../needs.js';
import { shareDaemon } from '../support/shared-daemon.js';
import { openPlace, runCommand, runJson, runJsonLine, runOk, type Place } from './run-cli.js';
import { openScreen } from './screen.js';

vi.setConfig({ testTimeout: 90_000 });

const shared = shareDaemon();

async function idOf(place: Place, name: string): Promise<string> {
  return (await runJsonLine(place, ['state', name])).session_id;
}

/** Runs a text in a new session, and returns its id. */
async function runOnce(place: Place, ...args: string[]): Promise<string> {
  const [accepted] = await runJson(place, ['run', ...args]);
  if (!accepted) throw new Error('nothing was accepted');
  return accepted.session_id;
}

test('the session of berth run is not the newest of its directory until somebody goes on with it', async () => {
  await using daemon = openPlace(shared());
  const { session_id: own } = await runJsonLine(daemon, ['new']);
  const once = await runOnce(daemon, 'say once');
  expect(await idOf(daemon, '.')).toBe(own);
  await runOk(daemon, ['send', 'say here']);
  await runOk(daemon, [], { input: 'say piped' });
  expect(await runOk(daemon, ['log', '.'])).toContain('piped');
  // Changing how it is run says nothing about keeping it.
  await runOk(daemon, ['mode', once, 'read_only']);
  expect(await idOf(daemon, '.')).toBe(own);
  expect(await runOk(daemon, ['run', '--session', once, 'say twice'])).toBe('twice\n');
  expect(await idOf(daemon, '.')).toBe(once);
});

test('a title makes it an ordinary one, given with the text or later', async () => {
  await using daemon = openPlace(shared());
  await runJsonLine(daemon, ['new']);
  const titled = await runOnce(daemon, '--title', 'harbour', 'say one');
  expect(await idOf(daemon, '.')).toBe(titled);
  const renamed = await runOnce(daemon, 'say two');
  expect(await idOf(daemon, '.')).toBe(titled);
  await runOk(daemon, ['rename', renamed, 'quay']);
  expect(await idOf(daemon, '.')).toBe(renamed);
});

test('lists say which sessions are one-off, and a directory with no other says so', async () => {
  await using daemon = openPlace(shared());
  const cwd = join(daemon.workdir, 'alone');
  mkdirSync(cwd);
  const [accepted] = await runJson(daemon, ['run', 'say once'], { cwd });
  expect(await runOk(daemon, ['ls', '--here'], { cwd })).toMatch(/ one-off /);
  expect(await runJsonLine(daemon, ['ls', '--here', '--json'], { cwd })).toMatchObject({ one_off: true, run_state: 'idle' });
  expect(await runCommand(daemon, ['log', '.'], { cwd })).toMatchObject({
    stderr: expect.stringMatching(
      /^berth: there is no session of .*alone but those of berth run, which \. leaves aside; name one \(the newest is \w+\), or make one with berth new\n$/,
    ),
  });
  await runOk(daemon, ['send', 'say kept', '--wait'], { cwd });
  expect(await idOf(daemon, accepted?.session_id ?? '')).not.toBe((await runJsonLine(daemon, ['state', '.'], { cwd })).session_id);
});

test.skipIf(missing('tmux'))('a terminal is told how to go on with it (needs tmux)', async () => {
  await using daemon = openPlace(shared());
  await using screen = await openScreen(daemon, ['run', 'say ahoy']);
  const text = await screen.until((shown) => shown.includes('goes on with this session'));
  const [, name = ''] = /\[run\] berth run --session (\w+) "text" goes on with this session/.exec(text) ?? [];
  expect(await runOk(daemon, ['run', '--session', name, 'say again'])).toBe('again\n');
});

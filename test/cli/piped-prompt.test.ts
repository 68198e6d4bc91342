import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { startDaemon } from '../support/daemon.js';
import { makeHome, runCommand, runJson, runJsonLine, runOk, startCommand } from './run-cli.js';

vi.setConfig({ testTimeout: 90_000 });

test('a text that is piped into berth is sent to the session that it would open, and answered', async () => {
  await using home = makeHome();
  expect(await runCommand(home, [], { input: 'say ahoy\n' })).toMatchObject({ code: 0, stdout: 'ahoy\n', stderr: '' });
  expect(await runOk(home, [], { input: 'say two\nlines' })).toBe('two\nlines\n');
  const [session, ...others] = await runJson(home, ['ls']);
  expect(others).toEqual([]);
  expect(session).toMatchObject({ title: '', message_count: 4 });
  const failed = await runCommand(home, [], { input: 'fail' });
  expect(failed).toMatchObject({ code: 1, stderr: expect.stringMatching(/^berth: the run failed: .*; berth resume \w+ tries again\n$/) });
});

test('the session that shows around is never what . means', async () => {
  await using home = makeHome();
  expect(await runOk(home, [])).toContain('I am the offline guide');
  expect(await runJson(home, ['ls'])).toEqual([]);
  expect(await runCommand(home, ['attach', '.'])).toMatchObject({ code: 1, stderr: expect.stringContaining('there is no session of') });
});

test('npm start takes nothing from its input, which may never end', async () => {
  await using home = makeHome({ npm_lifecycle_event: 'start' });
  await using start = startCommand(home, []);
  expect(await start.finished()).toMatchObject({ code: 0, stdout: expect.stringContaining('I am the offline guide') });
});

test('in a subdirectory the session of the enclosing project is meant, and named', async () => {
  await using daemon = await startDaemon();
  const [repository, inside, apart] = ['repo', 'repo/a/b', 'apart/deep'].map((path) => join(daemon.workdir, path)) as [
    string,
    string,
    string,
  ];
  for (const dir of [join(repository, '.git'), inside, apart]) mkdirSync(dir, { recursive: true });
  const project = (await runOk(daemon, ['new', '--title', 'project'], { cwd: repository })).trim();
  const named = `project (${project.slice(4, 14)})`;
  const sent = await runCommand(daemon, ['send', 'say ahoy', '--wait'], { cwd: inside });
  expect(sent).toMatchObject({ code: 0, stdout: 'ahoy\n', stderr: expect.stringContaining(`no session; using ${named} of `) });
  expect(await runCommand(daemon, ['log'], { cwd: inside })).toMatchObject({ code: 0, stderr: expect.stringContaining(named) });
  // One of its own comes first, and the edge of a repository is not crossed.
  const own = (await runOk(daemon, ['new'], { cwd: inside })).trim();
  expect(await runJsonLine(daemon, ['send', 'say mine'], { cwd: inside })).toMatchObject({ session_id: own });
  const outer = (await runOk(daemon, ['new'])).trim();
  expect(await runJsonLine(daemon, ['send', 'say deep'], { cwd: apart })).toMatchObject({ session_id: outer });
  mkdirSync(join(daemon.workdir, 'apart', '.git'));
  expect((await runJsonLine(daemon, ['send', 'say new'], { cwd: apart })).session_id).not.toBe(outer);
});

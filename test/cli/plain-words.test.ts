import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { shareDaemon } from '../support/shared-daemon.js';
import { makeHome, openPlace, runCommand, runJson, runJsonLine, runOk } from './run-cli.js';

// Each command is a process of its own.
vi.setConfig({ testTimeout: 90_000 });

const shared = shareDaemon();

test('a speed of the guide that is no number is refused with the name of its variable', async () => {
  await using home = makeHome();
  const { code, stderr } = await runCommand(home, ['daemon', 'start'], { env: { BERTH_OFFLINE_WPS: 'x' } });
  expect(code).not.toBe(0);
  expect(stderr).toMatch(/BERTH_OFFLINE_WPS must be a number of words a second from 0, not "x"/);
});

test('a session without a text is not sent as one', async () => {
  await using daemon = openPlace(shared());
  const session = (await runOk(daemon, ['new'])).trim();
  const short = session.slice('ses_'.length, 'ses_'.length + 10);
  const { code, stdout, stderr } = await runCommand(daemon, ['send', short]);
  expect({ code, stdout }).toEqual({ code: 64, stdout: '' });
  expect(stderr).toContain(`${short} is a session; what should be sent to it? berth send ${short} "text"`);
  expect(await runOk(daemon, ['log', session])).toBe('No messages yet.\n');
});

test('a steer and a follow-up that wait say so', async () => {
  await using daemon = openPlace(shared());
  await runOk(daemon, ['send', 'echo a b c for 300 seconds']);
  expect(await runOk(daemon, ['send', '--follow-up', '.', 'later'])).toMatch(/\nqueued for when the run would otherwise end; watch it/);
  expect(await runOk(daemon, ['send', '--steer', '.', 'now'])).toMatch(/\nqueued for the next turn of the run in progress; watch it/);
  await runOk(daemon, ['abort']);
  expect(await runOk(daemon, ['send', '--steer', '.', 'say hello'])).not.toContain('queued');
});

test('a typed line that is not done is shown with the reason', async () => {
  await using daemon = openPlace(shared());
  await runOk(daemon, ['new']);
  const { stdout } = await runCommand(daemon, ['attach', '.'], { input: '/nonsense at all\n' });
  expect(stdout).toMatch(/\[not done\] there is no \/nonsense; .*; typed: \/nonsense at all\n/);
});

test('after an abandoned run nobody is advised to resume it', async () => {
  await using daemon = openPlace(shared());
  expect((await runCommand(daemon, ['send', 'fail', '--wait'])).code).toBe(1);
  expect(await runOk(daemon, ['state'])).toContain('berth resume');
  await runOk(daemon, ['resume', '--abandon']);
  expect(await runJsonLine(daemon, ['state'])).toMatchObject({ last_run: { outcome: 'failed', abandoned: true } });
  for (const args of [['state'], ['log'], ['attach', '.']]) {
    const shown = await runOk(daemon, args);
    expect(shown).toContain('failed');
    expect(shown).not.toContain('resume');
  }
});

test('a branch is called after its parent, or after what was first said there', async () => {
  await using daemon = openPlace(shared());
  await runOk(daemon, ['send', 'say one', '--wait']);
  await runOk(daemon, ['send', 'say two', '--wait']);
  const branch = (await runOk(daemon, ['branch', '.'])).trim();
  const rows = (await runJson(daemon, ['ls'])) as unknown as { session_id: string; title: string }[];
  expect(rows.find(({ session_id }) => session_id === branch)?.title).toBe('say one (branch)');
  expect(await runOk(daemon, ['ls'])).toContain('say one (branch)');
});

test('with --json, what is told beside the result is JSON as well', async () => {
  await using daemon = openPlace(shared());
  await runOk(daemon, ['send', 'say one', '--wait']);
  const cwd = join(daemon.workdir, 'sub');
  mkdirSync(join(daemon.workdir, '.git'));
  mkdirSync(cwd);
  const { code, stdout, stderr } = await runCommand(daemon, ['state', '--json'], { cwd });
  expect(code).toBe(0);
  expect(JSON.parse(stdout)).toMatchObject({ cwd: daemon.workdir });
  expect(JSON.parse(stderr)).toEqual({ notice: { message: expect.stringContaining('this directory has no session; using') } });
});

test('a call that was denied is told in the same words live and in the log', async () => {
  await using daemon = openPlace(shared());
  await runOk(daemon, ['send', 'echo this with approval']);
  const [question] = (await runJson(daemon, ['answer'])) as unknown as { request_id: string }[];
  await runOk(daemon, ['answer', question?.request_id ?? '', 'r', 'not', 'now']);
  await runOk(daemon, ['send', 'say done', '--wait']);
  const line = /^\[tool\] echo was skipped: .*$/m;
  const live = line.exec(await runOk(daemon, ['attach', '.', '--since', '0']))?.[0];
  expect(live).toMatch(/Denied/);
  expect(line.exec(await runOk(daemon, ['log']))?.[0]).toBe(live);
});

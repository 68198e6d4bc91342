import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test, vi } from 'vitest';
import { missing } from '../needs.js';
import { startDaemon, type TestDaemon } from '../support/daemon.js';
import { shareDaemon } from '../support/shared-daemon.js';
import { openPlace, openQuestion, poll, runCommand, runOk, startCommand } from './run-cli.js';

vi.setConfig({ testTimeout: 90_000 });

const shared = shareDaemon({ config: { sandbox: { enabled: false } } });

async function newSession(daemon: TestDaemon, title: string): Promise<string> {
  return (await runOk(daemon, ['new', '--title', title])).trim();
}

test('a change is approved by whoever sees it, and everybody hears by whom', async () => {
  await using daemon = openPlace(shared());
  const session = await newSession(daemon, 'harbour');
  await using watch = startCommand(daemon, ['attach', session, '--plain']);
  watch.type('write ahoy to notes.txt\n');
  const asked = await watch.until((text) => text.includes('with which the run goes on'));
  expect(asked).toMatch(
    /\[question\] Write notes\.txt[^\n]*\n {2}asked by harbour \(\w{10}\), offline\/guide in \S+\/work\n {2}write notes\.txt\n/,
  );
  expect(asked).toMatch(
    /\n {2}\+ahoy\n[^]*\n {2}a\) Allow once\n {2}s\) Allow this in this session\n {2}w\) Always allow in this workspace: write \S+\n {2}d\) Deny[^\n]*\n {2}r\) Deny with a reason/,
  );
  expect(asked).not.toContain('sandbox');
  expect(await runOk(daemon, ['answer'])).toMatch(
    /^\w{10} {2}Write notes\.txt[^]* {2}\+ahoy\n[^]*berth answer \w{10} with a, s, w, d, or r and a reason/,
  );
  expect(await runOk(daemon, ['answer', await openQuestion(daemon), 'a'])).toContain('answered: allow_once');
  const seen = await watch.until((text) => text.includes('[run] completed'));
  expect(seen).toMatch(/\[question\] answered: allow_once by berth, pid \d+\n/);
  expect(seen).toMatch(/\[tool\] Write notes\.txt[^\n]*\n {2}--- [^]*\n {2}\+ahoy\n\[tool\] write done/);
  expect(readFileSync(join(daemon.workdir, 'notes.txt'), 'utf8')).toBe('ahoy\n');
});

test('a denial with a reason is told to the model, and the run goes on', async () => {
  await using daemon = openPlace(shared());
  const session = await newSession(daemon, 'denied');
  await using watch = startCommand(daemon, ['attach', session]);
  watch.type('run touch x\n');
  const asked = await watch.until((text) => text.includes('with which the run goes on'));
  expect(asked).toMatch(/\n {2}\$ touch x\n[^]*\n {2}\[not in a sandbox, with the network\]\n/);
  expect(asked.match(/touch x\n/g)?.length).toBeLessThan(5);
  watch.type('1\n');
  await watch.until((text) => text.includes('approvals are not answered with numbers'));
  watch.type('r use y instead\n');
  const seen = await watch.until((text) => text.includes('[run] completed'));
  expect(seen).toContain('[question] answered: deny, because use y instead\n');
  expect(seen).toMatch(/bash failed: Denied: use y instead/);
});

test.each([
  ['the mode that one of two people chooses', ['/mode auto_edit'], [], 'by the new mode'],
  ['a rule that somebody adds', [], ['permissions', 'add', '--tool', 'write', '--path', 'notes.txt'], 'by a new rule'],
])('an open question is answered by %s, and both are told', async (_, typed, command, by) => {
  await using daemon = openPlace(shared());
  const session = await newSession(daemon, 'released');
  await using one = startCommand(daemon, ['attach', session, '--plain']);
  await using other = startCommand(daemon, ['attach', session, '--plain']);
  one.type('write ahoy to notes.txt\n');
  for (const view of [one, other]) await view.until((text) => text.includes('with which the run goes on'));
  for (const line of typed) other.type(`${line}\n`);
  if (command.length > 0) await runOk(daemon, command);
  for (const view of [one, other]) {
    const seen = await view.until((text) => text.includes('[run] completed'));
    expect(seen).toContain(`[question] answered: allow_once ${by}\n`);
  }
  expect(readFileSync(join(daemon.workdir, 'notes.txt'), 'utf8')).toBe('ahoy\n');
});

test('a long change is cut, says so, and is shown whole when asked for', async () => {
  await using daemon = openPlace(shared());
  const session = await newSession(daemon, 'long');
  const lines = Array.from({ length: 20 }, (_, n) => `line ${n + 1}`);
  await using watch = startCommand(daemon, ['attach', session, '--json']);
  await watch.until((text) => text.includes('"attached"'));
  await runOk(daemon, ['send', session, '-'], { input: `write ${lines.join('\n')} to long.txt` });
  await watch.until((text) => text.includes('"ui_request"'));
  expect(await runOk(daemon, ['answer'])).toMatch(
    /\n {4}\[this is not the whole change: \d+ more lines\]\n[^]*berth answer \w+ --show shows all of it\n/,
  );
  const whole = await runOk(daemon, ['answer', await openQuestion(daemon), '--show']);
  expect(whole).toMatch(/\n\+line 1\n[^]*\n\+line 20\n/);
  expect(whole).not.toContain('not the whole');
  expect(await runCommand(daemon, ['answer', await openQuestion(daemon), 'once', '--show'])).toMatchObject({ code: 64 });
  watch.type('/show\n');
  await watch.until((text) => text.split('\n').some((line) => line.startsWith('{"session_id"') && line.includes('"approval"')));
  const late = startCommand(daemon, ['attach', session, '--json']);
  const [first = ''] = (await late.until((text) => text.includes('\n'))).split('\n');
  await late[Symbol.asyncDispose]();
  expect(JSON.parse(first)).toMatchObject({
    type: 'attached',
    session_id: session,
    run_id: expect.any(String),
    requests: [{ params: { title: expect.stringContaining('long.txt') } }],
  });
});

test('of a change that is longer than a diff may be, --show still shows all', async () => {
  await using daemon = openPlace(shared());
  const session = await newSession(daemon, 'longer');
  const lines = Array.from({ length: 1_000 }, (_, n) => `line ${n + 1} ${'x'.repeat(50)}`);
  await using watch = startCommand(daemon, ['attach', session, '--json']);
  await watch.until((text) => text.includes('"attached"'));
  await runOk(daemon, ['send', session, '-'], { input: `write ${lines.join('\n')} to long.txt` });
  await watch.until((text) => text.includes('"ui_request"'));
  const shown = await runOk(daemon, ['answer', await openQuestion(daemon), '--show']);
  for (const line of lines) expect(shown).toContain(`\n| ${line}\n`);
});

test('what a command prints is shown once, with how it ended', async () => {
  await using daemon = openPlace(shared());
  const session = await newSession(daemon, 'output');
  await runOk(daemon, ['permissions', 'add', '--command', 'printf']);
  await runOk(daemon, ['permissions', 'add', '--command', 'ls']);
  await runOk(daemon, ['permissions', 'add', '--command', 'true']);
  await using watch = startCommand(daemon, ['attach', session]);
  watch.type("run printf 'one\\ntwo\\n'; ls /nowhere\n");
  const seen = await watch.until((text) => text.includes('[run] completed'));
  expect(seen).toMatch(/\n {2}one\n {2}two\n {2}ls: .*\/nowhere.*\n\[tool\] bash failed in [^\n]+: exit code 2\n/);
  watch.type('run true\n');
  await watch.until((text) => /\[tool\] \$ true\n\[tool\] bash done in [^\n]+\n/.test(text));
});

test('output that is too long is kept, and berth artifact prints all of it', async () => {
  await using daemon = openPlace(shared());
  const session = await newSession(daemon, 'flood');
  await runOk(daemon, ['permissions', 'add', '--command', 'seq']);
  await using watch = startCommand(daemon, ['attach', session]);
  watch.type('run seq 1 20000\n');
  const seen = await watch.until((text) => /berth artifact art_\w+\]\n/.test(text));
  const [, bytes, id = ''] = /\[all (\d+) bytes: berth artifact (art_\w+)\]/.exec(seen) ?? [];
  const all = await runOk(daemon, ['artifact', id]);
  expect(all).toBe(Array.from({ length: 20_000 }, (_, n) => `${n + 1}\n`).join(''));
  expect(all).toHaveLength(Number(bytes));
  expect(await runCommand(daemon, ['artifact', id])).toMatchObject({ code: 0, stderr: '' });
  expect(await runCommand(daemon, ['artifact', 'art_none'])).toMatchObject({ code: 1, stdout: '' });
});

test('of output that is longer than what is kept, the view and berth artifact say how much there is', async () => {
  await using daemon = openPlace(shared());
  const session = await newSession(daemon, 'deluge');
  const [kept, all] = [64 * 1024 * 1024, 70_000_000];
  await using watch = startCommand(daemon, ['attach', session]);
  watch.type(`run yes | head -c ${all}\n`);
  await watch.until((text) => text.includes('with which the run goes on'));
  watch.type('a\n');
  const seen = await watch.until((text) => /berth artifact art_\w+\]\n/.test(text));
  const [, id = ''] = new RegExp(`\\[the first ${kept} of ${all} bytes: berth artifact (art_\\w+)\\]`).exec(seen) ?? [];
  const { code, stdout, stderr } = await runCommand(daemon, ['artifact', id]);
  expect({ code, length: stdout.length, stderr }).toEqual({
    code: 0,
    length: kept,
    stderr: `berth: this is not all: only the first ${kept} of ${all} bytes were kept\n`,
  });
});

test('output that is no text is named instead of shown', async () => {
  await using daemon = openPlace(shared());
  const session = await newSession(daemon, 'noise');
  await using watch = startCommand(daemon, ['attach', session]);
  watch.type('run head -c 3000 /dev/urandom\n');
  await watch.until((text) => text.includes('with which the run goes on'));
  watch.type('a\n');
  const seen = await watch.until((text) => text.includes('[run] completed'));
  expect(seen).toMatch(
    /\[tool\] \$ head[^\n]*\n {2}\[binary output[^\n]*\]\n {2}\[all 3000 bytes: berth artifact art_\w+\]\n\[tool\] bash done[^\n]*\n/,
  );
  expect(seen).not.toContain('\ufffd');
});

test('the list of what is to be done is shown when it changes, and to whoever comes later', async () => {
  await using daemon = openPlace(shared());
  const session = await newSession(daemon, 'list');
  await using watch = startCommand(daemon, ['attach', session]);
  watch.type('plan mend the sail, cast off\n');
  await watch.until((text) => text.includes('[run] completed'));
  const seen = await watch.until((text) => text.includes('[todo]\n'));
  expect(seen).toMatch(/\n\[todo\]\n {2}\[ \] mend the sail\n {2}\[ \] cast off\n/);
  expect(seen.match(/^\[todo\]$/gm)).toHaveLength(1);
  expect((await runCommand(daemon, ['attach', session])).stdout).toContain('[todo]\n  [ ] mend the sail\n  [ ] cast off\n');
  expect(await runOk(daemon, ['state', session])).toMatch(/^todo +\[ \] mend the sail\n +\[ \] cast off$/m);
});

test('whether the config of a directory counts is asked where a call needs to know, and answered like anything else', async () => {
  await using daemon = openPlace(shared());
  const session = await newSession(daemon, 'trust');
  await using watch = startCommand(daemon, ['attach', session]);
  await poll(
    () => runOk(daemon, ['state', session]),
    (text) => /attached +1/.test(text),
  );
  await runOk(daemon, [
    'send',
    session,
    'write {"permissions":{"rules":[{"tool":"bash","action":"allow","command":"true"}]}} to .berth/config.json',
  ]);
  await watch.until((text) => text.includes('with which the run goes on'));
  await runOk(daemon, ['answer', await openQuestion(daemon), 'a']);
  await watch.until((text) => text.includes('[run] completed'));
  watch.type('run true\n');
  const asked = await watch.until((text) => text.includes('type y or n'));
  expect(asked).toMatch(/\[question\] Trust the config of \S+\?\n {2}\S+config\.json says:\n {4}allow bash true\n/);
  await runOk(daemon, ['answer', await openQuestion(daemon), 'yes']);
  await watch.until((text) => /answered: yes by berth, pid \d+\n\[tool\] \$ true\n/.test(text));
});

describe.skipIf(missing('bwrap'))('with a sandbox (needs bwrap)', () => {
  test('a command says that it runs in the sandbox, and whether with the network', async () => {
    await using daemon = await startDaemon();
    const session = await newSession(daemon, 'sand');
    writeFileSync(join(daemon.workdir, 'a'), '');
    await using watch = startCommand(daemon, ['attach', session]);
    watch.type('run touch b\n');
    await watch.until((text) => text.includes('  $ touch b\n') && text.includes('  [in a sandbox, without the network]\n'));
    watch.type('s\n');
    await watch.until((text) => text.includes('[run] completed'));
    watch.type('run touch c with the network\n');
    await watch.until((text) => text.includes('  [in a sandbox, with the network]\n'));
    watch.type('d\n');
    await watch.until((text) => /answered: deny\n[^]*\[run\] stopped/.test(text));
  });
});

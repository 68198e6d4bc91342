import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test, vi } from 'vitest';
import { missing } from '../needs.js';
import { startDaemon, type TestDaemon } from '../support/daemon.js';
import { shareDaemon } from '../support/shared-daemon.js';
import { openPlace, runCommand, runJson, runJsonLine, runOk } from './run-cli.js';

vi.setConfig({ testTimeout: 90_000 });

// There is no sandbox, wherever this runs.
const bare = { config: { sandbox: { enabled: false } } };
const shared = shareDaemon(bare);

function addConfig({ workdir }: TestDaemon, rules: object[]): void {
  mkdirSync(join(workdir, '.berth'), { recursive: true });
  writeFileSync(join(workdir, '.berth', 'config.json'), JSON.stringify({ permissions: { rules } }));
}

test('rules are added, listed with where they come from, and removed', async () => {
  await using daemon = await startDaemon(bare);
  const session = (await runOk(daemon, ['new', '--title', 'one'])).trim();
  expect(await runOk(daemon, ['permissions', 'ls'])).toMatch(/mode +ask, for new sessions: [^]*No rules yet/);
  expect(await runOk(daemon, ['permissions', 'add', 'git status'])).toMatch(
    /^allowed without asking: commands that begin with "git status", in \S+\/work \(berth permissions rm 1 takes it back\)\n$/,
  );
  await runOk(daemon, ['permissions', 'add', '--deny', '--tool', 'read', '--path', '*.pem', '--everywhere']);
  await runOk(daemon, ['permissions', 'add', '--command', 'npm test', '--exact', '--network', '--session', session]);
  expect(await runJsonLine(daemon, ['permissions', 'add', '--ask', '--tool', 'bash'])).toMatchObject({ permission_id: '4' });
  const here = await runOk(daemon, ['permissions', 'ls']);
  expect(here).toMatch(/^1 +allow +bash +\S+\/work +git status$/m);
  expect(here).toMatch(/^2 +deny +read +everywhere +\*\.pem$/m);
  expect(here).toMatch(/^4 +ask +bash +\S+\/work +every call$/m);
  expect(here).not.toContain('npm test');
  const ofSession = await runOk(daemon, ['permissions', 'ls', '--session', session]);
  expect(ofSession).toMatch(/^3 +allow +bash +session \w{10} +npm test \(exactly\), with the network$/m);
  const elsewhere = { cwd: daemon.root };
  expect(await runOk(daemon, ['permissions', 'ls'], elsewhere)).not.toContain('git status');
  expect(await runOk(daemon, ['permissions', 'ls', '--all'], elsewhere)).toMatch(/git status[^]*npm test/);
  expect(await runOk(daemon, ['permissions', 'rm', '1', '2'])).toBe('removed 1\nremoved 2\n');
  expect(await runCommand(daemon, ['permissions', 'rm', '1', '4'])).toMatchObject({
    code: 1,
    stdout: 'removed 4\n',
    stderr: 'berth: there is no rule 1; see berth permissions ls\n',
  });
  expect(await runJsonLine(daemon, ['permissions', 'ls', '--all'])).toMatchObject({ permissions: [{ permission_id: '3' }] });
});

test('a rule that makes no sense, or allows everything by a slip, is refused', async () => {
  await using daemon = openPlace(shared());
  const wrong = [
    ['bash'],
    ['*'],
    ['--deny', 'bash'],
    ['--tool', 'bash'],
    ['--tool', '*'],
    ['--tool', 'write', 'docs'],
    ['write', '--tool', 'write', '--path', 'docs'],
    [],
    ['--allow', '--deny', 'ls'],
    ['x', '--everywhere', '--session', '.'],
    ['bash', '--command', 'a', '--pattern', 'b'],
    ['--deny', '--network', 'curl'],
  ];
  for (const words of wrong) expect(await runCommand(daemon, ['permissions', 'add', ...words])).toMatchObject({ code: 64, stdout: '' });
  expect(await runCommand(daemon, ['permissions', 'add', 'git status; rm x'])).toMatchObject({ code: 1 });
  expect(await runCommand(daemon, ['permissions', 'add', 'write', '--command', 'ls'])).toMatchObject({ code: 1 });
  expect(await runJsonLine(daemon, ['permissions', 'ls', '--all'])).toMatchObject({ permissions: [] });
  expect(await runCommand(daemon, ['permissions', 'add', '--tool', 'git status', '--every-call'])).toMatchObject({ code: 1 });
  expect(await runOk(daemon, ['permissions', 'add', 'bash', '--every-call'])).toContain('allowed without asking: all commands, in ');
});

test('words are a command, whatever tools there are, and what was made of them is said', async () => {
  await using daemon = await startDaemon(bare);
  for (const name of ['ls', 'grep', 'echo']) {
    const added = await runCommand(daemon, ['permissions', 'add', name]);
    expect(added).toMatchObject({ code: 0, stderr: expect.stringContaining(`--tool ${name}`) });
    expect(added.stdout).toContain(`allowed without asking: commands that begin with "${name}", in `);
    expect(await runCommand(daemon, ['permissions', 'test', `${name} x`])).toMatchObject({ code: 0 });
  }
  expect(await runCommand(daemon, ['permissions', 'add', 'make', '--exact', '--network'])).toMatchObject({
    stdout: expect.stringContaining('commands that are "make" and no more, with the network, in '),
    stderr: '',
  });
  expect(await runOk(daemon, ['permissions', 'add', '--ask', '--tool', 'ls'])).toContain(
    'always asked about: all calls of the tool ls, in ',
  );
  expect(await runOk(daemon, ['permissions', 'add', '--deny', '--tool', 'read', '--path', '*.pem'])).toContain(
    'never done: calls of the tool read on *.pem, in ',
  );
  // Where an option says what it is about, a word can only be the tool.
  expect(await runOk(daemon, ['permissions', 'add', 'write', '--path', 'docs'])).toContain('calls of the tool write on docs, in ');
  expect(await runOk(daemon, ['permissions', 'ls'])).toMatch(/^1 +allow +bash +\S+ +ls$/m);
  const free = ['permissions', 'add', 'npm test', '--network', '--unsandboxed'];
  expect(await runOk(daemon, free)).toContain('commands that begin with "npm test", with the network, outside the sandbox, in ');
  expect(await runOk(daemon, ['permissions', 'ls'])).toMatch(/ npm test, with the network, outside the sandbox\n/);
});

test('a command is tried part by part, and the exit code says what would become of it', async () => {
  await using daemon = openPlace(shared());
  await runOk(daemon, ['permissions', 'add', 'git status']);
  await runOk(daemon, ['permissions', 'add', '--deny', 'curl']);
  expect(await runCommand(daemon, ['permissions', 'test', 'git status'])).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/^allowed: .*\n {2}allowed {2}git status {2}.*git status/),
  });
  const asked = await runCommand(daemon, ['permissions', 'test', 'git status && make']);
  expect(asked).toMatchObject({ code: 3, stderr: '' });
  expect(asked.stdout).toMatch(/^asked: .*\n {2}allowed {2}git status .*\n {2}asked {4}make /);
  expect(asked.stdout).toMatch(/“Always” would add:\n {2}allow bash make \(exactly\)\nmode ask, in /);
  expect(asked.stdout).toContain('without a sandbox');
  const denied = await runCommand(daemon, ['permissions', 'test', '-', '--json'], { input: 'git status; curl evil\n' });
  expect(denied.code).toBe(4);
  expect(JSON.parse(denied.stdout)).toMatchObject({ action: 'deny' });
  expect(await runCommand(daemon, ['permissions', 'test', '--path', 'a.txt'])).toMatchObject({ code: 3 });
  expect(await runCommand(daemon, ['permissions', 'test', '--path', 'a.txt', '--mode', 'auto-edit'])).toMatchObject({ code: 0 });
  expect(await runCommand(daemon, ['permissions', 'test', '--path', 'a.txt', '--mode', 'read_only'])).toMatchObject({ code: 4 });
  expect(await runCommand(daemon, ['permissions', 'test', '--path', 'a.txt', '--tool', 'read'])).toMatchObject({ code: 0 });
  for (const words of [[], ['git', 'status'], ['x', '--path', 'y'], ['x', '--mode', 'bold']]) {
    expect(await runCommand(daemon, ['permissions', 'test', ...words])).toMatchObject({ code: 64, stdout: '' });
  }
  const hostile = await runCommand(daemon, ['permissions', 'test', 'rm \u001b[2J\u202e']);
  expect(hostile.stdout).not.toMatch(/[\u001b\u202e]/u); // eslint-disable-line no-control-regex
});

test('the config of a directory counts once it was shown and trusted, and not any more when it has changed', async () => {
  await using daemon = openPlace(shared());
  expect(await runCommand(daemon, ['permissions', 'trust'])).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('no config of its own'),
  });
  addConfig(daemon, [{ tool: 'bash', action: 'allow', command: 'make', exact: true }]);
  expect(await runOk(daemon, ['permissions', 'ls'])).toMatch(/own config .*not trusted yet, so it counts for nothing/);
  const unsaid = await runCommand(daemon, ['permissions', 'trust']);
  expect(unsaid).toMatchObject({ code: 1, stdout: expect.stringContaining('"command":"make"'), stderr: expect.stringContaining('--yes') });
  expect(await runCommand(daemon, ['permissions', 'test', 'make'])).toMatchObject({ code: 3 });
  expect(await runOk(daemon, ['permissions', 'trust', '.', '--yes'])).toMatch(
    /says:\n {2}\{.*\}\nthe config of \S+ counts until it changes\n$/,
  );
  expect(await runOk(daemon, ['permissions', 'ls'])).toMatch(
    /own config .*, trusted\n[^]*\n- +allow +bash +\S+config\.json +make \(exactly\)/,
  );
  expect(await runCommand(daemon, ['permissions', 'test', 'make'])).toMatchObject({ code: 0 });
  addConfig(daemon, [{ tool: 'bash', action: 'allow', command: 'rm' }]);
  expect(await runCommand(daemon, ['permissions', 'test', 'rm x'])).toMatchObject({ code: 3 });
  await runOk(daemon, ['permissions', 'distrust']);
  expect(await runOk(daemon, ['permissions', 'ls'])).toMatch(/own config .*not trusted, so it counts for nothing/);
  expect(await runJsonLine(daemon, ['permissions', 'trust', '--yes'])).toMatchObject({ trusted: true });
  writeFileSync(join(daemon.workdir, '.berth', 'config.json'), '{"model":"evil/x"}');
  expect(await runCommand(daemon, ['permissions', 'trust', '--yes'])).toMatchObject({
    code: 1,
    stdout: '',
    stderr: expect.stringContaining('cannot be used'),
  });
});

test('the mode of a session is shown and changed, and seen wherever the session is', async () => {
  await using daemon = openPlace(shared());
  const session = (await runOk(daemon, ['new', '--title', 'sails'])).trim();
  expect(await runOk(daemon, ['mode'])).toMatch(/^ask: /);
  expect(await runOk(daemon, ['state'])).not.toMatch(/^mode /m);
  expect(await runOk(daemon, ['mode', 'auto-edit'])).toMatch(/^auto_edit: /);
  expect(await runOk(daemon, ['state'])).toMatch(/^mode +auto_edit: /m);
  expect(await runJsonLine(daemon, ['mode', 'sails', 'read_only'])).toEqual({ session_id: session, approval_mode: 'read_only' });
  expect(await runCommand(daemon, ['mode', 'sails', 'bold'])).toMatchObject({ code: 64 });
  const seen = await runCommand(daemon, ['attach', session], { input: '/mode\n/mode full\n/mode bold\n' });
  expect(seen.stdout).toMatch(/, mode read_only\n[^]*\[session\] mode read_only: .*\n/);
  expect(seen.stdout).toContain('[not done] there is no mode bold; there are ask, auto_edit, full, read_only');
  expect(await runOk(daemon, ['mode'])).toMatch(/^full: files of the workspace are changed, .* with the network, without asking\n$/);
});

describe.skipIf(missing('bwrap'))('with a sandbox (needs bwrap)', () => {
  test('who decided what is kept, newest first', async () => {
    await using daemon = await startDaemon();
    expect(await runOk(daemon, ['permissions', 'log'])).toBe('Nothing was decided yet.\n');
    const session = (await runOk(daemon, ['new'])).trim();
    await runOk(daemon, ['mode', 'auto_edit']);
    await runOk(daemon, ['send', '.', 'run true', '--wait']);
    await runOk(daemon, ['permissions', 'add', '--deny', 'ls /']);
    await runOk(daemon, ['send', '.', 'run ls /', '--wait']);
    const [newest, oldest] = await runJson(daemon, ['permissions', 'log', '--session', session]);
    expect(newest).toMatchObject({ session_id: session, action: 'deny', by: 'policy', tool_name: 'bash', subject: 'ls /' });
    expect(oldest).toMatchObject({ action: 'allow', subject: 'true' });
    const [head, first] = (await runOk(daemon, ['permissions', 'log', '--limit', '1'])).split('\n');
    expect(head).toMatch(/^TIME +SESSION +DECIDED +BY +TOOL +CALL +WHY$/);
    expect(first).toMatch(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d +\w{10} +deny +policy +bash +ls \/ +/);
    expect(await runCommand(daemon, ['permissions', 'log', '--limit', 'few'])).toMatchObject({ code: 64 });
  });
});

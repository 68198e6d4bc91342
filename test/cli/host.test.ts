import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { program, startDaemon, type TestDaemon } from '../support/daemon.js';
import { makeFakeSsh, runningIn } from '../support/fake-ssh.js';
import { makeHome, poll, runCommand, runJson, runJsonLine, runOk, startCommand, type Place } from './run-cli.js';

let far: TestDaemon;
let near: Place & AsyncDisposable;
/** Berth on the machine `box`, in words without spaces. */
let remoteCommand: string[];

beforeAll(async () => {
  far = await startDaemon();
  remoteCommand = [
    'env',
    '-u',
    'BERTH_HOST',
    ...Object.entries(far.env).flatMap(([name, value]) => (/^BERTH_|^HOME$/.test(name) ? [`${name}=${value}`] : [])),
    process.execPath,
    program,
  ];
  near = makeHome({ BERTH_SSH: makeFakeSsh(far.root), BERTH_REMOTE_COMMAND: remoteCommand.join(' ') });
});

afterAll(async () => {
  await near[Symbol.asyncDispose]();
  await far[Symbol.asyncDispose]();
});

test('sessions of another machine are made, sent to, listed and read as those of this one, and nothing is left behind', async () => {
  const made = await runJsonLine(near, ['--host', 'box', 'new', '--title', 'over there']);
  const env = { BERTH_HOST: 'box' };
  const answer = await runOk(near, ['send', made.session_id, 'say ahoy', '--wait'], { env });
  expect(answer).toContain('ahoy');
  const [row] = await runJson(near, ['ls', '--host=box']);
  expect(row).toMatchObject({ session_id: made.session_id, title: 'over there', cwd: join(far.root, 'home') });
  expect(await runJson(near, ['ls'])).toEqual([]);
  expect(await runOk(near, ['log', '.', '--host', 'box'])).toContain('ahoy');
  expect(await runJsonLine(near, ['state', 'over there'], { env })).toMatchObject({ session_id: made.session_id });
  const elsewhere = await runJsonLine(near, ['new', '--cwd', '~/src/../app'], { env });
  expect(await runJsonLine(near, ['state', elsewhere.session_id], { env })).toMatchObject({ cwd: join(far.root, 'home', 'app') });
  await poll(
    () => runningIn(far.root),
    (pids) => pids.length === 0,
  );
});

test('. is the newest session of the other machine, wherever this shell stands', async () => {
  const { session_id } = await runJsonLine(near, ['--host', 'box', 'new']);
  await runOk(near, ['--host', 'box', 'send', session_id, 'say ahoy', '--wait']);
  expect(await runJsonLine(near, ['--host', 'box', 'state'])).toMatchObject({ session_id });
  const { code, stderr } = await runCommand(near, ['--host', 'box', 'ls', '--here']);
  expect([code, stderr]).toEqual([64, expect.stringContaining('means nothing on box')]);
});

test('a host has a name in config.json, with its address and where berth is', async () => {
  mkdirSync(near.paths.configDir, { recursive: true });
  const config = { hosts: { mine: { ssh: 'user@far.example', command: remoteCommand } } };
  writeFileSync(join(near.paths.configDir, 'config.json'), JSON.stringify(config));
  await runOk(near, ['--host', 'mine', 'ls'], { env: { BERTH_REMOTE_COMMAND: '' } });
  expect(readFileSync(join(far.root, 'arguments'), 'utf8').trim().split('\n').at(-1)).toContain('|user@far.example|--|');
});

test('all hosts of config.json are asked together with this machine, and one that is away is a line', async () => {
  await using home = makeHome({ BERTH_SSH: join(far.root, 'fake-ssh') });
  const config = { hosts: { box: { command: remoteCommand }, gone: { command: ['/nowhere/berth'] } } };
  writeFileSync(join(home.paths.configDir, 'config.json'), JSON.stringify(config));
  const here = await runJsonLine(home, ['new', '--title', 'over here']);
  const there = await runJsonLine(home, ['--host', 'box', 'new', '--title', 'far away']);
  const lines = await runJson(home, ['ls', '--all-hosts']);
  expect(lines[0]).toMatchObject({ host: 'box', session_id: there.session_id });
  expect(lines.at(-1)).toEqual({
    host: 'gone',
    error: { code: 'host_unreachable', message: expect.stringContaining('there is no /nowhere/berth') as string },
  });
  expect(lines.filter(({ host }) => host === null)).toMatchObject([{ session_id: here.session_id }]);
  const table = await runOk(home, ['ls', '--all-hosts']);
  expect(table).toMatch(/^HOST +ID/);
  expect(table).toMatch(/^box .*far away/m);
  expect(table).toMatch(/^here .*over here/m);
  expect(table).toMatch(/^gone is away: .*there is no \/nowhere\/berth/m);
  expect(await runCommand(home, ['ls', '--all-hosts', '--here'])).toMatchObject({ code: 64 });
});

test.each(['daemon stop', 'auth list', 'daemon run', 'daemon install', 'config get', 'doctor'])(
  'berth %s is not silently done here when another machine is meant',
  async (line) => {
    const words = line.split(' ');
    const flag = await runCommand(near, [...words, '--host', 'box']);
    expect([flag.code, flag.stderr]).toEqual([64, expect.stringContaining(`ssh box berth ${line} does it there`)]);
    const variable = await runCommand(near, words, { env: { BERTH_HOST: 'box' } });
    expect([variable.code, variable.stderr]).toEqual([64, expect.stringContaining('BERTH_HOST is set')]);
  },
);

test('what cannot be a host is refused before ssh is started, and one that cannot be reached is exit code 69', async () => {
  const calls = readFileSync(join(far.root, 'arguments'), 'utf8');
  const { code, stderr } = await runCommand(near, ['ls', '--host', '-oProxyCommand=id']);
  expect([code, stderr]).toEqual([64, expect.stringContaining('begins with -')]);
  expect(readFileSync(join(far.root, 'arguments'), 'utf8')).toBe(calls);
  const away = await runCommand(near, ['ls', '--host', 'box', '--json'], { env: { BERTH_SSH: 'false' } });
  expect(away.code).toBe(69);
  expect(JSON.parse(away.stderr)).toMatchObject({ error: { code: 'host_unreachable' } });
});

test('a relay ends with its input, and says what is wrong when it is fed by hand', async () => {
  await using relay = startCommand(far, ['relay']);
  const first = await relay.until((stdout) => stdout.includes('}\n'));
  expect(first).toMatch(/^\nberth-relay \{"relay":1,"version":"[^"]+","protocol":"1","home":/);
  relay.endInput();
  expect(await relay.finished()).toMatchObject({ code: 0, stderr: '' });
  const fed = await runCommand(far, ['relay'], { input: 'hello\n' });
  expect([fed.code, fed.stderr]).toEqual([64, expect.stringContaining('not for berth relay')]);
});

test('berth relay --start starts the daemon first', async () => {
  await using home = makeHome();
  await runOk(home, ['relay', '--start'], { input: '' });
  expect(await runJsonLine(home, ['daemon', 'status'])).toMatchObject({ running: true });
});

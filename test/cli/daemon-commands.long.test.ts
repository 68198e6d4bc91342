import { appendFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { connect } from '../../src/client/index.js';
import { loadSqlite } from '../../src/store/sqlite.js';
import { startDaemon } from '../support/daemon.js';
import { listeningPorts } from '../support/processes.js';
import { countStarts, isAlive, makeHome, runCommand, runJson, runJsonLine, runOk, startCommand, type Place } from './run-cli.js';

vi.setConfig({ testTimeout: 90_000 });

test('berth in a pipe starts a daemon, shows the guide, says where things are, and ends well', async () => {
  await using home = makeHome();
  const { code, stdout, stderr } = await runCommand(home, []);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  expect(stdout).toContain('I am the offline guide');
  for (const path of [home.paths.socket, home.paths.stateDir, home.paths.configDir, join(home.paths.stateDir, 'berth.log')]) {
    expect(stdout).toContain(path);
  }
  const status = await runJsonLine(home, ['daemon', 'status']);
  expect(status).toMatchObject({ running: true, socket: home.paths.socket, sessions: 1 });
  // Again: the same daemon, the same session.
  expect((await runCommand(home, [])).code).toBe(0);
  expect(await runJsonLine(home, ['daemon', 'status'])).toMatchObject({ pid: status.pid, sessions: 1 });
});

test('without a daemon, what needs a running one says 69 and how to start it', async () => {
  await using home = makeHome();
  for (const args of [['abort'], ['daemon', 'status'], ['daemon', 'stop']]) {
    const { code, stdout, stderr } = await runCommand(home, args);
    expect({ args, code, stdout }).toEqual({ args, code: 69, stdout: '' });
    expect(stderr).toContain('berth daemon start');
  }
  const none = await runCommand(home, ['daemon', 'status', '--json']);
  expect(none.code).toBe(69);
  expect(JSON.parse(none.stdout)).toEqual({ running: false, socket: home.paths.socket });
});

test('twenty commands at once start one daemon, and all are answered', async () => {
  await using home = makeHome();
  const ended = await Promise.all(Array.from({ length: 20 }, () => runCommand(home, ['ls'])));
  // On a busy machine some may be told that the daemon, which has as much to do, takes its time.
  const patient = expect.stringMatching(/^(berth: the daemon .* has not answered for \d+ s; still waiting\n)*$/);
  expect(ended.map(({ code, stderr }) => ({ code, stderr }))).toEqual(Array.from({ length: 20 }, () => ({ code: 0, stderr: patient })));
  expect(countStarts(home)).toBe(1);
});

test('the daemon is started once, told of, and stopped until it is gone', async () => {
  await using home = makeHome();
  expect(await runOk(home, ['daemon', 'start'])).toMatch(/^started \(pid \d+/);
  expect(await runOk(home, ['daemon', 'start'])).toMatch(/^already running \(pid \d+/);
  const { pid } = await runJsonLine(home, ['daemon', 'status']);
  expect(await runOk(home, ['daemon', 'status'])).toMatch(new RegExp(`^running +version .*pid ${pid}`));
  for (let round = 0; round < 3; round++) {
    const stopped = await runJsonLine(home, ['daemon', 'stop']);
    expect(isAlive(stopped.pid)).toBe(false);
    await runOk(home, ['daemon', 'start']);
  }
  expect(countStarts(home)).toBe(4);
});

test('a daemon that is started in passing gets no debugger and no code from NODE_OPTIONS, but its memory limit', async () => {
  await using home = makeHome();
  const loaded = join(home.root, 'loaded');
  const hook = join(home.root, 'hook.cjs');
  writeFileSync(hook, `require('node:fs').appendFileSync(${JSON.stringify(loaded)}, process.argv.includes('run') ? 'daemon ' : 'client ')`);
  const env = { NODE_OPTIONS: `--inspect=127.0.0.1:0 --require ${hook} --max-old-space-size=300 --report-on-signal` };
  await runOk(home, ['ls'], { env });
  const { pid } = await runJsonLine(home, ['daemon', 'status']);
  expect(
    readFileSync(`/proc/${pid}/environ`, 'utf8')
      .split('\0')
      .filter((entry) => entry.startsWith('NODE_OPTIONS')),
  ).toEqual(['NODE_OPTIONS=--max-old-space-size=300']);
  expect(readFileSync(loaded, 'utf8').trim()).toBe('client');
  expect(listeningPorts(pid)).toEqual([]);
});

test('a restart is a new process with the config as it is now, and says what it cut off', async () => {
  await using home = makeHome({ BERTH_OFFLINE_WPS: '20' });
  expect(await runOk(home, ['daemon', 'restart'])).toMatch(/^started \(pid \d+/);
  const before = await runJsonLine(home, ['daemon', 'status']);
  const working = (await runOk(home, ['new', '--title', 'working'])).trim();
  await runOk(home, ['send', working, 'stream 5000 words']);
  writeFileSync(join(home.paths.configDir, 'config.json'), '{"model":"offline/other"}');
  const said = await runOk(home, ['daemon', 'restart']);
  expect(said).toMatch(new RegExp(`^restarted \\(pid ${before.pid} before, pid \\d+`));
  expect(said).toMatch(/the run of \w+ \(working\) was interrupted; berth resume \w+ goes on/);
  const after = await runJsonLine(home, ['daemon', 'status']);
  expect(after).toMatchObject({ model: 'offline/other' });
  expect(after.pid).not.toBe(before.pid);
  expect(isAlive(before.pid)).toBe(false);
});

test.each<[string, (home: Place) => void, RegExp]>([
  [
    'a config with a typo',
    (home) => writeFileSync(join(home.paths.configDir, 'config.json'), '{"modle":"offline/guide"}'),
    /did you mean model\?/,
  ],
  [
    'a store that a newer berth has changed',
    (home) => {
      const Sqlite = loadSqlite();
      const db = new Sqlite(join(home.paths.stateDir, 'berth.db'));
      db.pragma('user_version = 4711');
      db.close();
    },
    /has schema version 4711/,
  ],
  ['a config that is not JSON', (home) => writeFileSync(join(home.paths.configDir, 'config.json'), '{'), /config\.json/],
])('with %s a restart is refused, and the daemon that runs goes on', async (_, spoil, why) => {
  await using home = makeHome({ BERTH_OFFLINE_WPS: '20' });
  await runOk(home, ['daemon', 'start']);
  const before = await runJsonLine(home, ['daemon', 'status']);
  const working = (await runOk(home, ['new'])).trim();
  await runOk(home, ['send', working, 'stream 5000 words']);
  spoil(home);
  for (const args of [[], ['--drain']]) {
    const { code, stderr, stdout } = await runCommand(home, ['daemon', 'restart', ...args]);
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toMatch(/^berth: not restarted, because a new daemon could not start: .*; the one that runs goes on\n$/);
    expect(stderr).toMatch(why);
  }
  expect(await runJsonLine(home, ['daemon', 'status'])).toMatchObject({ pid: before.pid, draining: false });
  expect((await runJsonLine(home, ['state', working])).run_state).toBe('running');
});

test('whether a daemon can start is found out without starting one', async () => {
  await using home = makeHome();
  expect(await runOk(home, ['daemon', 'run', '--check'])).toBe('a daemon can start here\n');
  expect(await runCommand(home, ['daemon', 'status'])).toMatchObject({ code: 69 });
  writeFileSync(join(home.paths.configDir, 'config.json'), '{"modle":1}');
  expect(await runCommand(home, ['daemon', 'run', '--check'])).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('did you mean model?'),
  });
});

test('a stop tells what became of the runs, and they can be resumed', async () => {
  await using home = makeHome({ BERTH_OFFLINE_WPS: '20' });
  const working = (await runOk(home, ['new', '--title', 'working'])).trim();
  const asking = (await runOk(home, ['new', '--title', 'asking'])).trim();
  await runOk(home, ['send', working, 'stream 5000 words']);
  await runOk(home, ['send', asking, 'ask me']);
  await using watch = startCommand(home, ['attach', asking]);
  await watch.until((text) => text.includes('Which way'));
  const stopped = await runOk(home, ['daemon', 'stop']);
  expect(stopped).toMatch(/the run of \w+ \(working\) was interrupted; berth resume \w+ goes on/);
  expect(stopped).toMatch(/\w+ \(asking\) waits for your answer/);
  // Whoever was attached waits for the daemon, and does not bring it back against the will of who stopped it.
  await watch.until((text) => text.includes('lost connection'));
  expect(await runCommand(home, ['daemon', 'status'])).toMatchObject({ code: 69 });
  expect(await runOk(home, ['resume', working])).toMatch(/^run_\w+ goes on/);
  await watch.until((text) => text.includes('[daemon] back'));
  expect(await runJson(home, ['answer'])).toMatchObject([{ session_id: asking }]);
});

test('a drained daemon stops after its last run', async () => {
  await using home = makeHome({ BERTH_OFFLINE_WPS: '200' });
  await using wait = startCommand(home, ['send', 'stream 300 words', '--wait']);
  await wait.until((text) => text.includes('word3'));
  expect(await runJson(home, ['daemon', 'stop', '--drain'])).toMatchObject([{ stopped: true, runs: [] }]);
  const { code, stdout } = await wait.finished();
  expect({ code, last: stdout.trim().split(' ').at(-1) }).toEqual({ code: 0, last: 'word300' });
});

test('the daemon runs in the foreground, in the directory it is told', async () => {
  await using home = makeHome();
  const elsewhere = join(home.root, 'elsewhere');
  mkdirSync(elsewhere);
  expect(await runCommand(home, ['daemon', 'run', '--workdir', 'nowhere'])).toMatchObject({ code: 64 });
  for (const [args, env, cwd] of [
    [['--workdir', '../elsewhere'], {}, elsewhere],
    [[], {}, home.workdir],
    [[], { INVOCATION_ID: '1' }, join(home.root, 'home')],
  ] as const) {
    await using daemon = startCommand(home, ['daemon', 'run', ...args], { env });
    expect(await daemon.until((text) => text.endsWith('\n'))).toContain(home.paths.socket);
    const second = await runCommand(home, ['daemon', 'run'], { env: { BERTH_SOCKET: join(home.root, 's', 'other.sock') } });
    expect(second).toMatchObject({ code: 1, stdout: '', stderr: expect.stringContaining('already runs') });
    const berth = await connect({ paths: home.paths });
    const made = await berth.call('new_session', {});
    const state = await berth.call('get_state', { session_id: made.ok ? made.payload.session_id : '' });
    berth.close();
    expect(state).toMatchObject({ payload: { cwd } });
    daemon.child.kill('SIGTERM');
    expect(await daemon.finished()).toMatchObject({ code: 0, signal: null });
  }
});

test('a daemon that cannot start says why to whoever wanted it', async () => {
  await using home = makeHome();
  writeFileSync(join(home.paths.configDir, 'config.json'), '{"model": 5}');
  for (const args of [[], ['ls'], ['daemon', 'start'], ['send', 'x']]) {
    expect(await runCommand(home, args)).toMatchObject({ code: 69, stdout: '', stderr: expect.stringContaining('config.json: model') });
  }
});

test('a daemon that goes away in the middle is an error of its own', async () => {
  await using daemon = await startDaemon({ wps: 20 });
  await using wait = startCommand(daemon, ['send', 'stream 5000 words', '--wait']);
  await wait.until((text) => text.includes('word5'));
  await daemon.kill9();
  const { code, stderr } = await wait.finished();
  await runOk(daemon, ['daemon', 'stop']);
  expect(code).toBe(1);
  expect(stderr).toMatch(/lost connection…\nberth: back\nberth: the run was interrupted: .*; berth resume \w+ continues it/);
});

test('the newest lines of the log are printed for people or as they are, without a daemon, and what follows on demand', async () => {
  await using home = makeHome();
  expect(await runCommand(home, ['daemon', 'logs'])).toMatchObject({ code: 1, stderr: expect.stringContaining('there is no log yet') });
  await runOk(home, ['daemon', 'start']);
  await runOk(home, ['daemon', 'stop']);
  const file = readFileSync(join(home.paths.stateDir, 'berth.log'), 'utf8').trimEnd().split('\n');
  expect((await runOk(home, ['daemon', 'logs', '-n', '1', '--json'])).trimEnd()).toBe(file.at(-1));
  const lines = (await runOk(home, ['daemon', 'logs'])).trimEnd().split('\n');
  expect(lines).toHaveLength(file.length);
  expect(lines.at(-1)).toMatch(/^\d{4}-\d\d-\d\dT[\d:.]+Z info stopped$/);

  await using follow = startCommand(home, ['daemon', 'logs', '-n', '1', '-f']);
  await follow.until((text) => text.includes('info stopped'));
  appendFileSync(join(home.paths.stateDir, 'berth.log'), '{"level":40,"time":0,"msg":"first"}\n');
  await follow.until((text) => text.includes('1970-01-01T00:00:00.000Z warn first'));
  appendFileSync(join(home.paths.stateDir, 'berth.log'), '{"level":50,"time":0,"msg":"se');
  appendFileSync(join(home.paths.stateDir, 'berth.log'), 'cond","why":{"a":1}}\n');
  await follow.until((text) => text.includes('error second why={"a":1}\n'));
  follow.child.kill('SIGINT');
  expect(await follow.finished()).toMatchObject({ signal: 'SIGINT' });
});

test('a list is asked for with ls and with list, wherever there is one', async () => {
  await using home = makeHome();
  for (const [one, other] of [
    [['ls'], ['list']],
    [
      ['permissions', 'ls'],
      ['permissions', 'list'],
    ],
    [
      ['auth', 'list'],
      ['auth', 'ls'],
    ],
  ] as const) {
    expect(await runOk(home, [...other])).toBe(await runOk(home, [...one]));
    expect(await runOk(home, [...other, '--json'])).toBe(await runOk(home, [...one, '--json']));
    expect(await runOk(home, [...other, '--help'])).toBe(await runOk(home, [...one, '--help']));
  }
});

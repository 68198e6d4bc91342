import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { describe, expect, test, vi } from 'vitest';
import { createLogger, type Logger } from '../../src/daemon/log/logger.js';
import { limits } from '../../src/protocol/limits.js';
import { countStarts, makeHome, runOk, startCommand } from '../cli/run-cli.js';
import { pathsIn, program, startDaemon } from '../support/daemon.js';
import { mountSmallDisk, noSmallDisk } from '../support/small-disk.js';
import { openTalk } from '../support/talk.js';
import { makeTempDir } from '../support/temp-dir.js';
import { expectAlive } from '../support/wire.js';

vi.setConfig({ testTimeout: 90_000 });

const reason = noSmallDisk();
if (reason !== undefined) process.stderr.write(`tests of the log on a full disk are skipped: ${reason}\n`);

interface OpenLog extends Disposable {
  dir: string;
  file: string;
  log: Logger;
  clock: { now: number };
  files(): string[];
}

function openLog(secrets: readonly string[] = [], root = makeTempDir()): OpenLog {
  const file = root.file('berth.log');
  const clock = { now: Date.now() };
  return {
    dir: root.path,
    file,
    clock,
    log: createLogger(file, { level: 'debug', secrets: () => secrets, now: () => clock.now }),
    files: () => readdirSync(root.path).toSorted(),
    [Symbol.dispose]: () => root[Symbol.dispose](),
  };
}

interface Line {
  msg: string;
  lines?: number;
}

function linesOf(file: string): Line[] {
  const text = readFileSync(file, 'utf8');
  return text === ''
    ? []
    : text
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line) as Line);
}

describe('the log', () => {
  test('is bounded in size, whatever is logged, and its files are for their owner alone', () => {
    using open = openLog();
    const text = 'x'.repeat(limits.loggedTextCharsMax * 2);
    const all = ((limits.olderLogFilesMax + 3) * limits.logFileBytesMax) / limits.loggedTextCharsMax;
    for (let i = 0; i < all; i++) open.log.debug({ i }, text);
    expect(open.files()).toEqual(['berth.log', 'berth.log.1', 'berth.log.2', 'berth.log.3', 'berth.log.4']);
    for (const name of open.files()) {
      const { size, mode } = statSync(join(open.dir, name));
      expect({ name, mode: mode & 0o777 }).toEqual({ name, mode: 0o600 });
      expect(size).toBeLessThanOrEqual(limits.logFileBytesMax);
    }
    // Nothing is lost where one file ends and the next one begins.
    const kept = open
      .files()
      .toReversed()
      .flatMap((name) => linesOf(join(open.dir, name)) as unknown as { i: number }[]);
    expect(kept.map(({ i }) => i)).toEqual(Array.from({ length: kept.length }, (_, at) => Math.ceil(all) - kept.length + at));
  });

  test('is rotated when it is old, also by a daemon that was started since, and old ones are removed', () => {
    using open = openLog();
    open.log.info('first');
    writeFileSync(`${open.file}.1`, 'long ago\n');
    const then = (open.clock.now - limits.olderLogAgeMs) / 1000;
    utimesSync(`${open.file}.1`, then, then);
    const later = (): number => Date.now() + limits.logFileAgeMs + 60_000;
    const restarted = createLogger(open.file, { level: 'info', secrets: () => [], now: later });
    restarted.info('second');
    expect(open.files()).toEqual(['berth.log', 'berth.log.1']);
    expect(linesOf(open.file)).toMatchObject([{ msg: 'second' }]);
    expect(linesOf(`${open.file}.1`)).toMatchObject([{ msg: 'first' }]);
  });

  test('is begun anew where it cannot be rotated, so that the bound holds', () => {
    using open = openLog();
    // A directory that is not empty is in the way.
    for (let at = 1; at <= limits.olderLogFilesMax; at++) mkdirSync(join(`${open.file}.${at}`, 'sub'), { recursive: true });
    const text = 'x'.repeat(limits.loggedTextCharsMax);
    for (let written = 0; written < 2 * limits.logFileBytesMax; written += text.length) open.log.info(text);
    open.log.info('last');
    expect(statSync(open.file).size).toBeLessThanOrEqual(limits.logFileBytesMax);
    expect(linesOf(open.file).at(-1)).toMatchObject({ msg: 'last' });
  });

  test('goes on in a new file when it was removed, and after a line that was cut', () => {
    using open = openLog();
    open.log.info('first');
    rmSync(open.file);
    open.log.info('second');
    expect(linesOf(open.file)).toMatchObject([{ msg: 'second' }]);
    truncateSync(open.file, 10);
    open.log.info('third');
    const [, line = ''] = readFileSync(open.file, 'utf8').split('\n');
    expect(JSON.parse(line)).toMatchObject({ msg: 'third' });
  });

  test('has no secret, in whatever text it stands and however JSON escapes it', () => {
    const secrets = ['canary-"quoted"-key', 'canary-plain-key'];
    using open = openLog(secrets);
    const cause = new Error(`the header was ${secrets[0]}`);
    open.log.error(
      { err: new Error(`refused: ${secrets[1]}`, { cause }), deep: [{ header: `Bearer ${secrets[0]}` }] },
      `with ${secrets[1]}`,
    );
    const text = readFileSync(open.file, 'utf8');
    expect(text).not.toContain('canary');
    expect(JSON.parse(text)).toMatchObject({ msg: 'with [key]', deep: [{ header: 'Bearer [key]' }] });
  });

  test.skipIf(reason !== undefined)('says how many lines a full disk has cost (needs mount)', () => {
    using root = makeTempDir();
    using disk = mountSmallDisk(root.file('disk'), 1);
    const file = join(disk.path, 'berth.log');
    const log = createLogger(file, { level: 'info', secrets: () => [] });
    log.info('before');
    disk.fill();
    const long = 'x'.repeat(5_000);
    for (let i = 0; i < 3; i++) log.info(long);
    disk.free();
    log.info('after');
    const lines = readFileSync(file, 'utf8').trimEnd().split('\n');
    const last = lines.slice(-2).map((line) => JSON.parse(line) as Line);
    expect(last).toMatchObject([{ lines: 3, msg: expect.stringContaining('ENOSPC') }, { msg: 'after' }]);
  });
});

describe('a daemon', () => {
  test.skipIf(reason !== undefined)('goes on while its log cannot be written (needs mount)', async () => {
    using root = makeTempDir();
    using disk = mountSmallDisk(root.file('log-disk'), 1);
    const { stateDir } = pathsIn(root.path);
    mkdirSync(stateDir, { mode: 0o700 });
    symlinkSync(join(disk.path, 'berth.log'), join(stateDir, 'berth.log'));
    await using daemon = await startDaemon({ root: root.path, env: { BERTH_LOG_LEVEL: 'debug' } });
    disk.fill();
    const talk = await openTalk(daemon);
    for (let i = 0; i < 20; i++) expect(await talk.run(`say ${i}`)).toBe('completed');
    await expectAlive(daemon);
    disk.free();
    expect(await talk.run('say after')).toBe('completed');
    expect(readFileSync(join(disk.path, 'berth.log'), 'utf8')).toMatch(/could not be written: ENOSPC/);
  });

  test('goes on when nobody reads its standard output and error any more, and starts when they are closed', async () => {
    await using home = makeHome();
    mkdirSync(join(home.root, 's'), { mode: 0o700 });
    const child = spawn(process.execPath, [program, 'daemon', 'run'], {
      cwd: home.workdir,
      env: home.env,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    await once(child.stdout, 'data');
    child.stdout.destroy();
    child.stderr.destroy();
    // A config that is wrong is complained of.
    writeFileSync(join(home.paths.configDir, 'config.json'), '{"modle":1}');
    child.kill('SIGHUP');
    await runOk(home, ['run', 'say hi']);
    rmSync(join(home.paths.configDir, 'config.json'));
    expect(child.exitCode).toBeNull();
    await runOk(home, ['daemon', 'stop']);

    const shut = spawn('/bin/sh', ['-c', 'exec "$0" "$1" daemon run <&- >&- 2>&-', process.execPath, program], {
      cwd: home.workdir,
      env: home.env,
    });
    await vi.waitFor(() => expect(countStarts(home)).toBe(2), { timeout: 60_000 });
    await runOk(home, ['run', 'say hi']);
    expect(shut.exitCode).toBeNull();
  });

  test('logs what a provider complains of at debug level, without keys, headers and words', async () => {
    const canaries = {
      key: 'canary-in-config-1',
      header: 'canary-in-header-2',
      env: 'canary-in-env-3',
      other: 'canary-of-env-4',
      said: 'canary-that-was-said-5',
    };
    const refuse = (request: IncomingMessage, response: ServerResponse): void => {
      const seen = `${request.headers.authorization} ${String(request.headers['x-gateway'])} ${canaries.other}`;
      response.writeHead(401, { 'content-type': 'application/json', 'x-seen': seen });
      response.end(JSON.stringify({ error: { message: `not with ${seen}`, type: 'authentication_error' } }));
    };
    const server = createServer(refuse);
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const base_url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
    const near = { api: 'openai-chat', base_url, api_key: canaries.key, headers: { 'x-gateway': canaries.header } };
    const far = { api: 'openai-chat', base_url, api_key_env: 'FAR_KEY', headers: { 'x-gateway': canaries.header } };
    try {
      await using daemon = await startDaemon({
        config: { providers: { near, far } },
        env: { BERTH_LOG_LEVEL: 'debug', FAR_KEY: canaries.env, ELSE_API_KEY: canaries.other },
      });
      for (const model of ['near/m', 'far/m']) {
        const talk = await openTalk(daemon, undefined, { model });
        expect(await talk.run(canaries.said)).toBe('failed');
      }
      const text = readFileSync(join(daemon.paths.stateDir, 'berth.log'), 'utf8');
      expect(text).toMatch(/"event":"agent_end".*401/);
      for (const [name, canary] of Object.entries(canaries))
        expect({ name, isLogged: text.includes(canary) }).toEqual({ name, isLogged: false });
    } finally {
      server.closeAllConnections();
      server.close();
    }
  });
});

test('daemon logs reads on into older files, and follows through rotations', async () => {
  await using home = makeHome();
  mkdirSync(home.paths.stateDir);
  const file = join(home.paths.stateDir, 'berth.log');
  const log = createLogger(file, { level: 'info', secrets: () => [] });
  const long = 'x'.repeat(limits.loggedTextCharsMax);
  let count = 0;
  function rotateOnce(): void {
    for (const before = statSync(file).ino; statSync(file).ino === before; count++) log.info({ more: long }, `line ${count}`);
  }
  log.info('line 0');
  count++;
  rotateOnce();
  expect(existsSync(`${file}.1`)).toBe(true);
  const printed = (text: string): string[] => text.split('\n').flatMap((line) => /line \d+/.exec(line) ?? []);
  expect(printed(await runOk(home, ['daemon', 'logs', '-n', '3']))).toEqual([count - 3, count - 2, count - 1].map((at) => `line ${at}`));

  await using follow = startCommand(home, ['daemon', 'logs', '-n', '1', '-f']);
  await follow.untilError((text) => text.includes('following'));
  const from = count;
  rotateOnce();
  rotateOnce();
  await follow.until((text) => text.includes(`line ${count - 1} `));
  expect(printed(follow.stdout())).toEqual(Array.from({ length: count - from + 1 }, (_, at) => `line ${from - 1 + at}`));
});

import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, lstatSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { limits } from '../../src/protocol/limits.js';
import { missing } from '../needs.js';
import { startDaemon } from '../support/daemon.js';
import { startWithHeldModel } from '../support/held-model.js';
import { createFakeModel } from '../support/fake-model/server.js';
import { isRoot, launch, listeningPorts, makePlace, ping, strangerUid, type Place } from '../support/processes.js';
import { openRaw, type RawClient } from '../support/raw-client.js';
import { copyReadableProgram, type ReadableProgram } from '../support/readable-program.js';
import { begin, complaints, done, eventually, isEvent, listenTo, newSession, refusalOf, say, streamed } from '../support/wire.js';

const modeOf = (path: string): string => (statSync(path).mode & 0o777).toString(8);

describe('stopping', () => {
  test.each(['SIGTERM', 'SIGINT'] as const)(
    '%s in the middle of a run: it ends interrupted within five seconds and the queue is kept, paused',
    async (signal) => {
      await using daemon = await startDaemon({ wps: 200 });
      const client = await daemon.raw();
      const [talking, working] = [await newSession(client), await newSession(client)];
      const events = await listenTo(daemon, { session_id: '*' });
      await begin(client, talking, 'stream 100000 words');
      await begin(client, working, 'echo a b c d for 200 seconds');
      for (const sessionId of [talking, working]) done(await client.call('follow_up', { text: 'say later', session_id: sessionId }));
      const waiting = await daemon.raw();
      waiting.send({ id: 'w', type: 'prompt', payload: { text: 'stream 100000 words', if_busy: 'steer', session_id: talking } });
      await events.until(isEvent('message_update', { session_id: talking }));
      await events.until(isEvent('tool_execution_update', { session_id: working }));
      await events.until((line) => line.type === 'queue_update' && (line.payload.input as { kind: string }).kind === 'steer');
      const from = performance.now();
      process.kill(daemon.pid(), signal);
      await Promise.all([events.ended(), waiting.ended(), client.ended()]);
      expect(await daemon.terminate()).toBe(0);
      expect(performance.now() - from).toBeLessThan(5_000);
      expect(refusalOf(await waiting.until(({ id }) => id === 'w'))).toMatchObject({ code: 'command_rejected', message: 'aborted' });
      expect(readdirSync(dirname(daemon.paths.socket))).toEqual([]);
      expect(existsSync(`${daemon.paths.stateDir}/berth.db-wal`)).toBe(false);
      await daemon.start();
      const back = await daemon.raw();
      for (const sessionId of [talking, working]) {
        const state = done(await back.call('get_state', { session_id: sessionId }));
        expect(state).toMatchObject({
          run_state: 'idle',
          last_run: { outcome: 'interrupted' },
          queue: { paused: true },
          tools: [],
          partial: [],
        });
        expect(state.queue.inputs).toContainEqual(expect.objectContaining({ text: 'say later', kind: 'follow_up' }));
      }
      done(await back.call('resume_queue', { session_id: working }));
      await eventually(async () => {
        const { messages } = done(await back.call('get_messages', { session_id: working }));
        expect(messages.at(-1).text).toBe('later');
      });
      done(await back.call('clear_queue', { session_id: talking }));
      expect(complaints(daemon)).toEqual([]);
    },
  );

  test('a run that only waits for a person is not interrupted: it waits again under the same request', async () => {
    await using daemon = await startDaemon();
    const client = await daemon.raw();
    const sessionId = await newSession(client);
    const events = await listenTo(daemon, { session_id: sessionId });
    const runId = await begin(client, sessionId, 'ask me');
    const request = await events.until(isEvent('ui_request'));
    expect(await daemon.terminate()).toBe(0);
    await daemon.start();
    const back = await daemon.raw();
    expect(done(await back.call('get_state', { session_id: sessionId }))).toMatchObject({
      run_state: 'running',
      run_id: runId,
      requests: [{ request_id: request.payload.request_id }],
    });
    done(await back.call('abort', { session_id: sessionId }));
  });

  test('clients that do not read do not hold it up', async () => {
    await using daemon = await startDaemon();
    const client = await daemon.raw();
    const sessionId = await newSession(client);
    for (let i = 0; i < 20; i++) {
      const deaf = await listenTo(daemon, { session_id: '*', after: 0 });
      deaf.socket.pause();
      const asking = await daemon.raw();
      asking.socket.pause();
      asking.socket.write('{"id":"x","type":"list_sessions"}\n'.repeat(5_000));
    }
    await say(client, sessionId, 'stream 50000 words');
    const from = performance.now();
    expect(await daemon.terminate()).toBe(0);
    expect(performance.now() - from).toBeLessThan(5_000);
  });

  test('being told twice is fine', async () => {
    await using daemon = await startDaemon({ wps: 100 });
    const client = await daemon.raw();
    const sessionId = await newSession(client);
    await begin(client, sessionId, 'stream 100000 words');
    for (const signal of ['SIGTERM', 'SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.kill(daemon.pid(), signal);
    expect(await daemon.terminate()).toBe(0);
    expect(complaints(daemon)).toEqual([]);
  });

  test('while it drains, runs go on, new ones are refused, and the answer comes when the last has ended', async () => {
    await using daemon = await startWithHeldModel();
    const finishAnswer = daemon.answerNext(streamed(60), 'word30 ');
    daemon.answerNext('last words');
    const client = await daemon.raw();
    const [one, two] = [await newSession(client), await newSession(client)];
    await begin(client, one, 'many words');
    client.send({ id: 'drain', type: 'drain' });
    expect(done(await client.call('get_daemon')).draining).toBe(true);
    expect(refusalOf(await client.call('prompt', { text: 'x', session_id: two }))).toMatchObject({
      code: 'shutting_down',
      retryable: true,
    });
    expect(refusalOf(await client.call('resume_queue', { session_id: two })).code).toBe('shutting_down');
    done(await client.call('follow_up', { text: 'say last words', session_id: one }));
    finishAnswer();
    expect(done(await client.until(({ id }) => id === 'drain'))).toEqual({ command: 'drain' });
    const { messages } = done(await client.call('get_messages', { session_id: one }));
    expect(messages.at(-1).text).toBe('last words');
  });

  test('shutdown answers, then stops with exit code 0 and leaves no sockets', async () => {
    using place = makePlace();
    await using daemon = launch({ env: place.env() });
    await daemon.ready;
    const client = await openRaw(place.socket);
    expect(done(await client.call('shutdown'))).toEqual({ command: 'shutdown' });
    expect(await daemon.ended).toBe(0);
    expect(readdirSync(dirname(place.socket))).toEqual([]);
    expect(daemon.stderr()).toBe('');
  });
});

describe('signals', () => {
  test('SIGHUP reads the config again; a bad one is left aside and the daemon lives', async () => {
    await using daemon = await startDaemon({ config: { model: 'offline/one' } });
    const client = await daemon.raw();
    const path = join(daemon.paths.configDir, 'config.json');
    const model = async () => done(await client.call('get_daemon')).model as string;
    expect(await model()).toBe('offline/one');
    const before = await newSession(client);
    writeFileSync(path, '{"model":"offline/two"} // changed');
    process.kill(daemon.pid(), 'SIGHUP');
    await eventually(async () => {
      expect(await model()).toBe('offline/two');
    });
    for (const bad of ['{"modle":"offline/three"}', 'nonsense', '{"model":5}']) {
      const count = complaints(daemon).length;
      writeFileSync(path, bad);
      process.kill(daemon.pid(), 'SIGHUP');
      await eventually(() => {
        expect(complaints(daemon).length).toBe(count + 1);
      });
      expect(await model()).toBe('offline/two');
      expect(done(await client.call('get_daemon')).config_problem).toMatch(/config\.json/);
    }
    expect(complaints(daemon)[0]).toContain('modle');
    expect(done(await client.call('get_state', { session_id: before })).model).toBe('offline/one');
    const after = await newSession(client);
    expect(done(await client.call('get_state', { session_id: after })).model).toBe('offline/two');
    writeFileSync(path, '{}');
    process.kill(daemon.pid(), 'SIGHUP');
    await eventually(async () => {
      expect(await model()).toBe('offline/guide');
    });
  });

  test('SIGUSR1 opens no debugger, and nothing ever listens on TCP', async () => {
    using place = makePlace();
    await using daemon = launch({ env: place.env() });
    await daemon.ready;
    expect(listeningPorts(daemon.child.pid!)).toEqual([]);
    for (let i = 0; i < 3; i++) {
      daemon.child.kill('SIGUSR1');
      for (let n = 0; n < 20; n++) expect(await ping(place.socket)).toBe(true);
    }
    expect(listeningPorts(daemon.child.pid!)).toEqual([]);
    expect(daemon.stderr()).toBe('');
  });

  test('SIGPIPE, SIGUSR1, SIGUSR2 and SIGWINCH do not end it', async () => {
    using place = makePlace();
    await using daemon = launch({ env: place.env() });
    await daemon.ready;
    for (const signal of ['SIGPIPE', 'SIGUSR1', 'SIGUSR2', 'SIGWINCH', 'SIGCONT'] as const) daemon.child.kill(signal);
    for (let n = 0; n < 20; n++) expect(await ping(place.socket)).toBe(true);
  });

  test('a debugger that NODE_OPTIONS opens is closed', async () => {
    using place = makePlace();
    await using daemon = launch({ env: place.env({ NODE_OPTIONS: '--inspect=127.0.0.1:0' }) });
    await daemon.ready;
    expect(daemon.stderr()).toContain('Debugger listening');
    expect(listeningPorts(daemon.child.pid!)).toEqual([]);
  });
});

describe('a config that is wrong', () => {
  test.each([
    ['{"modle":"offline/x"}', 'did you mean model?'],
    ['nonsense', 'is not JSON'],
  ])('%s: refused with a sentence and exit code 1, before anything is touched', async (text, words) => {
    using place = makePlace();
    mkdirSync(place.configDir);
    writeFileSync(join(place.configDir, 'config.json'), text);
    await using daemon = launch({ env: place.env() });
    expect(await daemon.ended).toBe(1);
    expect(daemon.stderr()).toContain(words);
    expect(daemon.stderr()).toContain(join(place.configDir, 'config.json'));
    expect(daemon.stderr().trim().split('\n')).toHaveLength(1);
    expect(existsSync(join(place.stateDir, 'berth.db'))).toBe(false);
    expect(existsSync(place.socket)).toBe(false);
  });
});

describe('files', () => {
  test('with umask 000 directories are 0700 and everything else 0600', async () => {
    using place = makePlace();
    await using daemon = launch({ env: place.env(), through: ['sh', '-c', 'umask 000; exec "$@"', 'sh'] });
    await daemon.ready;
    const client = await openRaw(place.socket);
    const sessionId = await newSession(client);
    await say(client, sessionId, 'stream 200000 words');
    const seen: Record<string, string> = {};
    (function look(path: string): void {
      // What a link leads to, such as the installed packages and program, is not ours, and a link has no mode of its own.
      const found = lstatSync(path);
      if (found.isSymbolicLink() || (found.isFile() && found.nlink > 1)) return;
      seen[path.slice(place.root.length + 1)] = modeOf(path);
      if (statSync(path).isDirectory()) for (const name of readdirSync(path)) look(join(path, name));
    })(place.stateDir);
    for (const path of [dirname(place.socket), place.socket, `${place.socket}.events`])
      seen[path.slice(place.root.length + 1)] = modeOf(path);
    expect(seen).toMatchObject({
      state: '700',
      'state/berth.db': '600',
      'state/berth.db-wal': '600',
      'state/berth.db-shm': '600',
      'state/berth.lock': '600',
      'state/berth.log': '600',
      s: '700',
      's/b.sock': '600',
      's/b.sock.events': '600',
    });
    for (const [path, mode] of Object.entries(seen)) expect({ path, mode }).toEqual({ path, mode: expect.stringMatching(/^[67]00$/) });
    client.close();
  });

  test('a long way to the state directory is made, each part for us alone', async () => {
    using place = makePlace();
    const stateDir = join(place.root, 'a', 'b', 'c');
    await using daemon = launch({ env: place.env({ BERTH_STATE_DIR: stateDir }), through: ['sh', '-c', 'umask 000; exec "$@"', 'sh'] });
    await daemon.ready;
    for (const dir of [stateDir, dirname(stateDir), dirname(dirname(stateDir))]) expect(modeOf(dir)).toBe('700');
  });
});

describe('a state directory that cannot be used is a clear refusal, not a stack trace', () => {
  async function expectRefused(place: Place, changes: Record<string, string>, installed?: ReadableProgram): Promise<string> {
    await using daemon = launch({ env: place.env(changes), ...(installed && { as: { uid: strangerUid, installed } }) });
    expect(await daemon.ended).toBe(1);
    expect(daemon.stderr()).toMatch(/^berth: .+\n$/);
    expect(daemon.stderr()).not.toContain('    at ');
    return daemon.stderr();
  }

  test('a file in its place', async () => {
    using place = makePlace();
    writeFileSync(place.stateDir, 'mine');
    expect(await expectRefused(place, {})).toContain(place.stateDir);
    expect(readFileSync(place.stateDir, 'utf8')).toBe('mine');
  });

  test('a file above it', async () => {
    using place = makePlace();
    writeFileSync(join(place.root, 'file'), 'mine');
    expect(await expectRefused(place, { BERTH_STATE_DIR: join(place.root, 'file', 'state') })).toContain('file');
  });

  test('a place where nothing can be made', async () => {
    using place = makePlace();
    expect(await expectRefused(place, { BERTH_STATE_DIR: '/sys/berth/state' })).toContain('/sys/berth');
  });

  test('a directory that may not be written', async () => {
    using place = makePlace();
    mkdirSync(place.stateDir);
    mkdirSync(join(place.root, 'tmp'));
    chmodSync(join(place.root, 'tmp'), 0o777);
    chmodSync(place.stateDir, isRoot ? 0o755 : 0o500);
    const socket = join(place.root, 'tmp', 'run', 'b.sock');
    // Root may write everywhere, so another user has to try.
    using installed = isRoot ? copyReadableProgram() : undefined;
    expect(await expectRefused(place, { BERTH_SOCKET: socket }, installed)).toContain(place.stateDir);
    expect(readdirSync(place.stateDir)).toEqual([]);
  });

  test.each(['berth.db', 'berth.lock'])('a directory called %s in it', async (name) => {
    using place = makePlace();
    mkdirSync(join(place.stateDir, name), { recursive: true });
    expect(await expectRefused(place, {})).toContain(join(place.stateDir, name));
  });

  test('a text file called berth.db, which is kept', async () => {
    using place = makePlace();
    mkdirSync(place.stateDir);
    const text = 'dear diary\n'.repeat(100);
    writeFileSync(join(place.stateDir, 'berth.db'), text);
    expect(await expectRefused(place, {})).toContain('berth.db');
    expect(readFileSync(join(place.stateDir, 'berth.db'), 'utf8')).toBe(text);
  });
});

describe('strange accounts', () => {
  test('without HOME, when everything else is said, all is well', async () => {
    using place = makePlace();
    await using daemon = launch({ env: place.env({ HOME: undefined }), cwd: place.root });
    await daemon.ready;
    expect(await ping(place.socket)).toBe(true);
  });

  test.runIf(isRoot)('without HOME and without a name, a clear refusal says what to set', async () => {
    using place = makePlace();
    using installed = copyReadableProgram();
    chmodSync(place.root, 0o777);
    await using daemon = launch({
      env: place.env({
        HOME: undefined,
        BERTH_STATE_DIR: undefined,
        BERTH_CONFIG_DIR: undefined,
        BERTH_SOCKET: undefined,
        TMPDIR: place.root,
        USER: undefined,
        LOGNAME: undefined,
      }),
      as: { uid: strangerUid, installed },
    });
    const code = await daemon.ended;
    expect({ code, stderr: daemon.stderr() }).toEqual({ code: 1, stderr: expect.stringMatching(/^berth: .*HOME.*\n$/) });
  });

  test.runIf(isRoot)('a user without a name who says where things are is served', async () => {
    using place = makePlace();
    using installed = copyReadableProgram();
    chmodSync(place.root, 0o777);
    await using daemon = launch({ env: place.env(), as: { uid: strangerUid, installed } });
    await daemon.ready;
    const client = await openRaw(place.socket);
    await say(client, await newSession(client), 'say ahoy');
    client.close();
  });

  test('a home that cannot be written is a clear refusal', async () => {
    using place = makePlace();
    await using daemon = launch({ env: place.env({ HOME: '/sys', BERTH_STATE_DIR: undefined }) });
    expect(await daemon.ended).toBe(1);
    expect(daemon.stderr()).toMatch(/^berth: .*\/sys\/.*\n$/);
  });
});

test.skipIf(missing('bwrap'))('without /proc it refuses to start and says what it needs (needs bwrap)', async () => {
  using place = makePlace();
  await using daemon = launch({ env: place.env(), through: ['bwrap', '--dev-bind', '/', '/', '--tmpfs', '/proc'] });
  const code = await daemon.ended;
  expect({ code, stderr: daemon.stderr() }).toEqual({
    code: 1,
    stderr: expect.stringMatching(/^berth: berth needs Linux with \/proc.*\n$/),
  });
});

describe('nobody reads what it prints', () => {
  test('standard streams that are closed', async () => {
    using place = makePlace();
    await using daemon = launch({ env: place.env(), through: ['sh', '-c', 'exec "$@" <&- >&- 2>&-', 'sh'] });
    await eventually(async () => {
      expect(await ping(place.socket)).toBe(true);
    });
    const client = await openRaw(place.socket);
    await say(client, await newSession(client), 'say ahoy');
    client.close();
    // No socket took the place of a standard stream.
    expect(daemon.alive()).toBe(true);
  });

  test('a pipe without a reader', async () => {
    using place = makePlace();
    await using daemon = launch({ env: place.env() });
    daemon.child.stdout?.destroy();
    daemon.child.stderr?.destroy();
    await eventually(async () => {
      expect(await ping(place.socket)).toBe(true);
    });
    expect(daemon.alive()).toBe(true);
  });

  test('a log on a full disk', async () => {
    using place = makePlace();
    mkdirSync(place.stateDir, { mode: 0o700 });
    symlinkSync('/dev/full', join(place.stateDir, 'berth.log'));
    await using daemon = launch({ env: place.env({ BERTH_LOG_LEVEL: 'trace' }) });
    await daemon.ready;
    const client = await openRaw(place.socket);
    await say(client, await newSession(client), 'say ahoy');
    mkdirSync(place.configDir, { recursive: true });
    writeFileSync(join(place.configDir, 'config.json'), 'bad');
    for (let i = 0; i < 20; i++) daemon.child.kill('SIGHUP');
    for (let i = 0; i < 20; i++) expect((await client.call('ping')).type).toBe('pong');
    client.close();
    daemon.child.kill('SIGTERM');
    expect(await daemon.ended).toBe(0);
  });

  test('a log that cannot be opened', async () => {
    using place = makePlace();
    mkdirSync(join(place.stateDir, 'berth.log'), { recursive: true, mode: 0o700 });
    await using daemon = launch({ env: place.env() });
    await Promise.race([daemon.ready.catch(() => undefined), daemon.ended]);
    if (daemon.alive()) expect(await ping(place.socket)).toBe(true);
    else expect({ code: await daemon.ended, stderr: daemon.stderr() }).toEqual({ code: 1, stderr: expect.stringContaining('berth.log') });
  });
});

describe('descriptors run out', () => {
  test('who is connected goes on working, and others come in again when there is room', async () => {
    using place = makePlace();
    await using daemon = launch({ env: place.env(), through: ['sh', '-c', 'ulimit -n 128; exec "$@"', 'sh'] });
    await daemon.ready;
    const client = await openRaw(place.socket);
    const sessionId = await newSession(client);
    const crowd = await Promise.all(Array.from({ length: 500 }, () => openRaw(place.socket).catch(() => undefined)));
    const cpuBefore = cpuMs(daemon.child.pid!);
    for (let i = 0; i < 20; i++) await say(client, sessionId, 'call 2 tools');
    expect((await say(client, sessionId, 'say still here')).output).toBe('still here');
    expect(daemon.alive()).toBe(true);
    const busy = cpuMs(daemon.child.pid!) - cpuBefore;
    for (const one of crowd) one?.close();
    await eventually(async () => {
      expect(await ping(place.socket)).toBe(true);
    });
    const events = await openRaw(`${place.socket}.events`);
    expect((await events.call('subscribe', { session_id: sessionId, after: 0 })).ok).toBe(true);
    await say(client, sessionId, 'say and after');
    expect(busy).toBeLessThan(20_000);
    client.close();
    events.close();
    daemon.child.kill('SIGTERM');
    expect(await daemon.ended).toBe(0);
  });

  test('connections leave enough of them for tools and models that were never used before', async () => {
    using place = makePlace();
    await using fake = await createFakeModel();
    mkdirSync(place.configDir, { mode: 0o700 });
    const providers = { x: { api: 'openai-chat', base_url: fake.baseUrl('openai-chat'), api_key: 'k-0123456789' } };
    writeFileSync(join(place.configDir, 'config.json'), JSON.stringify({ model: 'x/m', providers }));
    await using daemon = launch({ env: place.env(), through: ['sh', '-c', 'ulimit -n 128; exec "$@"', 'sh'] });
    await daemon.ready;
    const client = await openRaw(place.socket);
    const doors = [place.socket, `${place.socket}.events`];
    const crowd = await Promise.all(Array.from({ length: 300 }, (_, i) => openRaw(doors[i % 2] ?? '').catch(() => undefined)));
    const sessionId = await newSession(client);
    fake.script(
      [
        {
          calls: [
            { name: 'echo', args: { text: 'x' } },
            { name: 'clock', args: {} },
          ],
        },
      ],
      [{ text: 'all of it' }],
    );
    expect((await say(client, sessionId, 'work')).output).toBe('all of it');
    for (const one of crowd) one?.close();
    client.close();
  });

  /** Processor time a process has used. */
  function cpuMs(pid: number): number {
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]!.split(' ');
    return (Number(fields[11]) + Number(fields[12])) * 10;
  }

  test('more clients than there may be are turned away, and those that are in notice nothing', async () => {
    using place = makePlace();
    await using daemon = launch({ env: place.env() });
    await daemon.ready;
    const first = await openRaw(place.socket);
    const crowd: RawClient[] = [];
    const served: boolean[] = [];
    // The daemon accepts one connection in each turn of its loop, and the kernel refuses (EAGAIN) those that do not fit into
    // the backlog: every batch is answered or turned away before the next one knocks.
    while (crowd.length < limits.connectionsMax + 50) {
      const batch = await Promise.all(Array.from({ length: 50 }, () => openRaw(place.socket)));
      crowd.push(...batch);
      served.push(
        ...(await Promise.all(
          batch.map((one) =>
            one.call('ping').then(
              () => true,
              () => false,
            ),
          ),
        )),
      );
    }
    expect(served.filter((is) => is)).toHaveLength(limits.connectionsMax - 1);
    expect(served.filter((is) => !is).length).toBeGreaterThanOrEqual(51);
    expect((await first.call('ping')).type).toBe('pong');
    for (const one of crowd) one.close();
    await eventually(async () => {
      expect(await ping(place.socket)).toBe(true);
    });
    first.close();
  });

  test('an idle daemon without a descriptor left does not spin', async () => {
    using place = makePlace();
    await using daemon = launch({ env: place.env(), through: ['sh', '-c', 'ulimit -n 96; exec "$@"', 'sh'] });
    await daemon.ready;
    const crowd = await Promise.all(Array.from({ length: 200 }, () => openRaw(place.socket).catch(() => undefined)));
    const held = crowd.filter((one) => one !== undefined);
    await Promise.all(held.map((one) => Promise.race([one.call('ping').catch(() => undefined), one.ended()])));
    const before = cpuMs(daemon.child.pid!);
    // The claim is about time, so time has to pass.
    await new Promise((resolve) => setTimeout(resolve, 1_000));
    expect(cpuMs(daemon.child.pid!) - before).toBeLessThan(300);
    for (const one of held) one.close();
    await eventually(async () => {
      expect(await ping(place.socket)).toBe(true);
    });
  });
});

test('times on the wire are UTC, whatever the zone and its clock changes', async () => {
  using place = makePlace();
  const stamps: string[] = [];
  for (const zone of ['America/St_Johns', 'Pacific/Kiritimati', 'UTC']) {
    await using daemon = launch({ env: place.env({ TZ: zone }) });
    await daemon.ready;
    const client = await openRaw(place.socket);
    const sessionId = await newSession(client, { title: zone });
    await say(client, sessionId, 'say ahoy');
    const { messages } = done(await client.call('get_messages', { session_id: sessionId }));
    stamps.push(...messages.map(({ created_at }: { created_at: string }) => created_at));
    expect(Math.abs(Date.parse(messages[1].created_at) - Date.now())).toBeLessThan(60_000);
    const { sessions } = done(await client.call('list_sessions'));
    expect(sessions[0].title).toBe(zone);
    client.close();
  }
  for (const stamp of stamps) expect(stamp).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
  expect(stamps).toEqual([...stamps].sort());
});

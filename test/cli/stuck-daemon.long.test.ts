import { mkdirSync } from 'node:fs';
import { createServer, type Server, type Socket } from 'node:net';
import { once } from 'node:events';
import { dirname, join } from 'node:path';
import { describe, expect, test, vi } from 'vitest';
import { connect, DaemonUnresponsive } from '../../src/client/index.js';
import { openSocket } from '../../src/client/unix-transport.js';
import { findLockHolder } from '../../src/machine/lock-holder.js';
import { limits } from '../../src/protocol/limits.js';
import { startDaemon } from '../support/daemon.js';
import { sized } from '../support/fault-sizes.js';
import { isAlive, makeHome, runCommand, runJsonLine, runOk } from './run-cli.js';

vi.setConfig({ testTimeout: 120_000 });

describe('a daemon that is stopped (kill -STOP)', () => {
  test('is named by its pid, with what to do, by every command', async () => {
    await using daemon = await startDaemon();
    const pid = daemon.pid();
    process.kill(pid, 'SIGSTOP');
    try {
      const commands = [['ls'], ['daemon', 'status'], ['daemon', 'start'], ['daemon', 'stop'], ['send', 'x'], ['new']];
      const ended = await Promise.all(commands.map((args) => runCommand(daemon, args)));
      for (const [at, { code, stdout, stderr }] of ended.entries()) {
        expect({ args: commands[at], code, stdout, stderr }).toMatchObject({
          code: 69,
          stdout: '',
          stderr: expect.stringMatching(`^berth: the daemon \\(pid ${pid}\\) does not answer: it is stopped; kill -CONT ${pid} .*--force`),
        });
      }
      const { code, stderr } = await runCommand(daemon, ['ls', '--json']);
      expect(code).toBe(69);
      expect(JSON.parse(stderr)).toEqual({ error: { code: 'daemon_unresponsive', message: expect.stringContaining(`pid ${pid}`) } });
    } finally {
      process.kill(pid, 'SIGCONT');
    }
    expect(await runJsonLine(daemon, ['daemon', 'status'])).toMatchObject({ pid });
  });

  test('is named by daemon reload, and held against neither its log nor the config', async () => {
    await using daemon = await startDaemon();
    const pid = daemon.pid();
    process.kill(pid, 'SIGSTOP');
    try {
      expect(await runCommand(daemon, ['daemon', 'reload'])).toMatchObject({
        code: 69,
        stdout: '',
        stderr: expect.stringMatching(`^berth: the daemon \\(pid ${pid}\\) does not answer: it is stopped`),
      });
      expect(await runOk(daemon, ['daemon', 'logs'])).toContain('ready');
      await runOk(daemon, ['config', 'set', 'limits.model_attempts', '4']);
      expect(await runOk(daemon, ['config', 'get', 'limits.model_attempts'])).toBe('4\n');
      await runOk(daemon, ['config', 'check']);
    } finally {
      process.kill(pid, 'SIGCONT');
    }
    expect(await runOk(daemon, ['daemon', 'reload'])).toBe('changed: limits.model_attempts\n');
  });

  test('is ended by daemon stop --force, and no other is; the next one starts', async () => {
    await using home = makeHome();
    await using other = await startDaemon();
    await runOk(home, ['daemon', 'start']);
    const { pid } = await runJsonLine(home, ['daemon', 'status']);
    expect(findLockHolder(home.paths.stateDir)).toMatchObject({ pid, stopped: false });
    process.kill(pid, 'SIGSTOP');
    expect(await runJsonLine(home, ['daemon', 'stop', '--force'])).toEqual({ stopped: true, killed: true, pid });
    expect(isAlive(pid)).toBe(false);
    expect(findLockHolder(home.paths.stateDir)).toBeUndefined();
    expect(isAlive(other.pid())).toBe(true);
    await runOk(home, ['daemon', 'start']);
    // One that answers is not killed.
    expect(await runJsonLine(home, ['daemon', 'stop', '--force'])).toMatchObject({ stopped: true, killed: false, runs: [] });
    expect(await runCommand(home, ['daemon', 'stop', '--force'])).toMatchObject({ code: 69, stdout: '' });
  });

  test('fails a call that is under way, so that an attached view can say so', async () => {
    await using daemon = await startDaemon();
    const berth = await daemon.connect();
    process.kill(daemon.pid(), 'SIGSTOP');
    try {
      await expect(berth.call('list_sessions')).rejects.toThrow(DaemonUnresponsive);
    } finally {
      process.kill(daemon.pid(), 'SIGCONT');
    }
    expect((await berth.call('list_sessions')).ok).toBe(true);
  });
});

/** A server that is not a daemon. */
async function serve(path: string, answer: (socket: Socket) => void): Promise<Server & AsyncDisposable> {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    answer(socket);
  });
  server.listen(path);
  await once(server, 'listening');
  return Object.assign(server, {
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  });
}

test('a daemon that only takes long is waited for with a word, and given up in the end', async () => {
  await using home = makeHome();
  await using _mute = await serve(home.paths.socket, (socket) => socket.resume());
  const from = performance.now();
  const { code, stderr } = await runCommand(home, ['ls']);
  expect(code).toBe(69);
  expect(stderr).toMatch(/^berth: the daemon on \S+ has not answered for 3 s; still waiting\n/);
  expect(stderr).toMatch(/has not answered for 1\d s; berth daemon stop --force ends it\n$/);
  expect(performance.now() - from).toBeGreaterThan(limits.unansweredMs);
  // Nobody holds the lock, so there is nobody to kill.
  expect(await runCommand(home, ['daemon', 'stop', '--force'])).toMatchObject({ code: 69 });
});

test('a full backlog means busy: the connection is made when there is room, and no daemon is started', async () => {
  await using daemon = await startDaemon();
  process.kill(daemon.pid(), 'SIGSTOP');
  const waiting: Socket[] = [];
  const { createConnection } = await import('node:net');
  let full = false;
  try {
    while (!full && waiting.length < 10_000) {
      const socket = createConnection(daemon.paths.socket);
      full = await Promise.race([once(socket, 'connect').then(() => false), once(socket, 'error').then(() => true)]).catch(() => true);
      waiting.push(socket);
    }
    expect(full).toBe(true);
    const opened = openSocket(daemon.paths.socket);
    process.kill(daemon.pid(), 'SIGCONT');
    (await opened).destroy();
  } finally {
    process.kill(daemon.pid(), 'SIGCONT');
    for (const socket of waiting) socket.destroy();
  }
});

test('a client of another version than the daemon says so in one line, and not to programs', async () => {
  await using home = makeHome();
  const { state_dir, config_dir } = { state_dir: home.paths.stateDir, config_dir: home.paths.configDir };
  const replies: Record<string, object> = {
    hello: { server: { name: 'berth', version: '9.9.9' }, protocol: '1', client_id: 'cli_1', log_id: 'log_1', state_dir, config_dir },
    list_sessions: { sessions: [], cursor: null },
    list_ui_requests: { requests: [] },
  };
  await using _newer = await serve(home.paths.socket, (socket) =>
    socket.on('data', (chunk) => {
      for (const line of chunk.toString().trim().split('\n')) {
        const { id, type } = JSON.parse(line) as { id: string; type: string };
        socket.write(`${JSON.stringify({ v: '1', id, ok: true, type, seq: 0, payload: replies[type] ?? {} })}\n`);
      }
    }),
  );
  const { code, stderr } = await runCommand(home, ['ls']);
  expect({ code, stderr }).toEqual({
    code: 0,
    stderr: expect.stringMatching(/^berth: this is berth \S+, but the daemon that runs is 9\.9\.9; berth daemon restart .*\n$/),
  });
  expect(await runCommand(home, ['ls', '--json'])).toMatchObject({ code: 0, stderr: '' });
});

describe('a daemon of other directories on the same socket', () => {
  test('is refused, whether the directory is named by a flag, a variable or another home', async () => {
    await using home = makeHome({ TMPDIR: '' });
    const env = { ...home.env, BERTH_SOCKET: '', BERTH_STATE_DIR: '', BERTH_CONFIG_DIR: '', TMPDIR: home.root };
    const usual = { ...home, env };
    await runOk(usual, ['new', '--title', 'mine']);
    const { state_dir, pid } = await runJsonLine(usual, ['daemon', 'status']);
    try {
      const elsewhere = join(home.root, 'elsewhere');
      mkdirSync(elsewhere);
      const commands = [['ls'], ['daemon', 'stop'], ['rm', '--yes', 'mine']];
      const others: [string[], Record<string, string>][] = [
        [['--state-dir', elsewhere], {}],
        [['--config-dir', elsewhere], {}],
        [[], { BERTH_STATE_DIR: elsewhere }],
        [[], { BERTH_CONFIG_DIR: elsewhere }],
        [[], { HOME: elsewhere }],
        [[], { XDG_STATE_HOME: elsewhere }],
      ];
      for (const [flags, changes] of others) {
        for (const command of sized({ short: [['daemon', 'stop']], long: commands, full: commands })) {
          const place = { ...usual, env: { ...env, ...changes } };
          expect({ flags, changes, ...(await runCommand(place, [...flags, ...command])) }).toMatchObject({
            code: 1,
            stdout: '',
            stderr: expect.stringMatching(
              /^berth: the daemon on \S+ (keeps its data|has its config) in \S+, not \S*elsewhere\S*; .*--socket/,
            ),
          });
        }
      }
      // A socket that is named says which daemon is meant.
      const named = {
        ...usual,
        env: { ...env, HOME: elsewhere, BERTH_SOCKET: join(home.root, `berth-${process.getuid?.()}`, 'berth.sock') },
      };
      expect(await runOk(named, ['ls'])).toContain('mine');
      expect(await runJsonLine(usual, ['daemon', 'status'])).toMatchObject({ state_dir, pid, sessions: 1 });
    } finally {
      await runOk(usual, ['daemon', 'stop']);
    }
  });

  test('a client of the library is told by its type', async () => {
    await using daemon = await startDaemon();
    const meant = { stateDir: '/nowhere' };
    await expect(connect({ paths: daemon.paths, meant })).rejects.toMatchObject({ name: 'OtherDaemon' });
  });
});

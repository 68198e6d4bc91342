import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { openRaw } from '../support/raw-client.js';
import { startUserManager, whyNoUserManager, type UserManager } from '../support/user-manager.js';
import { begin, done, eventually, newSession } from '../support/wire.js';

const why = whyNoUserManager();
const units = ['berth.service', 'berth.socket', 'berth-events.socket'];
const socketPath = '/run/user/0/berth/berth.sock';

async function installed(): Promise<UserManager> {
  const manager = await startUserManager();
  onTestFinished(() => manager[Symbol.asyncDispose]());
  const { code, stderr, stdout } = await manager.berth('daemon', 'install');
  expect({ code, stderr, stdout }).toMatchObject({ code: 0, stdout: expect.stringContaining(`systemd listens on ${socketPath}`) });
  return manager;
}

const statesOf = (manager: UserManager): Promise<string[]> => Promise.all(units.map((unit) => manager.show(unit, 'ActiveState')));
const pidOf = async (manager: UserManager): Promise<number> => Number(await manager.show('berth.service', 'MainPID'));

/** The command lines of all processes in the namespaces. */
function commandLines(manager: UserManager): string[] {
  const pids = readdirSync(manager.path('/proc')).filter((name) => /^\d+$/.test(name));
  return pids.flatMap((pid) => {
    try {
      return [
        readFileSync(manager.path(`/proc/${pid}/cmdline`), 'utf8')
          .replaceAll('\0', ' ')
          .trim(),
      ];
    } catch (error) {
      // Ended between the two looks.
      if (['ENOENT', 'ESRCH'].includes(String((error as NodeJS.ErrnoException).code))) return [];
      throw error;
    }
  });
}

async function pingIn(manager: UserManager): Promise<string> {
  const client = await openRaw(manager.path(socketPath));
  const { type } = await client.call('ping');
  client.close();
  return type;
}

describe.skipIf(why !== undefined)(`a real systemd --user (${why ?? 'is here'})`, () => {
  test('install listens, and the first client starts the daemon; status does not, and uninstall leaves the data', async () => {
    const manager = await installed();
    expect(await statesOf(manager)).toEqual(['inactive', 'active', 'active']);
    const idle = await manager.berth('daemon', 'status');
    expect(idle).toMatchObject({ code: 69, stderr: expect.stringContaining('systemd starts it for the next client') });
    expect(await statesOf(manager)).toEqual(['inactive', 'active', 'active']);
    expect((await manager.berth('new', '--title', 'kept')).code).toBe(0);
    expect(await statesOf(manager)).toEqual(['active', 'active', 'active']);
    const status = JSON.parse((await manager.berth('daemon', 'status', '--json')).stdout);
    expect(status).toMatchObject({ running: true, unit: 'berth.service', peer_check: 'directory', pid: await pidOf(manager) });
    expect(await manager.show('berth.service', 'StatusText')).toMatch(/^berth .* ready$/);
    expect(await manager.berth('daemon', 'install')).toMatchObject({ code: 0 });
    expect(await pidOf(manager)).toBe(status.pid);

    expect(await manager.berth('daemon', 'uninstall')).toMatchObject({ code: 0, stdout: expect.stringContaining('removed berth.service') });
    expect(readdirSync(join(manager.home, '.config/systemd/user'))).not.toContain('berth.service');
    expect(existsSync(manager.path(socketPath))).toBe(false);
    const listed = await manager.berth('ls');
    expect(listed).toMatchObject({ code: 0, stdout: expect.stringContaining('kept') });
    // The daemon that this started is not the service.
    const refused = await manager.berth('daemon', 'install');
    expect(refused).toMatchObject({ code: 1, stderr: expect.stringContaining('berth daemon install --now') });
    expect(await manager.berth('daemon', 'install', '--now')).toMatchObject({ code: 0 });
    expect((await manager.berth('ls')).stdout).toContain('kept');
    expect(JSON.parse((await manager.berth('daemon', 'status', '--json')).stdout).unit).toBe('berth.service');
  });

  test('after kill -9 systemd starts it again, clients wait meanwhile, and nothing of its commands is left', async () => {
    const manager = await installed();
    const client = await openRaw(manager.path(socketPath));
    const sessionId = await newSession(client, { cwd: manager.home });
    done(await client.call('update_session', { session_id: sessionId, approval_mode: 'full' }));
    await begin(client, sessionId, 'run setsid sleep 4711 & sleep 4711');
    await eventually(() => {
      expect(commandLines(manager)).toContain('sleep 4711');
    });
    done(await client.call('follow_up', { session_id: sessionId, text: 'say later' }));
    const before = await pidOf(manager);
    await manager.run('kill', '-9', String(before));
    await client.ended();
    expect(await pingIn(manager)).toBe('pong');
    expect(await pidOf(manager)).not.toBe(before);
    expect(await manager.show('berth.service', 'NRestarts')).toBe('1');
    expect(commandLines(manager)).not.toContain('sleep 4711');
    const back = await openRaw(manager.path(socketPath));
    expect(done(await back.call('get_queue', { session_id: sessionId })).inputs).toMatchObject([{ text: 'say later' }]);
    back.close();
  });

  test('clients that connect during a restart wait instead of failing', async () => {
    const manager = await installed();
    await pingIn(manager);
    const before = await pidOf(manager);
    const restarted = manager.berth('daemon', 'restart');
    let isOver = false;
    void restarted.then(() => (isOver = true));
    let answered = 0;
    while (!isOver) {
      const client = await openRaw(manager.path(socketPath));
      // One that was accepted just before the end is told so; whoever waits in the backlog is served by the next daemon.
      const [reply] = await Promise.allSettled([client.call('ping')]);
      if (reply.status === 'fulfilled') answered++;
      client.close();
    }
    expect(await restarted).toMatchObject({ code: 0, stdout: expect.stringContaining(`restarted (pid ${before} before`) });
    expect(answered).toBeGreaterThan(0);
    expect(await pidOf(manager)).not.toBe(before);
  });

  test('a stop is not fought, neither by systemd nor by a client that connects; the next command starts the service', async () => {
    const manager = await installed();
    await pingIn(manager);
    expect(await manager.berth('daemon', 'stop')).toMatchObject({ code: 0, stdout: expect.stringMatching(/^stopped \(pid \d+\)/) });
    expect(await statesOf(manager)).toEqual(['inactive', 'inactive', 'inactive']);
    await expect(openRaw(manager.path(socketPath))).rejects.toThrow('ENOENT');
    expect((await manager.berth('ls')).code).toBe(0);
    expect(await statesOf(manager)).toEqual(['active', 'active', 'active']);
    expect(JSON.parse((await manager.berth('daemon', 'status', '--json')).stdout).unit).toBe('berth.service');
  });

  test('a daemon that hangs is ended by the watchdog and started again', async () => {
    const manager = await installed();
    const dropIn = join(manager.home, '.config/systemd/user/berth.service.d');
    mkdirSync(dropIn);
    writeFileSync(join(dropIn, 'short.conf'), '[Service]\nWatchdogSec=1\nTimeoutAbortSec=1\n');
    await manager.run('systemctl', '--user', 'daemon-reload');
    await pingIn(manager);
    const before = await pidOf(manager);
    await manager.run('systemctl', '--user', 'kill', '--kill-whom=main', '--signal=STOP', 'berth.service');
    await eventually(async () => {
      expect(await manager.show('berth.service', 'NRestarts')).toBe('1');
    });
    expect(await pingIn(manager)).toBe('pong');
    expect(await pidOf(manager)).not.toBe(before);
  });

  test('a config that is wrong is a refusal with its reason, and counts as soon as it is mended', async () => {
    const manager = await installed();
    const config = join(manager.home, '.config/berth/config.json');
    mkdirSync(join(manager.home, '.config/berth'), { recursive: true });
    writeFileSync(config, '{"modle":"offline/guide"}');
    await manager.berth('ls');
    expect(await statesOf(manager)).toContain('failed');
    const refused = await manager.berth('daemon', 'start');
    expect(refused).toMatchObject({ code: 69, stderr: expect.stringContaining('modle') });
    writeFileSync(config, '{}');
    expect(await manager.berth('daemon', 'start')).toMatchObject({ code: 0 });
    expect(await statesOf(manager)).toEqual(['active', 'active', 'active']);
    expect(readFileSync(join(manager.home, 'systemd.log'), 'utf8')).not.toMatch(/berth.*(Unknown|Failed to parse)/);
  });
});

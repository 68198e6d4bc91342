import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { missing } from '../needs.js';
import { launch, makePlace, ping } from '../support/processes.js';
import { openRaw } from '../support/raw-client.js';
import { activate, receiveNotifications } from '../support/service.js';
import { done, isEvent, newSession, say } from '../support/wire.js';

const units = fileURLToPath(new URL('../../systemd', import.meta.url));
const inOrder = ['--fdname=command:events'];

describe.skipIf(missing('systemd-socket-activate'))('socket activation (needs systemd-socket-activate)', () => {
  test.each([
    ['commands first', false],
    ['events first', true],
  ])('descriptors are mapped by their names: %s', async (_what, isReversed) => {
    using place = makePlace();
    const sockets = [place.socket, `${place.socket}.events`];
    const names = ['command', 'events'];
    if (isReversed) [sockets, names].forEach((list) => list.reverse());
    await using daemon = await activate(place, sockets, [`--fdname=${names.join(':')}`]);
    const client = await openRaw(place.socket);
    const sessionId = await newSession(client);
    const events = await openRaw(`${place.socket}.events`);
    events.send({ id: 's', type: 'subscribe', payload: { session_id: sessionId, after: 0 } });
    await say(client, sessionId, 'say ahoy');
    await events.until(isEvent('agent_end'));
    expect(done(await client.call('get_daemon'))).toMatchObject({ socket: place.socket, unit: null, pid: daemon.child.pid });
    client.close();
    events.close();
  });

  test('clients that connect while it starts are all answered', async () => {
    using place = makePlace();
    await using _daemon = await activate(place, [place.socket, `${place.socket}.events`], inOrder);
    const answers = await Promise.all(
      Array.from({ length: 200 }, async () => {
        const client = await openRaw(place.socket);
        const { type } = await client.call('ping');
        client.close();
        return type;
      }),
    );
    expect(answers).toEqual(Array(200).fill('pong'));
  });

  test('the sockets of systemd stay when the daemon stops, and no child inherits descriptors or variables', async () => {
    using place = makePlace();
    await using daemon = await activate(place, [place.socket, `${place.socket}.events`], inOrder, { BERTH_UNIT: 'berth.service' });
    const client = await openRaw(place.socket);
    expect(done(await client.call('get_daemon')).unit).toBe('berth.service');
    const pid = daemon.child.pid!;
    for (const descriptor of [3, 4]) {
      const flags = /^flags:\s+([0-7]+)$/m.exec(readFileSync(`/proc/${pid}/fdinfo/${descriptor}`, 'utf8'))?.[1];
      // O_CLOEXEC.
      expect(parseInt(flags!, 8) & 0o2000000).toBe(0o2000000);
    }
    const cwd = join(place.root, 'work');
    mkdirSync(cwd);
    const sessionId = await newSession(client, { cwd });
    done(await client.call('update_session', { session_id: sessionId, approval_mode: 'full' }));
    done(await client.call('prompt', { session_id: sessionId, text: 'run env', wait: true }));
    const { messages } = done(await client.call('get_messages', { session_id: sessionId }));
    const told = JSON.stringify(messages);
    expect(told).toContain('PATH=');
    expect(told).not.toMatch(/LISTEN_|BERTH_UNIT|NOTIFY/);
    client.close();
    daemon.child.kill('SIGTERM');
    expect(await daemon.ended).toBe(0);
    expect(readdirSync(dirname(place.socket)).sort()).toEqual(['b.sock', 'b.sock.events']);
  });

  test.each([
    ['no name', ['s', 'e'], [], 'no socket with FileDescriptorName=command'],
    ['one socket', ['s'], ['--fdname=command'], 'no socket with FileDescriptorName=events (the names are "command")'],
    ['a name twice', ['s', 'e'], ['--fdname=command:command'], 'more than one socket with FileDescriptorName=command'],
    ['names the wrong way round', ['e', 's'], inOrder, 'but clients connect to'],
    ['another path', ['s', 'other'], inOrder, 'but clients connect to'],
  ])('%s is a clear refusal with exit code 1', async (_what, sockets, options, words) => {
    using place = makePlace();
    const paths: Record<string, string> = { s: place.socket, e: `${place.socket}.events`, other: `${place.socket}.other` };
    const listening = sockets.flatMap((name) => paths[name] ?? []);
    await using daemon = await activate(place, listening, options);
    const client = await openRaw(listening[0]!);
    expect(await daemon.ended).toBe(1);
    expect(daemon.stderr()).toContain(words);
    expect(daemon.stderr()).toContain('berth.socket');
    client.close();
  });

  test('a datagram socket is refused as the wrong type', async () => {
    using place = makePlace();
    await using daemon = await activate(place, [place.socket, `${place.socket}.events`], [...inOrder, '-d']);
    // A datagram starts it, too.
    const send = 'import socket,sys; socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM).sendto(b"x", sys.argv[1])';
    expect(spawnSync('python3', ['-c', send, place.socket]).status).toBe(0);
    expect(await daemon.ended).toBe(1);
    expect(daemon.stderr()).toContain('no listening Unix stream socket');
  });

  test('a socket file that is gone is told, with what makes it again', async () => {
    using place = makePlace();
    await using daemon = await activate(place, [place.socket, `${place.socket}.events`], inOrder);
    rmSync(`${place.socket}.events`);
    const client = await openRaw(place.socket);
    expect(await daemon.ended).toBe(1);
    expect(daemon.stderr()).toMatch(/b\.sock\.events of systemd is gone; systemctl --user restart/);
    client.close();
  });
});

test('descriptors that were passed to another process are none of ours: the daemon binds its own sockets', async () => {
  using place = makePlace();
  const env = place.env({ LISTEN_PID: '1', LISTEN_FDS: '2', LISTEN_FDNAMES: 'command:events' });
  await using daemon = launch({ env });
  await daemon.ready;
  expect(await ping(place.socket)).toBe(true);
  daemon.child.kill('SIGTERM');
  expect(await daemon.ended).toBe(0);
  expect(existsSync(place.socket)).toBe(false);
});

describe.skipIf(missing('systemd-notify'))('a service manager is told (needs systemd-notify)', () => {
  test('ready, reloading, a config that is wrong, and stopping', async () => {
    using place = makePlace();
    await using manager = await receiveNotifications(join(place.root, 'notify'));
    await using daemon = launch({ env: place.env({ NOTIFY_SOCKET: manager.socket }) });
    await daemon.ready;
    expect(await manager.next((told) => told.startsWith('READY=1'))).toMatch(/^READY=1\nSTATUS=berth .* ready$/);
    mkdirSync(place.configDir, { recursive: true });
    writeFileSync(join(place.configDir, 'config.json'), '{"modle":1}');
    daemon.child.kill('SIGHUP');
    expect(await manager.next((told) => told.startsWith('RELOADING=1'))).toMatch(/\nMONOTONIC_USEC=\d+$/);
    expect(await manager.next((told) => told.startsWith('READY=1'))).toContain('modle');
    daemon.child.kill('SIGTERM');
    await manager.next((told) => told.startsWith('STOPPING=1'));
    expect(await daemon.ended).toBe(0);
    expect(daemon.stderr()).toBe('');
  });

  test('the watchdog is fed by the event loop: a daemon that hangs feeds nothing', async () => {
    using place = makePlace();
    await using manager = await receiveNotifications(join(place.root, 'notify'));
    await using daemon = launch({ env: place.env({ NOTIFY_SOCKET: manager.socket, WATCHDOG_USEC: '100000' }) });
    await daemon.ready;
    const isFed = (told: string): boolean => told === 'WATCHDOG=1';
    await manager.next(isFed);
    await manager.next(isFed);
    daemon.child.kill('SIGSTOP');
    const before = manager.messages.length;
    for (let i = 0; i < 20; i++)
      spawnSync('systemd-notify', ['--', `X_COUNT=${i}`], { env: { ...process.env, NOTIFY_SOCKET: manager.socket } });
    await manager.next((told) => told === 'X_COUNT=19');
    // One child may have been on its way.
    expect(manager.messages.slice(before).filter(isFed).length).toBeLessThanOrEqual(1);
    daemon.child.kill('SIGCONT');
    await manager.next(isFed);
  });

  test('a watchdog of another process is not fed', async () => {
    using place = makePlace();
    await using manager = await receiveNotifications(join(place.root, 'notify'));
    await using daemon = launch({ env: place.env({ NOTIFY_SOCKET: manager.socket, WATCHDOG_USEC: '1000', WATCHDOG_PID: '1' }) });
    await daemon.ready;
    await manager.next((told) => told.startsWith('READY=1'));
    daemon.child.kill('SIGTERM');
    await manager.next((told) => told.startsWith('STOPPING=1'));
    expect(manager.messages).not.toContain('WATCHDOG=1');
  });
});

test.skipIf(missing('systemd-analyze'))('the units are without fault for systemd (needs systemd-analyze)', () => {
  using place = makePlace();
  const files = readdirSync(units).map((name) => join(units, name));
  const { status, stderr } = spawnSync('systemd-analyze', ['--user', 'verify', ...files], {
    env: { ...process.env, XDG_RUNTIME_DIR: place.root },
    encoding: 'utf8',
  });
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
});

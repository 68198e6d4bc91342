import {
  chmodSync,
  chownSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { spawnSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { createServer } from 'node:net';
import { once } from 'node:events';
import { dirname, join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { openRaw } from '../support/raw-client.js';
import { isRoot, launch, makePlace, ping, strangerUid } from '../support/processes.js';
import { copyReadableProgram, type ReadableProgram } from '../support/readable-program.js';
import { done, eventually } from '../support/wire.js';

const modeOf = (path: string): string => (lstatSync(path).mode & 0o777).toString(8);

describe('a socket directory that is not ours alone is refused, and left as it is', () => {
  test.each([0o777, 0o770, 0o750, 0o755, 0o701, 0o710])('mode %o', async (mode) => {
    using place = makePlace();
    const dir = dirname(place.socket);
    mkdirSync(dir);
    chmodSync(dir, mode);
    await using daemon = launch({ env: place.env() });
    expect(await daemon.ended).toBe(1);
    expect(daemon.stderr()).toContain(dir);
    expect(daemon.stderr()).toContain(mode.toString(8));
    expect(daemon.stderr().trim().split('\n')).toHaveLength(1);
    expect(modeOf(dir)).toBe(mode.toString(8));
    expect(readdirSync(dir)).toEqual([]);
  });

  test('a symbolic link, even to a directory of ours', async () => {
    using place = makePlace();
    const dir = dirname(place.socket);
    mkdirSync(`${dir}-real`, { mode: 0o700 });
    symlinkSync(`${dir}-real`, dir);
    await using daemon = launch({ env: place.env() });
    expect(await daemon.ended).toBe(1);
    expect(daemon.stderr()).toMatch(/symbolic link/);
    expect(readdirSync(`${dir}-real`)).toEqual([]);
  });

  test('a link that leads nowhere', async () => {
    using place = makePlace();
    symlinkSync(join(place.root, 'nowhere'), dirname(place.socket));
    await using daemon = launch({ env: place.env() });
    expect(await daemon.ended).toBe(1);
    expect(daemon.stderr()).toContain(dirname(place.socket));
    expect(existsSync(join(place.root, 'nowhere'))).toBe(false);
  });

  test('a file', async () => {
    using place = makePlace();
    writeFileSync(dirname(place.socket), 'mine');
    await using daemon = launch({ env: place.env() });
    expect(await daemon.ended).toBe(1);
    expect(daemon.stderr()).toContain(dirname(place.socket));
    expect(readFileSync(dirname(place.socket), 'utf8')).toBe('mine');
  });

  test.each([
    ['is shared by design', 0o1777, undefined],
    ['holds files of others', 0o755, 'notes.txt'],
  ])('a directory that %s: chmod is not advised, but a directory of its own', async (_what, mode, file) => {
    using place = makePlace();
    const dir = dirname(place.socket);
    mkdirSync(dir);
    if (file !== undefined) writeFileSync(join(dir, file), 'mine');
    chmodSync(dir, mode);
    await using daemon = launch({ env: place.env() });
    expect(await daemon.ended).toBe(1);
    expect(daemon.stderr()).not.toContain('chmod');
    expect(daemon.stderr()).toContain(`--socket ${join(dir, 'berth', 'berth.sock')}`);
  });

  test.runIf(isRoot)('the directory of another user', async () => {
    using place = makePlace();
    const dir = dirname(place.socket);
    mkdirSync(dir, { mode: 0o700 });
    chownSync(dir, strangerUid, strangerUid);
    await using daemon = launch({ env: place.env() });
    expect(await daemon.ended).toBe(1);
    expect(daemon.stderr()).toContain(`belongs to user ${strangerUid}`);
    expect(statSync(dir).uid).toBe(strangerUid);
  });
});

describe('the length of the path', () => {
  /** A socket path whose event socket has exactly so many bytes. */
  function pathOf(root: string, bytes: number, unit: string): string {
    const rest = bytes - Buffer.byteLength(join(root, 'd', '.events')) - 1;
    const name = unit.repeat(Math.floor(rest / Buffer.byteLength(unit)));
    return join(root, 'd', name + 'x'.repeat(rest - Buffer.byteLength(name)) + 's');
  }

  test.each(['x', 'é', '😀'])('107 bytes work and the files are exactly there (%s)', async (unit) => {
    using place = makePlace();
    const socket = pathOf(place.root, 107, unit);
    expect(Buffer.byteLength(`${socket}.events`)).toBe(107);
    await using daemon = launch({ env: place.env({ BERTH_SOCKET: socket }) });
    await daemon.ready;
    expect(
      readdirSync(dirname(socket))
        .map((name) => join(dirname(socket), name))
        .sort(),
    ).toEqual([socket, `${socket}.events`]);
    expect(await ping(socket)).toBe(true);
  });

  test.each([108, 109, 150, 300])('%i bytes are refused with a word, and nothing is made', async (bytes) => {
    using place = makePlace();
    const socket = pathOf(place.root, bytes, 'x');
    await using daemon = launch({ env: place.env({ BERTH_SOCKET: socket }) });
    expect(await daemon.ended).toBe(1);
    expect(daemon.stderr()).toContain('107');
    expect(daemon.stderr()).toContain(String(bytes));
    expect(existsSync(dirname(socket))).toBe(false);
  });
});

describe('what is in the way', () => {
  test('a socket that a killed daemon left is no obstacle: the next start takes no longer than the first', async () => {
    using place = makePlace();
    const took: number[] = [];
    // A busy machine makes some starts longer, and not all of them.
    const isNoLonger = ([first = 0, ...later]: number[]): boolean => Math.min(...later) < Math.max(1_000, 2 * first);
    for (let round = 0; round < 8 && !isNoLonger(took); round++) {
      await using daemon = launch({ env: place.env() });
      const from = performance.now();
      await daemon.ready;
      took.push(performance.now() - from);
      expect(await ping(place.socket)).toBe(true);
      daemon.child.kill('SIGKILL');
      await daemon.ended;
      expect(existsSync(place.socket)).toBe(true);
    }
    expect({ took, isNoLonger: isNoLonger(took) }).toMatchObject({ isNoLonger: true });
  });

  test.each(['', '.events'])('a file at the socket path%s is refused and kept', async (suffix) => {
    using place = makePlace();
    mkdirSync(dirname(place.socket), { mode: 0o700 });
    writeFileSync(place.socket + suffix, 'mine');
    await using daemon = launch({ env: place.env() });
    expect(await daemon.ended).toBe(1);
    expect(daemon.stderr()).toContain(`cannot make the socket ${place.socket}${suffix}: a file that is not a socket is in the way`);
    expect(readFileSync(place.socket + suffix, 'utf8')).toBe('mine');
    expect(readdirSync(dirname(place.socket))).toHaveLength(1);
  });

  test('a directory at the socket path is refused and kept', async () => {
    using place = makePlace();
    mkdirSync(place.socket, { mode: 0o700, recursive: true });
    chmodSync(dirname(place.socket), 0o700);
    await using daemon = launch({ env: place.env() });
    expect(await daemon.ended).toBe(1);
    expect(daemon.stderr()).toContain('is in the way');
    expect(statSync(place.socket).isDirectory()).toBe(true);
  });

  test('a link at the socket path is refused, and what it points to is kept', async () => {
    using place = makePlace();
    mkdirSync(dirname(place.socket), { mode: 0o700 });
    writeFileSync(join(place.root, 'target'), 'mine');
    symlinkSync(join(place.root, 'target'), place.socket);
    await using daemon = launch({ env: place.env() });
    expect(await daemon.ended).toBe(1);
    expect(readFileSync(join(place.root, 'target'), 'utf8')).toBe('mine');
  });

  test('the socket of another program that answers is not taken away from it', async () => {
    using place = makePlace();
    mkdirSync(dirname(place.socket), { mode: 0o700 });
    const server = createServer((socket) => socket.on('error', () => undefined).end('other\n')).listen(place.socket);
    await once(server, 'listening');
    await using daemon = launch({ env: place.env() });
    expect(await daemon.ended).toBe(1);
    expect(daemon.stderr()).toContain(place.socket);
    expect(existsSync(place.socket)).toBe(true);
    server.close();
  });

  test('a daemon with another state directory on the same socket is refused, and the first one notices nothing', async () => {
    using place = makePlace();
    await using first = launch({ env: place.env() });
    await first.ready;
    const client = await openRaw(place.socket);
    await using second = launch({ env: place.env({ BERTH_STATE_DIR: `${place.stateDir}-2` }) });
    expect(await second.ended).toBe(1);
    expect(second.stderr()).toContain(place.socket);
    expect((await client.call('ping')).type).toBe('pong');
    client.close();
    expect(await ping(place.socket)).toBe(true);
    // The refused one holds on to nothing.
    await using third = launch({ env: place.env({ BERTH_STATE_DIR: `${place.stateDir}-2`, BERTH_SOCKET: `${place.socket}2` }) });
    await third.ready;
    expect(done(await (await openRaw(`${place.socket}2`)).call('get_daemon')).state_dir).toBe(`${place.stateDir}-2`);
  });

  test('a second daemon on the same state directory is refused, wherever its socket is', async () => {
    using place = makePlace();
    await using first = launch({ env: place.env() });
    await first.ready;
    for (const socket of [place.socket, join(place.root, 'other', 'b.sock')]) {
      await using second = launch({ env: place.env({ BERTH_SOCKET: socket }) });
      expect(await second.ended).toBe(1);
      expect(second.stderr()).toMatch(new RegExp(`^berth: a daemon already runs on ${place.stateDir}.*\n$`));
    }
    expect(await ping(place.socket)).toBe(true);
    expect(existsSync(`${place.socket}.events`)).toBe(true);
  });
});

describe('where there is no runtime directory', () => {
  test.each([
    ['unset', undefined],
    ['empty', ''],
    ['relative', 'run/user'],
  ])('XDG_RUNTIME_DIR %s: a directory of our own below the temporary one', async (_, value) => {
    using place = makePlace();
    await using daemon = launch({
      env: place.env({ BERTH_SOCKET: undefined, XDG_RUNTIME_DIR: value, TMPDIR: place.root }),
      cwd: place.root,
    });
    await daemon.ready;
    const dir = join(place.root, `berth-${process.getuid!()}`);
    expect(modeOf(dir)).toBe('700');
    expect(await ping(join(dir, 'berth.sock'))).toBe(true);
    expect(existsSync(join(place.root, 'run'))).toBe(false);
  });

  test('with it: a directory of our own inside', async () => {
    using place = makePlace();
    const runtime = join(place.root, 'run');
    mkdirSync(runtime, { mode: 0o700 });
    await using daemon = launch({ env: place.env({ BERTH_SOCKET: undefined, XDG_RUNTIME_DIR: runtime }) });
    await daemon.ready;
    expect(modeOf(join(runtime, 'berth'))).toBe('700');
    expect(readdirSync(join(runtime, 'berth')).sort()).toEqual(['berth.sock', 'berth.sock.events']);
  });

  test('the one below the temporary directory is checked like any other', async () => {
    using place = makePlace();
    const dir = join(place.root, `berth-${process.getuid!()}`);
    mkdirSync(dir);
    chmodSync(dir, 0o777);
    await using daemon = launch({ env: place.env({ BERTH_SOCKET: undefined, TMPDIR: place.root }) });
    expect(await daemon.ended).toBe(1);
    expect(daemon.stderr()).toContain(dir);
    expect(modeOf(dir)).toBe('777');
  });

  test('one that cannot be used is a clear refusal', async () => {
    using place = makePlace();
    writeFileSync(join(place.root, 'file'), '');
    await using daemon = launch({ env: place.env({ BERTH_SOCKET: undefined, XDG_RUNTIME_DIR: join(place.root, 'file') }) });
    expect(await daemon.ended).toBe(1);
    expect(daemon.stderr()).toContain(join(place.root, 'file', 'berth'));
    expect(daemon.stderr()).not.toContain('    at ');
  });
});

describe('a runtime directory that goes away while the daemon runs', () => {
  test.each([
    ['is removed', (dir: string) => rmSync(dir, { recursive: true, force: true })],
    ['is removed with the one above', (dir: string) => rmSync(dirname(dir), { recursive: true, force: true })],
    ['is moved away', (dir: string) => renameSync(dir, `${dir}-${randomUUID()}`)],
    ['is emptied', (dir: string) => readdirSync(dir).forEach((name) => rmSync(join(dir, name)))],
    ['loses its command socket', (dir: string) => rmSync(join(dir, 'b.sock'))],
    ['loses its event socket', (dir: string) => rmSync(join(dir, 'b.sock.events'))],
  ])('when it %s both sockets come back, or the daemon ends, within ten seconds', async (_, spoil) => {
    using place = makePlace();
    const socket = join(place.root, 'run', 'berth', 'b.sock');
    await using daemon = launch({ env: place.env({ BERTH_SOCKET: socket }) });
    await daemon.ready;
    const client = await openRaw(socket);
    for (let round = 0; round < 2 && daemon.alive(); round++) {
      // In one moment, as far as the daemon can see: it would make anew what is still being removed.
      daemon.child.kill('SIGSTOP');
      spoil(dirname(socket));
      daemon.child.kill('SIGCONT');
      await eventually(async () => {
        if (!daemon.alive()) return;
        expect(await ping(socket)).toBe(true);
        const events = await openRaw(`${socket}.events`);
        expect((await events.call('subscribe', { session_id: '*' })).ok).toBe(true);
        events.close();
      }, 10_000);
      // Who was connected stays so.
      if (daemon.alive()) expect((await client.call('ping')).type).toBe('pong');
    }
    if (!daemon.alive()) expect(await daemon.ended).toBe(0);
    else expect(modeOf(dirname(socket))).toBe('700');
    client.close();
  });

  test('when something else stands there afterwards, it is not taken away, and the daemon ends cleanly or comes back', async () => {
    using place = makePlace();
    await using daemon = launch({ env: place.env() });
    await daemon.ready;
    daemon.child.kill('SIGSTOP');
    rmSync(dirname(place.socket), { recursive: true });
    writeFileSync(dirname(place.socket), 'mine');
    daemon.child.kill('SIGCONT');
    await eventually(() => {
      expect(daemon.alive()).toBe(false);
    });
    expect({ code: await daemon.ended, log: readFileSync(join(place.stateDir, 'berth.log'), 'utf8') }).toMatchObject({ code: 0 });
    expect(readFileSync(dirname(place.socket), 'utf8')).toBe('mine');
  });

  test('a daemon that stops does not remove sockets that are no longer its own', async () => {
    using place = makePlace();
    await using daemon = launch({ env: place.env() });
    await daemon.ready;
    const server = createServer();
    // Somebody puts a socket of theirs where ours was, faster than the daemon can look.
    daemon.child.kill('SIGSTOP');
    rmSync(place.socket);
    server.listen(place.socket);
    await once(server, 'listening');
    daemon.child.kill('SIGTERM');
    daemon.child.kill('SIGCONT');
    await daemon.ended;
    const theirs = existsSync(place.socket);
    server.close();
    expect(theirs).toBe(true);
  });
});

describe.runIf(isRoot)('another user', () => {
  let installed: ReadableProgram;
  beforeAll(() => {
    installed = copyReadableProgram();
    return () => installed[Symbol.dispose]();
  });
  const attempt = (socket: string): string => {
    const script = `const c=require('net').createConnection(${JSON.stringify(socket)});c.on('connect',()=>c.write('{"id":"a","type":"get_daemon"}\\n'));c.on('data',d=>{console.log('ANSWER '+d);process.exit()});c.on('error',e=>{console.log(e.code);process.exit()});c.on('close',()=>{console.log('closed');process.exit()})`;
    return spawnSync(installed.node, ['-e', script], {
      uid: strangerUid,
      gid: strangerUid,
      encoding: 'utf8',
      cwd: '/',
      env: {},
    }).stdout.trim();
  };

  test('is kept out by the modes', async () => {
    using place = makePlace();
    await using daemon = launch({ env: place.env() });
    await daemon.ready;
    for (const path of [place.socket, `${place.socket}.events`]) expect(attempt(path)).toBe('EACCES');
  });

  test('is kept out even where the modes were loosened by hand, and they are set right', async () => {
    using place = makePlace();
    await using daemon = launch({ env: place.env() });
    await daemon.ready;
    for (const path of [place.socket, `${place.socket}.events`]) {
      chmodSync(dirname(path), 0o777);
      chmodSync(path, 0o666);
      expect(attempt(path)).not.toContain('ANSWER');
      expect([modeOf(dirname(path)), modeOf(path)]).toEqual(['700', '600']);
      expect(attempt(path)).toBe('EACCES');
    }
    expect(await ping(place.socket)).toBe(true);
  });

  test('finds nothing open where the directory was given to another user: nobody is served until it is ours again', async () => {
    using place = makePlace();
    await using daemon = launch({ env: place.env() });
    await daemon.ready;
    chownSync(dirname(place.socket), strangerUid, strangerUid);
    expect(attempt(place.socket)).not.toContain('ANSWER');
    expect(await ping(place.socket)).toBe(false);
    chownSync(dirname(place.socket), 0, 0);
    expect(await ping(place.socket)).toBe(true);
  });
});

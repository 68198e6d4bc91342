import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { createBubblewrap, findBubblewrap, toBubblewrapArgs } from '../../src/sandbox/bubblewrap.js';
import type { Confinement } from '../../src/sandbox/port.js';
import { readProcesses } from '../../src/sandbox/process-table.js';
import { missing } from '../needs.js';
import { ampleGraceMs, confine, follow, runIn, survivors, testProcesses, uniqueSeconds } from '../support/commands.js';
import { makeTempDir } from '../support/temp-dir.js';

const here = { cwd: '/', bubblewrap: { disablesUserns: true, bindsDescriptors: true } };

/** A workspace, and beside it a place that is not part of it. */
function makePlaces() {
  const dir = makeTempDir();
  const root = realpathSync(dir.path);
  const [workspace, outside] = [join(root, 'workspace'), join(root, 'outside')];
  mkdirSync(workspace);
  mkdirSync(outside);
  return { workspace, outside, root, [Symbol.dispose]: () => dir[Symbol.dispose]() };
}

async function say(workspace: string, command: string, changes: Partial<Confinement> = {}): Promise<string> {
  const { exit, output } = await runIn(testProcesses(workspace), command, workspace, confine('sandbox', workspace, changes));
  return `${output}${exit.code}`;
}

test('without bubblewrap the Debian package is named', () => {
  using dir = makeTempDir();
  expect(findBubblewrap({ directories: [dir.path] })).toEqual({ missing: expect.stringContaining('install the package bubblewrap') });
});

test('a bwrap in a workspace, or one that others may write, is not started', () => {
  using dir = makeTempDir();
  const canary = dir.file('canary');
  writeFileSync(dir.file('bwrap'), `#!/bin/sh\ntouch ${canary}\nexit 7\n`, { mode: 0o755 });
  expect(findBubblewrap({ directories: [dir.path], workspaces: [dir.path] })).toHaveProperty('missing');
  chmodSync(dir.file('bwrap'), 0o777);
  expect(findBubblewrap({ directories: [dir.path] })).toHaveProperty('missing');
  expect(existsSync(canary)).toBe(false);
});

test('where user namespaces are off, that is what is said', () => {
  using dir = makeTempDir();
  writeFileSync(dir.file('bwrap'), '#!/bin/sh\necho "bwrap: No permissions to create new namespace" >&2\nexit 1\n', { mode: 0o755 });
  const found = findBubblewrap({ directories: [dir.path] });
  expect(found).toEqual({ missing: expect.stringMatching(/package bubblewrap .*user namespaces.*switched off/) });
});

test('it is tried out once, and again after a while if it did not work', () => {
  using dir = makeTempDir();
  writeFileSync(dir.file('bwrap'), `#!/bin/sh\necho tried >> ${dir.file('log')}\nexit 1\n`, { mode: 0o755 });
  let nowMs = 0;
  const find = createBubblewrap({ directories: [dir.path] }, () => nowMs);
  const tries = (): number => readFileSync(dir.file('log'), 'utf8').split('\n').length;
  find();
  const first = tries();
  find();
  expect(tries()).toBe(first);
  nowMs = 3_600_000;
  writeFileSync(dir.file('bwrap'), `#!/bin/sh\necho tried >> ${dir.file('log')}\nexit 7\n`, { mode: 0o755 });
  expect(find()).toHaveProperty('path');
  const second = tries();
  nowMs = 7_200_000;
  find();
  expect(tries()).toBe(second);
});

test('deeper paths come later, and of the same path hidden wins over read-only over writable', () => {
  using places = makePlaces();
  const { workspace, root } = places;
  mkdirSync(join(workspace, 'sub/deep'), { recursive: true });
  writeFileSync(join(workspace, '.env'), '');
  const { args, pinned } = toBubblewrapArgs(
    confine('sandbox', workspace, {
      readOnly: [join(workspace, 'sub/deep')],
      hidden: [root, join(workspace, '.env'), join(workspace, 'gone')],
    }),
    { ...here, cwd: workspace },
  );
  const line = args.join(' ');
  // The root lies in /tmp, which is private anyway.
  expect(line).not.toContain(`--tmpfs ${root}`);
  expect(line).not.toContain('gone');
  expect(pinned).toEqual([workspace, join(workspace, 'sub')]);
  expect(args.indexOf('/tmp')).toBeLessThan(args.indexOf(workspace));
  expect(line).toContain(`--bind-fd 3 ${workspace}`);
  expect(line.indexOf(`--bind-fd 3 ${workspace}`)).toBeLessThan(line.indexOf(`--ro-bind /dev/null ${workspace}/.env`));
  expect(line).toContain(`--ro-bind ${workspace}/sub/deep ${workspace}/sub/deep`);
  const both = toBubblewrapArgs(confine('sandbox', workspace, { readOnly: [workspace], hidden: [workspace] }), here);
  expect(both.args.join(' ')).not.toMatch(new RegExp(`--bind(-fd \\d+)? ${workspace}`));
});

test('in a namespace nothing is hidden and nothing read-only', () => {
  const { args } = toBubblewrapArgs(confine('namespace', '/', { hidden: ['/etc'], readOnly: ['/etc'] }), here);
  expect(args.join(' ')).toBe('--dev-bind / / --proc /proc --unshare-pid --die-with-parent --new-session --as-pid-1 --chdir /');
});

describe.skipIf(missing('bwrap'))('a sandbox (needs bwrap)', () => {
  let server: Server;
  let port: number;
  beforeAll(async () => {
    server = createServer((socket) => socket.end('hello')).listen(0, '127.0.0.1');
    await once(server, 'listening');
    port = (server.address() as { port: number }).port;
  });
  afterAll(() => void server.close());

  test.for([
    ['bash', 'echo x > OUT'],
    ['bash appending', 'echo x >> OUT'],
    ['mkdir', 'mkdir OUT'],
    ['cp', 'cp /etc/passwd OUT'],
    ['ln', 'ln /etc/passwd OUT'],
    ['python', '/usr/bin/python3 -c \'open("OUT", "w")\''],
    ['node', `${process.execPath} -e 'require("fs").writeFileSync("OUT", "x")'`],
    ['git', 'git init -q OUT'],
    ['mv', 'touch inside; mv inside OUT'],
    ['a link', 'ln -s OUT link; echo x > link'],
    ['a way through /proc', 'echo x > /proc/self/root/OUT'],
    ['a rename of the parent', 'mv ../outside ../elsewhere'],
  ] as const)('a write outside with %s fails, and nothing is there', async ([, command]) => {
    using places = makePlaces();
    const outside = `/var/tmp/berth-out-${uniqueSeconds()}`;
    const said = await say(places.workspace, command.replaceAll('OUT', outside));
    expect(said).not.toMatch(/(^|\n)0$/);
    expect(existsSync(outside)).toBe(false);
    expect(readdirSync(places.root).sort()).toEqual(['outside', 'workspace']);
  });

  test('the workspace and /tmp can be written, and /tmp is its own', async () => {
    using places = makePlaces();
    const name = `berth-private-${uniqueSeconds()}`;
    const said = await say(places.workspace, `echo one > file && cat file && echo two > /tmp/${name} && cat "$TMPDIR/${name}" && ls ..`);
    expect(said).toBe('one\ntwo\nworkspace\n0');
    expect(readFileSync(join(places.workspace, 'file'), 'utf8')).toBe('one\n');
    expect(existsSync(join(tmpdir(), name))).toBe(false);
  });

  test('without writable roots its directory is there and cannot be written', async () => {
    using places = makePlaces();
    writeFileSync(join(places.workspace, 'file'), 'here');
    const said = await say(places.workspace, 'cat file; echo x > file', { writable: [] });
    expect(said).toMatch(/^here.*Read-only file system/s);
    expect(readFileSync(join(places.workspace, 'file'), 'utf8')).toBe('here');
  });

  test('/tmp and /dev/shm are bounded, and the rest of /dev and /run cannot be written', async () => {
    using places = makePlaces();
    const said = await say(
      places.workspace,
      'df --output=size -B1 /tmp /dev/shm | tail -2; for f in /dev/x /run/x /proc/sys/kernel/hostname /proc/sysrq-trigger; do echo x > $f && echo wrote $f; done 2>/dev/null; true',
    );
    expect(said.replaceAll(' ', '')).toBe(`${1024 ** 3}\n${256 * 1024 ** 2}\n0`);
  });

  test('what is hidden is empty, even by another name, and cannot be written', async () => {
    using places = makePlaces();
    const { workspace } = places;
    mkdirSync(join(workspace, 'secrets'));
    writeFileSync(join(workspace, 'secrets/key'), 'canary');
    writeFileSync(join(workspace, '.env'), 'canary');
    symlinkSync('secrets', join(workspace, 'link'));
    symlinkSync('.env', join(workspace, 'env-link'));
    const hidden = [join(workspace, 'secrets'), join(workspace, '.env'), join(workspace, 'link')];
    const said = await say(
      workspace,
      `ls -A secrets link; cat .env env-link secrets/key /proc/self/root${workspace}/.env /proc/self/cwd/.env; cp .env copy && cat copy;
       cp -r secrets all; grep -r canary .; touch secrets/new; mv secrets other; rm -rf .env; umount secrets; true`,
      { hidden },
    );
    expect(said).not.toContain('canary');
    expect(said).toMatch(/Permission denied/);
    expect(readFileSync(join(workspace, 'secrets/key'), 'utf8')).toBe('canary');
    expect(readdirSync(join(workspace, 'secrets'))).toEqual(['key']);
  });

  test('what is read-only stays so, also when its directory is moved away', async () => {
    using places = makePlaces();
    const { workspace } = places;
    mkdirSync(join(workspace, '.git/hooks'), { recursive: true });
    writeFileSync(join(workspace, '.git/config'), 'old');
    const readOnly = [join(workspace, '.git/hooks'), join(workspace, '.git/config')];
    const said = await say(
      workspace,
      'echo x > .git/hooks/pre-commit; echo x > .git/config; mv .git g; mkdir -p .git/hooks && echo x > .git/hooks/pre-commit; rm -rf .git; echo fine > .git/HEAD; cat .git/HEAD',
      { readOnly },
    );
    expect(said).toMatch(/fine\n0$/);
    expect(readdirSync(join(workspace, '.git')).sort()).toEqual(['HEAD', 'config', 'hooks']);
    expect(readdirSync(join(workspace, '.git/hooks'))).toEqual([]);
    expect(readFileSync(join(workspace, '.git/config'), 'utf8')).toBe('old');
  });

  test('a workspace inside of what is hidden works, and what is beside it is gone', async () => {
    // Not below /tmp, where all is private: this is about what is covered.
    const folder = `/var/tmp/berth-hidden-${uniqueSeconds()}`;
    const workspace = join(folder, 'work');
    mkdirSync(workspace, { recursive: true });
    writeFileSync(join(folder, 'secret'), 'canary');
    writeFileSync(join(workspace, '.env'), 'canary');
    try {
      const said = await say(workspace, 'echo new > file; cat .env; ls -A ..; cat ../secret; echo x > ../x', {
        hidden: [folder, join(workspace, '.env')],
      });
      expect(said).not.toContain('canary');
      expect(said).toContain('work\n');
      expect(readFileSync(join(workspace, 'file'), 'utf8')).toBe('new\n');
      expect(readdirSync(folder).sort()).toEqual(['secret', 'work']);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  test('a socket in a hidden directory cannot be reached', async () => {
    using places = makePlaces();
    const folder = join(places.workspace, 'state');
    mkdirSync(folder);
    const listener = createServer((socket) => socket.end('hello')).listen(join(folder, 'sock'));
    await once(listener, 'listening');
    const connect = `/usr/bin/python3 -c 'import socket; s = socket.socket(socket.AF_UNIX); s.connect("state/sock"); print(s.recv(5))'`;
    expect(await say(places.workspace, connect)).toContain('hello');
    expect(await say(places.workspace, connect, { hidden: [folder] })).not.toContain('hello');
    expect(await say(places.workspace, connect, { hidden: [join(folder, 'sock')] })).not.toContain('hello');
    listener.close();
  });

  test.for([
    ['TCP to this machine', 's = socket.create_connection(("127.0.0.1", PORT), 2); print(s.recv(5))'],
    ['IPv6', 'socket.create_connection(("::1", PORT), 2); print("hello")'],
    ['UDP', 's = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); s.sendto(b"x", ("192.0.2.1", 53)); print("hello")'],
    ['a name', 'socket.getaddrinfo("example.com", 80); print("hello")'],
    ['a raw socket', 'socket.socket(socket.AF_INET, socket.SOCK_RAW, 1); print("hello")'],
    ['an abstract socket', 's = socket.socket(socket.AF_UNIX); s.connect("\\0berth-abstract-PORT"); print("hello")'],
  ] as const)('without the network, %s fails', async ([, code]) => {
    using places = makePlaces();
    const listener = spawn(
      '/usr/bin/python3',
      [
        '-c',
        `import socket\ns = socket.socket(socket.AF_UNIX)\ns.bind("\\0berth-abstract-${port}")\ns.listen()\nprint("up", flush=True)\ns.accept()`,
      ],
      { stdio: ['ignore', 'pipe', 'inherit'] },
    );
    await once(listener.stdout, 'data');
    const said = await say(places.workspace, `/usr/bin/python3 -c 'import socket; ${code.replaceAll('PORT', String(port))}'`);
    listener.kill('SIGKILL');
    await once(listener, 'exit');
    expect(said).toMatch(/error.*\n1$/is);
    expect(said).not.toMatch(/^b?'?hello/m);
  });

  test('with the network, this machine is reached and there is a resolver', async () => {
    using places = makePlaces();
    const said = await say(
      places.workspace,
      `test -r /etc/resolv.conf && /usr/bin/python3 -c 'import socket; print(socket.create_connection(("127.0.0.1", ${port}), 20).recv(5))'`,
      { network: true },
    );
    expect(said).toBe("b'hello'\n0");
  });

  test('other processes are not there, and neither is the environment of the daemon', async () => {
    using places = makePlaces();
    const processes = testProcesses(places.workspace, { OPENAI_API_KEY: 'canary', BERTH_TOKEN: 'canary' });
    const { output } = await runIn(
      processes,
      `ls /proc | grep -c '^[0-9]'; cat /proc/[0-9]*/environ | tr '\\0' '\\n' | grep -c canary; kill -9 ${process.pid}; ls /proc/${process.pid}`,
      places.workspace,
      confine('sandbox', places.workspace),
    );
    expect(Number(output.split('\n')[0])).toBeLessThan(8);
    expect(output.split('\n')[1]).toBe('0');
    expect(output).toMatch(/No such process/);
  });

  test('nothing brings more rights', async () => {
    using places = makePlaces();
    const said = await say(
      places.workspace,
      `grep -E 'CapEff|CapBnd|NoNewPrivs' /proc/self/status | tr '\\n' ' '
       for c in 'sudo -n id' 'su -c id' 'mount -t tmpfs x /mnt' 'umount /tmp' 'unshare -r id' 'unshare -Ur mount -t tmpfs x /mnt' 'chroot / id' 'mknod dev b 8 0' 'chown 1:1 .' 'nsenter -t 1 -a id' 'swapoff -a' 'hostname x' 'date -s 2000-01-01'; do
         timeout 5 $c >/dev/null 2>&1 && echo "$c worked"
       done; true`,
    );
    expect(said.replaceAll('\t', ' ')).toBe('CapEff: 0000000000000000 CapBnd: 0000000000000000 NoNewPrivs: 1 0');
  });

  test('it dies with its parent, and 100 commands leave no mount, directory or process', async () => {
    using places = makePlaces();
    const { workspace } = places;
    vi.stubEnv('TMPDIR', places.root);
    const processes = testProcesses(workspace, {}, { killGraceMs: ampleGraceMs });
    const look = async () => ({
      // Of the mounts of the whole machine, which other programs change, those that a sandbox could have left.
      mounts: readFileSync('/proc/self/mountinfo', 'utf8')
        .split('\n')
        .filter((line) => [places.root, '/newroot', '/oldroot', 'bubblewrap'].some((sign) => line.includes(sign))),
      temporary: readdirSync(places.root),
      zombies: (await readProcesses(0)).filter(({ parent, dead }) => parent === process.pid && dead),
    });
    const before = await look();
    const seconds = uniqueSeconds();
    const codes: number[] = [];
    for (let i = 0; i < 10; i++) {
      const ran = Array.from({ length: 10 }, async (_, j) => {
        const { command, until } = await follow(
          processes,
          j % 2 ? `exit ${j}` : `sleep ${seconds} & echo up; wait`,
          workspace,
          confine('sandbox', workspace),
        );
        if (j % 2 === 0) await until('up').then(() => command.kill());
        return (await command.exited).code;
      });
      codes.push(...(await Promise.all(ran)));
    }
    expect(codes).toEqual(Array.from({ length: 100 }, (_, i) => (i % 2 ? i % 10 : 143)));
    const after = await look();
    expect(after.mounts).toEqual([]);
    expect(after.zombies).toEqual([]);
    expect(after.temporary).toEqual(before.temporary);
    expect(survivors(String(seconds))).toEqual([]);
    expect(processes.running()).toEqual([]);
  });

  test("when it cannot be set up, that is an error and not the command's", async () => {
    using places = makePlaces();
    const { workspace } = places;
    const nowhere = runIn(testProcesses(workspace), 'echo ran', '/nowhere/at/all', confine('sandbox', workspace));
    await expect(nowhere).rejects.toThrow(/The sandbox could not be set up: bwrap: Can't chdir/);
  });
});

import { execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, existsSync, mkdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import { createConnection, createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import { isAlive } from '../cli/run-cli.js';
import { findProgram } from '../needs.js';

/** Where an sshd that root starts wants an empty directory; its package makes it only when the system boots. */
const emptyDir = '/run/sshd';
const listenAttempts = 5;

/** A real sshd on a free port of 127.0.0.1, for whoever runs the tests, with a host key, a user key and a home of its own below `dir`. */
export interface TestSshd extends AsyncDisposable {
  /** A way of its own for one client. */
  openRoad(name: string): Promise<Road>;
}

/** The network between one client and an sshd, which can be cut. */
export interface Road extends AsyncDisposable {
  /** The program that connects to the host `box`; for `ssh` of a transport or BERTH_SSH. */
  readonly ssh: string;
  /** The ssh processes of this client that still run. */
  sshs(): number[];
  /** Cuts all connections once so many more bytes have come from the sshd, and no byte later. Resolves when that is done. */
  cutAfter(bytes: number): Promise<void>;
  /** Forgets what `cutAfter` was asked for. */
  leaveAlone(): void;
}

export async function startSshd(dir: string): Promise<TestSshd> {
  const home = join(dir, 'home');
  mkdirSync(home, { recursive: true, mode: 0o700 });
  for (const key of ['host_key', 'user_key'])
    execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-C', key, '-f', join(dir, key)]);
  writeFileSync(join(dir, 'authorized_keys'), readFileSync(join(dir, 'user_key.pub')), { mode: 0o600 });
  writeFileSync(join(dir, 'known_hosts'), `box ${readFileSync(join(dir, 'host_key.pub'), 'utf8')}`);
  const program = findProgram('sshd');
  if (program === undefined) throw new Error('there is no sshd');
  const madeEmptyDir = userInfo().uid === 0 && !existsSync(emptyDir);
  if (madeEmptyDir) mkdirSync(emptyDir, { mode: 0o755 });
  const { child, port } = await listen(program, dir, home);
  const roads: Road[] = [];

  return {
    async openRoad(name) {
      const road = await openRoad(join(dir, name), dir, port);
      roads.push(road);
      return road;
    },
    async [Symbol.asyncDispose]() {
      for (const road of roads) await road[Symbol.asyncDispose]();
      if (child.exitCode === null) {
        const exited = once(child, 'exit');
        child.kill();
        await exited;
      }
      if (madeEmptyDir) rmdirSync(emptyDir);
    },
  };
}

/** Another process may take a free port before sshd does. */
async function listen(program: string, dir: string, home: string): Promise<{ child: ChildProcess; port: number }> {
  for (let attempt = 1; ; attempt++) {
    const port = await findFreePort();
    const config = join(dir, 'sshd_config');
    const lines = sshdConfig(dir, home, port);
    writeFileSync(config, lines.join('\n'));
    // Since OpenSSH 9.8 sshd shuts out who hangs up early, which is what these clients do.
    const patient = [...lines, 'PerSourcePenalties no', ''].join('\n');
    writeFileSync(`${config}.patient`, patient);
    if (isUnderstood(program, `${config}.patient`)) writeFileSync(config, patient);
    const child = spawn(program, ['-D', '-e', '-f', config], { stdio: ['ignore', 'ignore', 'pipe'] });
    const said = await untilSaid(child, /Server listening/);
    if (said === undefined) return { child, port };
    if (attempt === listenAttempts || !said.includes('already in use')) throw new Error(`sshd does not start: ${said}`);
  }
}

function sshdConfig(dir: string, home: string, port: number): string[] {
  return [
    `Port ${port}`,
    'ListenAddress 127.0.0.1',
    `HostKey ${join(dir, 'host_key')}`,
    `AuthorizedKeysFile ${join(dir, 'authorized_keys')}`,
    `SetEnv HOME=${home}`,
    'PidFile none',
    'StrictModes no',
    'UsePAM no',
    'PermitRootLogin prohibit-password',
    'PasswordAuthentication no',
    'KbdInteractiveAuthentication no',
    'PermitUserRC no',
    'MaxStartups 100',
    'UseDNS no',
    '',
  ];
}

function isUnderstood(program: string, config: string): boolean {
  try {
    execFileSync(program, ['-t', '-f', config], { stdio: 'ignore' });
    return true;
  } catch (error) {
    if (error instanceof Error && 'status' in error) return false;
    throw error;
  }
}

/** Undefined once a child has said this on standard error; what it said when it ended without. */
function untilSaid(child: ChildProcess, words: RegExp): Promise<string | undefined> {
  let said = '';
  return new Promise((resolve, reject) => {
    child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      said = (said + text).slice(-4096);
      if (words.test(said)) resolve(undefined);
    });
    child.once('error', reject).once('close', () => resolve(said));
  });
}

async function findFreePort(): Promise<number> {
  const server = await listening(createServer());
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

async function listening(server: Server): Promise<Server> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return server;
}

async function openRoad(own: string, dir: string, sshdPort: number): Promise<Road> {
  const pairs = new Set<[near: Socket, far: Socket]>();
  let left = Infinity;
  let onCut: (() => void) | undefined;

  function cut(): void {
    left = Infinity;
    for (const [near, far] of pairs) {
      // What is to come before the cut does come.
      near.destroySoon();
      far.destroy();
    }
    pairs.clear();
    onCut?.();
    onCut = undefined;
  }

  const server = await listening(
    createServer((near) => {
      const far = createConnection(sshdPort, '127.0.0.1');
      const pair: [Socket, Socket] = [near, far];
      pairs.add(pair);
      near.on('data', (chunk) => far.write(chunk));
      far.on('data', (chunk: Buffer) => {
        if (!pairs.has(pair)) return;
        const piece = chunk.subarray(0, left);
        left -= piece.length;
        near.write(piece);
        if (left <= 0) cut();
      });
      for (const [one, other] of [pair, [far, near]] as const) {
        one.on('error', () => one.destroy());
        one.on('close', () => {
          pairs.delete(pair);
          other.destroySoon();
        });
      }
    }),
  );

  mkdirSync(own, { recursive: true });
  const config = join(own, 'ssh_config');
  const settings = [
    'Host box',
    'HostName 127.0.0.1',
    `Port ${(server.address() as AddressInfo).port}`,
    `User ${userInfo().username}`,
    'HostKeyAlias box',
    `UserKnownHostsFile ${join(dir, 'known_hosts')}`,
    'GlobalKnownHostsFile none',
    'StrictHostKeyChecking yes',
    `IdentityFile ${join(dir, 'user_key')}`,
    'IdentitiesOnly yes',
    'IdentityAgent none',
    '',
  ];
  writeFileSync(config, settings.join('\n'));
  const pids = join(own, 'pids');
  writeFileSync(pids, '');
  const ssh = join(own, 'ssh');
  writeFileSync(ssh, `#!/bin/sh\necho $$ >> '${pids}'\nexec ssh -F '${config}' "$@"\n`);
  chmodSync(ssh, 0o755);

  return {
    ssh,
    sshs: () => readPids(pids).filter(isAlive),
    cutAfter(bytes) {
      left = bytes;
      const done = new Promise<void>((resolve) => (onCut = resolve));
      if (left === 0) cut();
      return done;
    },
    leaveAlone() {
      left = Infinity;
      onCut = undefined;
    },
    async [Symbol.asyncDispose]() {
      cut();
      if (!server.listening) return;
      server.close();
      await once(server, 'close');
    },
  };
}

/** Processes that a script has written down, a line for each. */
export function readPids(file: string): number[] {
  return readFileSync(file, 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map(Number);
}

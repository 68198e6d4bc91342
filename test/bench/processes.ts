import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { cleanEnv, startDaemon, type DaemonSetup, type TestDaemon } from '../support/daemon.js';
import { openLinesWhenUp } from './line-client.js';

/** Everything of a bench, of floors as well as of daemons, lies below one directory: on one disk, and gone at the end. */
const root = mkdtempSync(join(tmpdir(), 'berth-bench-'));
const running = new Set<() => void>();
let places = 0;

process.once('exit', () => {
  for (const kill of running) kill();
  rmSync(root, { recursive: true, force: true });
});
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1));

export function newPlace(): string {
  const place = join(root, String(++places));
  mkdirSync(place);
  return place;
}

export async function startBenchDaemon(setup: DaemonSetup = {}): Promise<TestDaemon> {
  const daemon = await startDaemon({ root: newPlace(), ...setup });
  const pid = daemon.pid();
  const kill = (): void => {
    if (existsSync(`/proc/${pid}`)) process.kill(pid, 'SIGKILL');
  };
  running.add(kill);
  return {
    ...daemon,
    async [Symbol.asyncDispose]() {
      await daemon[Symbol.asyncDispose]();
      running.delete(kill);
      rmSync(daemon.root, { recursive: true, force: true });
    },
  };
}

export interface Floor extends AsyncDisposable {
  socket: string;
  pid: number;
}

/** Starts a program of `floors/` with a socket path of its own; it may not be listening yet. */
export function spawnFloor(name: string): Floor {
  const place = newPlace();
  const socket = join(place, 'floor.sock');
  const file = fileURLToPath(new URL(`floors/${name}.js`, import.meta.url));
  const child = spawn(process.execPath, [file, socket], { env: cleanEnv(place), stdio: ['ignore', 'ignore', 'inherit'] });
  return {
    socket,
    pid: child.pid ?? 0,
    [Symbol.asyncDispose]: stopper(child, () => rmSync(place, { recursive: true, force: true })),
  };
}

export async function startFloor(name: string): Promise<Floor> {
  const floor = spawnFloor(name);
  (await openLinesWhenUp(floor.socket))[Symbol.dispose]();
  return floor;
}

/** Makes sure that a child does not outlive the bench, and returns how to end it before. */
export function stopper(child: ChildProcess, afterwards = (): void => undefined): () => Promise<void> {
  const kill = (): void => void child.kill('SIGKILL');
  running.add(kill);
  return async () => {
    if (child.exitCode === null && child.signalCode === null) {
      const exited = once(child, 'exit');
      child.kill('SIGTERM');
      await exited;
    }
    running.delete(kill);
    afterwards();
  };
}

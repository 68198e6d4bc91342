import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { cleanEnv, makeRoot, program } from './daemon.js';

const script = fileURLToPath(new URL('../../scripts/systemd-user.sh', import.meta.url));

export interface Ran {
  code: number | null;
  stdout: string;
  stderr: string;
}

/** A real `systemd --user` in namespaces of its own. */
export interface UserManager extends AsyncDisposable {
  readonly home: string;
  /** The path of a file of the namespaces, seen from here. */
  path(inside: string): string;
  /** Runs a program beside it. */
  run(...argv: string[]): Promise<Ran>;
  berth(...args: string[]): Promise<Ran>;
  /** A property of a unit. */
  show(unit: string, property: string): Promise<string>;
}

/** Why there can be none here; undefined when there can. */
export function whyNoUserManager(): string | undefined {
  const home = makeRoot();
  const { status, stderr } = spawnSync(script, ['true'], { env: cleanEnv(home, { HOME: home }), encoding: 'utf8' });
  rmSync(home, { recursive: true, force: true });
  return status === 0 ? undefined : stderr.trim();
}

export async function startUserManager(): Promise<UserManager> {
  const root = makeRoot();
  const home = join(root, 'home');
  mkdirSync(home);
  const env = cleanEnv(root, { HOME: home, XDG_RUNTIME_DIR: '/run/user/0', BERTH_OFFLINE_WPS: '0' });
  const child = spawn(script, ['sh', '-c', 'echo up; exec cat'], { env, stdio: ['pipe', 'pipe', 'inherit'] });
  await once(createInterface({ input: child.stdout }), 'line');
  // The script, the subshell that became unshare, and the first process of the namespaces.
  const target = childOf(childOf(child.pid!));

  async function run(...argv: string[]): Promise<Ran> {
    const enter = ['--target', String(target), '--mount', '--pid', '--cgroup', '--wd=/', '--', ...argv];
    const running = spawn('nsenter', enter, { env, stdio: ['ignore', 'pipe', 'pipe'] });
    let [stdout, stderr] = ['', ''];
    running.stdout.on('data', (chunk: Buffer) => (stdout += chunk.toString()));
    running.stderr.on('data', (chunk: Buffer) => (stderr += chunk.toString()));
    const [code] = (await once(running, 'close')) as [number | null];
    return { code, stdout, stderr };
  }

  return {
    home,
    path: (inside) => `/proc/${target}/root${inside}`,
    run,
    berth: (...args) => run(process.execPath, program, ...args),
    show: async (unit, property) => (await run('systemctl', '--user', 'show', unit, '--value', `--property=${property}`)).stdout.trim(),
    async [Symbol.asyncDispose]() {
      const ended = once(child, 'exit');
      child.stdin.end();
      await ended;
      rmSync(root, { recursive: true, force: true });
    },
  };
}

function childOf(pid: number): number {
  return Number(readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ')[0]);
}

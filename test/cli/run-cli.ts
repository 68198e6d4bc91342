import { spawn, type ChildProcess } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { Paths } from '../../src/machine/paths.js';
import { cleanEnv, makeRoot, pathsIn, program, type TestDaemon } from '../support/daemon.js';

/** Where a command is run: a daemon of a test, or a home in which none runs yet. */
export interface Place {
  readonly root: string;
  readonly paths: Paths;
  readonly workdir: string;
  readonly env: Record<string, string>;
}

export interface Finished {
  code: number | null;
  signal: NodeJS.Signals | null;
  stdout: string;
  stderr: string;
}

export interface RunningCommand extends AsyncDisposable {
  readonly child: ChildProcess;
  stdout(): string;
  /** Resolves once what was printed so far fits. */
  until(fits: (stdout: string) => boolean): Promise<string>;
  /** The same of standard error. */
  untilError(fits: (stderr: string) => boolean): Promise<string>;
  type(text: string): void;
  endInput(): void;
  finished(): Promise<Finished>;
}

export interface Setup {
  /** What it reads; nothing unless told. */
  input?: string;
  cwd?: string;
  env?: Record<string, string>;
  /** In a session of its own, without the terminal of whoever runs the tests. */
  detached?: boolean;
}

/** Starts `berth …` with pipes on all sides. Its input stays open. */
export function startCommand(place: Place, args: string[], { cwd, env = {}, detached = false }: Setup = {}): RunningCommand {
  const child = spawn(process.execPath, [program, ...args], { cwd: cwd ?? place.workdir, env: { ...place.env, ...env }, detached });
  let stdout = '';
  let stderr = '';
  let wake: (() => void)[] = [];
  const wakeAll = (): void => wake.splice(0).forEach((resolve) => resolve());
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    stdout += text;
    wakeAll();
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text;
    wakeAll();
  });
  child.stdin.on('error', () => undefined);
  const finished = new Promise<Finished>((resolve) =>
    child.on('close', (code, signal) => {
      resolve({ code, signal, stdout, stderr });
      wakeAll();
    }),
  );
  async function untilPrinted(printed: () => string, fits: (text: string) => boolean): Promise<string> {
    while (!fits(printed())) {
      if (child.exitCode !== null || child.signalCode !== null) throw new Error(`berth ${args.join(' ')} ended early: ${stdout}${stderr}`);
      await new Promise<void>((resolve) => wake.push(resolve));
    }
    return printed();
  }
  return {
    child,
    stdout: () => stdout,
    until: (fits) => untilPrinted(() => stdout, fits),
    untilError: (fits) => untilPrinted(() => stderr, fits),
    type: (text) => void child.stdin.write(text),
    endInput: () => void child.stdin.end(),
    finished: () => finished,
    async [Symbol.asyncDispose]() {
      child.kill('SIGKILL');
      await finished;
      wake = [];
    },
  };
}

/** Runs `berth …` to its end. */
export async function runCommand(place: Place, args: string[], setup: Setup = {}): Promise<Finished> {
  const command = startCommand(place, args, setup);
  command.type(setup.input ?? '');
  command.endInput();
  return command.finished();
}

/** Runs a command that must end with 0; what it printed. */
export async function runOk(place: Place, args: string[], setup: Setup = {}): Promise<string> {
  const { code, stdout, stderr } = await runCommand(place, args, setup);
  if (code !== 0) throw new Error(`berth ${args.join(' ')} ended with ${code}: ${stdout}${stderr}`);
  return stdout;
}

/** What tests look at in what is printed with `--json`. */
export interface JsonLine {
  [name: string]: unknown;
  session_id: string;
  request_id: string;
  type: string;
  text: string;
  seq: number | undefined;
  pid: number;
  run_state: string;
  inputs: { input_id: string; text: string; hold: boolean }[];
}

/** What a command with `--json` said, line by line. */
export async function runJson(place: Place, args: string[], setup: Setup = {}): Promise<JsonLine[]> {
  return parseLines(await runOk(place, [...args, '--json'], setup));
}

/** Lines of JSON. */
export function parseLines(printed: string): JsonLine[] {
  const lines = printed.split('\n').filter((line) => line !== '');
  return lines.map((line) => JSON.parse(line) as JsonLine);
}

/** The id of the only open question, as lists show it. */
export async function openQuestion(place: Place): Promise<string> {
  const { request_id } = await runJsonLine(place, ['answer']);
  return request_id.replace(/^req_/, '').slice(0, 10);
}

/** What a command with `--json` said in its only line. */
export async function runJsonLine(place: Place, args: string[], setup: Setup = {}): Promise<JsonLine> {
  const [line, ...more] = await runJson(place, args, setup);
  if (line === undefined || more.length > 0) throw new Error(`berth ${args.join(' ')} printed ${more.length + (line ? 1 : 0)} lines`);
  return line;
}

/** Directories of a person who never started a daemon. One that the commands started is stopped at the end. */
export function makeHome(env: Record<string, string> = {}): Place & AsyncDisposable {
  const root = makeRoot();
  const paths = pathsIn(root);
  const workdir = join(root, 'work');
  for (const dir of [paths.configDir, workdir, join(root, 'home')]) mkdirSync(dir, { recursive: true, mode: 0o700 });
  const place: Place = {
    root,
    paths,
    workdir,
    env: cleanEnv(root, {
      BERTH_SOCKET: paths.socket,
      BERTH_STATE_DIR: paths.stateDir,
      BERTH_CONFIG_DIR: paths.configDir,
      BERTH_OFFLINE_WPS: '0',
      ...env,
    }),
  };
  return {
    ...place,
    async [Symbol.asyncDispose]() {
      await runCommand(place, ['daemon', 'stop']);
      rmSync(root, { recursive: true, force: true });
    },
  };
}

/** A working directory of a shared daemon for one test. All sessions are deleted at the end, so that the next test finds none. */
export function openPlace(daemon: TestDaemon): TestDaemon {
  const workdir = join(mkdtempSync(join(daemon.root, 'place-')), 'work');
  mkdirSync(workdir);
  return {
    ...daemon,
    workdir,
    async [Symbol.asyncDispose]() {
      const client = await daemon.raw();
      for (const archived of [false, true]) {
        const { sessions } = (await client.call('list_sessions', { archived })).payload as { sessions: { session_id: string }[] };
        for (const { session_id } of sessions) await client.call('delete_session', { session_id });
      }
      client.close();
    },
  };
}

/** How often a daemon became ready on these directories. */
export function countStarts({ paths }: Place): number {
  return readFileSync(join(paths.stateDir, 'berth.log'), 'utf8')
    .split('\n')
    .filter((line) => line.includes('"msg":"ready"')).length;
}

/** Does a process still do anything? One that has ended may wait for its parent to look. */
export function isAlive(pid: number): boolean {
  try {
    return !/\) Z [^)]*$/.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch (error) {
    if (['ENOENT', 'ESRCH'].includes(String((error as NodeJS.ErrnoException).code))) return false;
    throw error;
  }
}

const pollMs = 20;
const deadlineMs = 60_000;

/** Looks again and again until it likes what it sees; for things that tell nobody when they change. */
export async function poll<T>(look: () => Promise<T> | T, likes: (seen: T) => boolean): Promise<T> {
  const deadline = performance.now() + deadlineMs;
  for (;;) {
    const seen = await look();
    if (likes(seen)) return seen;
    if (performance.now() > deadline) throw new Error(`waited in vain; last seen: ${String(seen)}`);
    await delay(pollMs);
  }
}

/** Resolves when somebody listens to a session. */
export async function untilHeard(place: Place, session: string): Promise<void> {
  await poll(
    async () => (await runJsonLine(place, ['state', session])).clients as { subscribed: boolean }[],
    (clients) => clients.some(({ subscribed }) => subscribed),
  );
}

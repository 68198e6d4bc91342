import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const preload = fileURLToPath(new URL('capture-code.cjs', import.meta.url));
const program = fileURLToPath(new URL('../bin/berth.js', import.meta.url));
/** A daemon that does not start within it gets no cache. */
const startMsMax = 20_000;

export interface CodeCaches {
  /** Where the code of `cli.cjs` goes. */
  cli: string;
  /** Where the code of `daemon.cjs` goes. */
  daemon: string;
  /** Where the code of `tui.cjs` goes. */
  tui: string;
}

/**
 * Has V8 write down what it compiles of the bundles while a daemon starts in a place of its own and a command asks it something: the
 * functions that every start needs. Throws when they cannot be run here.
 */
export async function writeCodeCaches(caches: CodeCaches): Promise<void> {
  const root = mkdtempSync(join(tmpdir(), 'berth-code-cache-'));
  try {
    for (const dir of ['home', 's', 'work']) mkdirSync(join(root, dir), { mode: 0o700 });
    const daemon = run(root, caches.daemon, 'daemon.cjs', ['daemon', 'run']);
    const ended = once(daemon, 'exit');
    try {
      await ready(daemon);
      const [code] = (await once(run(root, caches.cli, 'cli.cjs', ['ls']), 'exit')) as [number | null];
      if (code !== 0) throw new Error(`berth ls ended with exit code ${code}`);
      await useTui(run(root, caches.tui, 'tui.cjs', [], { TERM: 'xterm-256color', BERTH_CAPTURE_TERMINAL: '1' }));
    } finally {
      daemon.kill();
      await ended;
    }
    for (const file of Object.values(caches) as string[]) {
      // The daemon writes for its user alone; whoever may run the program may read this.
      chmodSync(`${file}.new`, 0o644);
      renameSync(`${file}.new`, file);
    }
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
}

/** Types a prompt, reads the answer and leaves: what a person does first. */
async function useTui(tui: ChildProcess): Promise<void> {
  const ended = once(tui, 'exit');
  const late = setTimeout(() => tui.kill('SIGKILL'), startMsMax);
  try {
    let drawn = '';
    const steps = [
      { sign: 'ask for something', keys: 'help\r' },
      { sign: 'I am the offline guide', keys: '\x03\x03' },
    ];
    tui.stdout!.setEncoding('utf8').on('data', (text: string) => {
      drawn += text;
      if (!drawn.includes(steps[0]?.sign ?? '\0')) return;
      drawn = '';
      tui.stdin!.write(steps.shift()?.keys ?? '');
    });
    const [code] = (await ended) as [number | null];
    if (code !== 0) throw new Error(`the terminal frontend ended with exit code ${code}`);
  } finally {
    clearTimeout(late);
  }
}

function run(root: string, cache: string, bundle: string, args: readonly string[], env: Record<string, string> = {}): ChildProcess {
  return spawn(process.execPath, ['--require', preload, program, ...args], {
    cwd: join(root, 'work'),
    // The frontend says good-bye there.
    stdio: ['pipe', 'pipe', bundle === 'tui.cjs' ? 'ignore' : 'inherit'],
    env: {
      ...env,
      PATH: process.env.PATH,
      HOME: join(root, 'home'),
      BERTH_SOCKET: join(root, 's', 'berth.sock'),
      BERTH_STATE_DIR: join(root, 'state'),
      BERTH_CONFIG_DIR: join(root, 'config'),
      BERTH_CAPTURE: bundle,
      BERTH_CAPTURE_FILE: `${cache}.new`,
    },
  });
}

async function ready(daemon: ChildProcess): Promise<void> {
  const late = AbortSignal.timeout(startMsMax);
  const [said] = (await Promise.race([
    once(daemon.stdout!, 'data', { signal: late }),
    once(daemon, 'exit', { signal: late }).then(() => ['']),
  ])) as [Buffer | string];
  if (!String(said).includes('ready')) throw new Error('a daemon did not start');
}

import { spawn } from '@lydell/node-pty';
import { program, type TestDaemon } from '../support/daemon.js';

/** The terminal frontend in a pseudo-terminal that shows nothing: only what it writes, and when. */
export interface BenchTerminal extends AsyncDisposable {
  readonly pid: number;
  send(keys: string): void;
  /** Resolves when the bytes that come from now on have this text, to how long that took. */
  next(text: string): Promise<number>;
  /** Resolves when a frame was painted. */
  nextFrame(): Promise<void>;
  /** So many bytes were written until now. */
  bytes(): number;
}

/** How the frontend ends a frame. */
export const frameEnd = '\x1b[?2026l';
const size = { cols: 100, rows: 30 } as const;
const patienceMs = 120_000;

export function openBenchTerminal(
  { env, workdir: cwd }: TestDaemon,
  args: readonly string[],
  more: Record<string, string> = {},
): BenchTerminal {
  const pty = spawn(process.execPath, [program, ...args], {
    ...size,
    name: 'xterm-256color',
    cwd,
    env: { ...env, LANG: 'C.UTF-8', ...more },
  });
  let count = 0;
  let awaited: { text: string; heard: string; from: number; resolve(ms: number): void } | undefined;
  const frames: (() => void)[] = [];
  let isOver = false;
  const exited = new Promise<void>((resolve) =>
    pty.onExit(() => {
      isOver = true;
      resolve();
    }),
  );
  pty.onData((data) => {
    count += data.length;
    if (data.includes(frameEnd)) for (const resolve of frames.splice(0)) resolve();
    if (!awaited) return;
    awaited.heard = awaited.heard.slice(-awaited.text.length) + data;
    if (!awaited.heard.includes(awaited.text)) return;
    awaited.resolve(performance.now() - awaited.from);
    awaited = undefined;
  });
  return {
    pid: pty.pid,
    send: (keys) => pty.write(keys),
    async next(text) {
      let late: NodeJS.Timeout | undefined;
      const shown = new Promise<number>((resolve) => (awaited = { text, heard: '', from: performance.now(), resolve }));
      const missing = new Promise<never>((_, reject) => {
        late = setTimeout(() => reject(new Error(`${JSON.stringify(text)} was never shown`)), patienceMs);
      });
      try {
        return await Promise.race([shown, missing]);
      } finally {
        clearTimeout(late);
      }
    },
    nextFrame: () => new Promise((resolve) => frames.push(resolve)),
    bytes: () => count,
    async [Symbol.asyncDispose]() {
      if (!isOver) pty.kill('SIGKILL');
      await exited;
    },
  };
}

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import type { Api } from '../../src/machine/provider-config.js';
import { cleanEnv, type TestDaemon } from '../support/daemon.js';
import { newPlace, startBenchDaemon, stopper } from './processes.js';
import { watchRun, type WatchedRun } from './watched-run.js';

export const deltaChars = 12;

/** The fake model server in a process of its own, as far from the daemon as a real one. */
export interface ModelServer extends AsyncDisposable {
  url: string;
  pid: number;
  /** When each delta of the newest answer was handed to the socket, in nanoseconds of the clock that all processes share. */
  stamps(): Promise<number[]>;
}

export async function startModelServer(): Promise<ModelServer> {
  const file = fileURLToPath(new URL('../support/fake-model/main.ts', import.meta.url));
  const child = spawn(process.execPath, ['--import', 'tsx', file], { env: cleanEnv(newPlace()), stdio: ['ignore', 'pipe', 'inherit'] });
  const stop = stopper(child);
  const [line] = (await once(createInterface({ input: child.stdout }), 'line')) as [string];
  const { port, pid } = JSON.parse(line) as { port: number; pid: number };
  const url = `http://127.0.0.1:${port}`;
  return {
    url,
    pid,
    async stamps() {
      const { stamps } = (await (await fetch(`${url}/__stamps`)).json()) as { stamps: number[] };
      return stamps;
    },
    [Symbol.asyncDispose]: stop,
  };
}

/** What the server answers with so many deltas, each after so many milliseconds; as fast as it can unless told. */
export function modelOf(deltas: number, everyMs?: number): string {
  return `fake-${deltas}x${deltaChars}${everyMs === undefined ? '' : `-d${everyMs}`}`;
}

/** A daemon whose sessions ask one model of the server. */
export function startModelDaemon({ url }: ModelServer, api: Api, model: string): Promise<TestDaemon> {
  return startBenchDaemon({ config: { model: `x/${model}`, providers: { x: { api, base_url: url, api_key: 'key' } } } });
}

/** A run that must have been answered: one that failed would be the fastest of all. */
export async function watchAnswer(daemon: TestDaemon, deltas: number): Promise<WatchedRun> {
  const run = await watchRun(daemon, 'hello');
  if (run.bytes < deltas * deltaChars) throw new Error(`${run.bytes} bytes are no answer of ${deltas} deltas`);
  return run;
}

/** The SDK alone, in a bare Node process. */
export interface SdkReader extends AsyncDisposable {
  pid: number;
  /** Reads one answer: how many milliseconds that took. */
  read(deltas: number): Promise<number>;
}

export function startSdkReader({ url }: ModelServer, api: Api): SdkReader {
  const file = fileURLToPath(new URL('floors/sdk-reader.js', import.meta.url));
  const child = spawn(process.execPath, [file, api, url], { env: cleanEnv(newPlace()), stdio: ['pipe', 'pipe', 'inherit'] });
  const lines = createInterface({ input: child.stdout });
  return {
    pid: child.pid ?? 0,
    async read(deltas) {
      child.stdin.write(`${modelOf(deltas)}\n`);
      const [line] = (await once(lines, 'line')) as [string];
      const { wallMs, events } = JSON.parse(line) as { wallMs: number; events: number };
      if (events < deltas) throw new Error(`the SDK read ${events} events of ${deltas} deltas`);
      return wallMs;
    },
    [Symbol.asyncDispose]: stopper(child),
  };
}

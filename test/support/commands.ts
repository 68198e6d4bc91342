import { randomBytes } from 'node:crypto';
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { createBubblewrap, type BubblewrapFound } from '../../src/sandbox/bubblewrap.js';
import type { Confinement } from '../../src/sandbox/port.js';
import type { CommandBounds } from '../../src/sandbox/resource-limits.js';
import type { Exit, Processes, RunningCommand, CommandSpec } from '../../src/sandbox/port.js';
import { createProcesses, type ProcessRow } from '../../src/sandbox/processes.js';

export interface MemoryLedger {
  rows: ProcessRow[];
  note(row: ProcessRow): void;
  forget(pid: number, startTime: number): void;
  left(): ProcessRow[];
}

export function memoryLedger(rows: ProcessRow[] = []): MemoryLedger {
  return {
    rows,
    note: (row) => void rows.push(row),
    forget: (pid, startTime) => void rows.splice(rows.findIndex((row) => row.pid === pid && row.startTime === startTime) >>> 0, 1),
    left: () => [...rows],
  };
}

export const childPath = '/usr/local/bin:/usr/bin:/bin';

interface ProcessesSetup {
  ledger?: MemoryLedger;
  bounds?: CommandBounds;
  bubblewrap?: () => BubblewrapFound;
  /** As the daemon has it, unless told. */
  killGraceMs?: number;
}

/** For a test that tells by its code how a command ended: on a busy machine one that obeys may take longer than the daemon waits. */
export const ampleGraceMs = 20_000;

/** Processes as the daemon has them, with an environment of the test's own. */
export function testProcesses(
  home: string,
  env: Record<string, string> = {},
  { ledger = memoryLedger(), bounds = roomy, bubblewrap = createBubblewrap(), ...more }: ProcessesSetup = {},
): Processes {
  return createProcesses({
    ledger,
    bubblewrap,
    env: { PATH: childPath, LANG: 'C.UTF-8', ...env },
    home,
    umask: 0o022,
    bounds: () => bounds,
    ...more,
  });
}

/** More than any test means to take. */
export const roomy: CommandBounds = { memoryBytes: 8 * 1024 ** 3, processes: 2_048 };

export function confine(kind: Confinement['kind'], workspace: string, changes: Partial<Confinement> = {}): Confinement {
  return { kind, network: false, writable: [workspace], readOnly: [], hidden: [], ...changes };
}

export interface Ran {
  exit: Exit;
  output: string;
}

export interface Followed {
  command: RunningCommand;
  output(): string;
  /** Resolves when the output has these words. */
  until(words: string): Promise<void>;
}

/** Starts a command and listens to it. */
export async function follow(
  processes: Processes,
  command: string,
  cwd: string,
  confinement: Confinement,
  { runId = randomId('run'), ...more }: Partial<Pick<CommandSpec, 'runId' | 'autorunKind'>> = {},
): Promise<Followed> {
  let output = '';
  let heard = (): void => undefined;
  const started = await processes.start({
    command,
    cwd,
    confinement,
    sessionId: randomId('ses'),
    runId,
    toolCallId: randomId('call'),
    ...more,
    onOutput(chunk) {
      output += chunk.toString('utf8');
      heard();
    },
  });
  return {
    command: started,
    output: () => output,
    until: (words) =>
      new Promise((resolve, reject) => {
        heard = () => output.includes(words) && resolve();
        heard();
        started.exited.then(
          (exit) => (output.includes(words) ? resolve() : reject(new Error(`ended with ${exit.code} after: ${output}`))),
          reject,
        );
      }),
  };
}

export async function runIn(processes: Processes, command: string, cwd: string, confinement: Confinement): Promise<Ran> {
  const { command: started, output } = await follow(processes, command, cwd, confinement);
  return { exit: await started.exited, output: output() };
}

export function randomId(prefix: string): string {
  return `${prefix}_${randomBytes(8).toString('hex')}`;
}

let numbers = 100_000_000 + (randomBytes(4).readUInt32LE(0) % 800_000_000);
/** A number of seconds that no other process sleeps. */
export function uniqueSeconds(): number {
  return ++numbers;
}

/** Processes that show these words in their arguments or hold a file with them in its name. Ended ones do not count. */
export function survivors(words: string): string[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)
    .flatMap((pid) => {
      try {
        const state = readFileSync(`/proc/${pid}/stat`, 'latin1');
        if (/\) [ZX] /.test(state)) return [];
        const cmdline = readFileSync(`/proc/${pid}/cmdline`, 'latin1').replaceAll('\0', ' ');
        const held = readdirSync(`/proc/${pid}/fd`).map((fd) => readlinkSync(`/proc/${pid}/fd/${fd}`));
        return [cmdline, ...held].some((text) => text.includes(words)) ? [`${pid} ${cmdline}`] : [];
      } catch (error) {
        // Ended meanwhile.
        if ((error as NodeJS.ErrnoException).code !== undefined) return [];
        throw error;
      }
    });
}

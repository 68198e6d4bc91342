import { spawn } from 'node:child_process';
import { limits } from '../../protocol/limits.js';

/** The units of the service. */
export const serviceUnit = 'berth.service';
export const socketUnits = ['berth.socket', 'berth-events.socket'] as const;

/** systemd is absent, or refused; the message has what `systemctl` said. */
export class ServiceManagerRefused extends Error {
  override name = 'ServiceManagerRefused';
}

/** Runs `systemctl --user` and returns its output. Throws ServiceManagerRefused. */
export function systemctl(...args: string[]): Promise<string> {
  return new Promise((resolve, reject) => {
    const refuse = (why: string): void => reject(new ServiceManagerRefused(`systemctl --user ${args.join(' ')}: ${why}`));
    const child = spawn('systemctl', ['--user', '--no-pager', ...args], {
      stdio: ['ignore', 'pipe', 'pipe'],
      timeout: limits.serviceJobMs,
      killSignal: 'SIGKILL',
    });
    let output = '';
    let complaint = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => (output += text));
    child.stderr.setEncoding('utf8').on('data', (text: string) => (complaint = (complaint + text).slice(0, limits.startErrorCharsMax)));
    child.once('error', (error: NodeJS.ErrnoException) => refuse(error.code === 'ENOENT' ? 'systemd is not installed' : error.message));
    child.once('close', (code, signal) => {
      if (code === 0) resolve(output);
      else refuse(complaint.trim().replaceAll(/\s*\n\s*/g, ' ') || `exit code ${code ?? signal ?? 'unknown'}`);
    });
  });
}

/** The state of a unit. */
export interface UnitState {
  /** `active`, `inactive`, `failed`, `activating`, `deactivating` … */
  active: string;
  /** 0 when no process runs. */
  mainPid: number;
  /** The units that start it, such as its sockets. */
  triggeredBy: string[];
}

/** The state of a unit; undefined when it does not exist or no service manager answers. */
export async function readUnit(unit: string): Promise<UnitState | undefined> {
  try {
    const shown = await systemctl('show', unit, '--property=LoadState,ActiveState,MainPID,TriggeredBy');
    const values = new Map(
      shown.split('\n').map((line): [string, string] => [line.split('=', 1)[0] ?? '', line.slice(line.indexOf('=') + 1)]),
    );
    if (values.get('LoadState') !== 'loaded') return undefined;
    return {
      active: values.get('ActiveState') ?? '',
      mainPid: Number(values.get('MainPID') ?? 0),
      triggeredBy: (values.get('TriggeredBy') ?? '').split(' ').filter((name) => name !== ''),
    };
  } catch (error) {
    if (error instanceof ServiceManagerRefused) return undefined;
    throw error;
  }
}

/** The version of systemd; 0 when it cannot be told. */
export async function systemdVersion(): Promise<number> {
  return Number(/^systemd (\d+)/.exec(await systemctl('--version'))?.[1] ?? 0);
}

/** Starts the sockets and the service, also after they failed for good. Resolves when the daemon is ready. */
export async function startService(): Promise<void> {
  const units = [...socketUnits, serviceUnit];
  await systemctl('reset-failed', ...units).catch((error: unknown) => {
    // Units that never failed are no failure here: `start` says what is wrong.
    if (!(error instanceof ServiceManagerRefused)) throw error;
  });
  await systemctl('start', ...units);
}

/** Stops a service together with what would start it again at the next connection. Resolves when its processes are gone. */
export async function stopService(unit: string, ...options: string[]): Promise<void> {
  const found = await readUnit(unit);
  await systemctl('stop', ...options, ...(found?.triggeredBy ?? []), unit);
}

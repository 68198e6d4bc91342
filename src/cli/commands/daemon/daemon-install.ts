import { findUser } from '../../../machine/home.js';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { findLockHolder, type LockHolder } from '../../../machine/lock-holder.js';
import { readInstalledUnit, unitDir, unitMark, unitNames, writeUnit } from '../../../machine/systemd/installed-units.js';
import { stablePath } from '../../../machine/systemd/stable-path.js';
import { environmentFile, toInstalledUnit } from '../../../machine/systemd/unit-text.js';
import {
  readUnit,
  ServiceManagerRefused,
  serviceUnit,
  socketUnits,
  systemctl,
  systemdVersion,
} from '../../../machine/systemd/user-manager.js';
import { printable, printableLine } from '../../../view/printable.js';
import { exit, Refused } from '../../exit.js';
import { shortenHome } from '../../home-path.js';
import type { Cli, Subcommand } from '../../subcommand.js';
import { printInterrupted, stopOrderly } from './daemon-stop.js';

interface Args {
  now?: true;
  print?: true;
  json?: true;
}

interface UnitFile {
  name: string;
  path: string;
  text: string;
  changed: boolean;
}

export const daemonInstall: Subcommand = {
  usage: 'daemon install',
  hosts: 'refused',
  summary: 'Make the daemon a systemd service of yours, started by its sockets.',
  options: {
    '--now': 'if a daemon runs that is not the service: stop it, and let the service take over',
    '--print': 'print the units and what would be done, and do nothing',
    '--json': 'print what was done as JSON',
  },
  notes:
    'Needs Linux with systemd. Run it again after berth or Node was moved, or when PATH changed: commands find programs where this shell ' +
    'does. berth daemon uninstall reverses it; docs/operations.md says more.',
  examples: {
    'berth daemon install --print': 'look first',
    'berth daemon install --now': 'from a daemon that runs in the background to a service',
  },
  async run({ now, print, json }: Args, cli) {
    const dir = unitDir(process.env);
    const files = await planUnits(cli, dir);
    if (print) {
      printPlan(cli, files, json === true);
      return exit.ok;
    }
    await refuseWithoutManager();
    refuseForeignUnits(dir);
    await endUnmanaged(cli, now === true);
    const before = await readUnit(serviceUnit);
    for (const { name, text } of files) writeUnit(dir, name, text);
    await systemctlOrRefused('daemon-reload');
    await systemctlOrRefused('enable', ...socketUnits);
    // A socket that listens elsewhere is made again; the service, which needs it, is not stopped otherwise.
    const movesSockets = files.some(({ name, changed }) => name !== serviceUnit && changed);
    await systemctlOrRefused(movesSockets ? 'restart' : 'start', ...socketUnits);
    const isStale = before !== undefined && before.mainPid > 0 && !movesSockets && files.some(({ changed }) => changed);
    const lingers = hasLinger();
    const unreachedKeys = Object.keys(process.env).filter((name) => name.endsWith('_API_KEY'));
    if (json) {
      const units = files.map(({ path, changed }) => ({ path, changed }));
      cli.printJson({
        installed: true,
        units,
        socket: cli.paths.socket,
        lingers,
        needs_restart: isStale,
        keys_of_this_shell: unreachedKeys,
      });
      return exit.ok;
    }
    for (const { path } of files) cli.print(printable(shortenHome(path)));
    cli.print(`systemd listens on ${printable(shortenHome(cli.paths.socket))}; the first client starts the daemon`);
    if (isStale) cli.notice('the service runs as it was before; berth daemon restart lets it run as it is installed now');
    if (!lingers) cli.notice('it ends when you log out, and starts when you log in; loginctl enable-linger keeps it, also after a reboot');
    const keys = printable(shortenHome(environmentFile(cli.paths)));
    const known = unreachedKeys.length === 0 ? '' : ` (${printableLine(unreachedKeys.join(', '))} of this shell)`;
    cli.notice(`a service has no variables of your shell: keep API keys${known} with berth auth set, or as lines NAME=value in ${keys}`);
    return exit.ok;
  },
};

async function planUnits({ paths }: Cli, dir: string): Promise<UnitFile[]> {
  const shippedDir = shippedUnits();
  const path = process.env.PATH ?? '';
  const script = process.argv[1];
  if (script === undefined) throw new Refused('cannot tell where berth is installed');
  const program = [stablePath('node', process.execPath, path), stablePath('berth', script, path)];
  const facts = { paths, program, path, systemdVersion: await versionOrZero() };
  try {
    return unitNames.map((name) => {
      const text = toInstalledUnit(name, readFileSync(join(shippedDir, name), 'utf8'), facts);
      return { name, path: join(dir, name), text, changed: readInstalledUnit(dir, name) !== text };
    });
  } catch (error) {
    if (error instanceof RangeError) throw new Refused(error.message, { cause: error });
    throw error;
  }
}

/** The units of the package, relative to the bundle or to the sources. */
function shippedUnits(): string {
  const places = ['../systemd', '../../../../systemd'].map((place) => fileURLToPath(new URL(place, import.meta.url)));
  const found = places.find((place) => existsSync(join(place, serviceUnit)));
  if (found === undefined) throw new Refused('the units of systemd are missing from this installation; install berth again');
  return found;
}

function printPlan(cli: Cli, files: UnitFile[], json: boolean): void {
  const commands = ['daemon-reload', `enable ${socketUnits.join(' ')}`, `start ${socketUnits.join(' ')}`].map(
    (what) => `systemctl --user ${what}`,
  );
  if (json) {
    cli.printJson({ installed: false, units: files.map(({ path, text, changed }) => ({ path, text, changed })), commands });
    return;
  }
  for (const { path, text } of files) {
    cli.print(`==> ${printableLine(path)} <==`);
    for (const line of text.trimEnd().split('\n')) cli.print(printableLine(line));
    cli.print('');
  }
  cli.print('then:');
  for (const command of commands) cli.print(`  ${command}`);
}

export async function refuseWithoutManager(): Promise<void> {
  try {
    await systemctl('show', '--property=Version');
  } catch (error) {
    if (!(error instanceof ServiceManagerRefused)) throw error;
    throw new Refused(
      `no systemd of yours answers here, as in most containers (${printableLine(error.message)}); a service needs Linux with systemd. ` +
        'Without it, any berth command starts the daemon in the background',
      { code: 'no_service_manager', cause: error },
    );
  }
}

/** Refuses to replace or remove units that somebody else wrote. */
export function refuseForeignUnits(dir: string): void {
  for (const name of unitNames) {
    const text = readInstalledUnit(dir, name);
    if (text === undefined || text.startsWith(unitMark)) continue;
    throw new Refused(`${join(dir, name)} was not written by berth daemon install; move it away first`, { code: 'foreign_unit' });
  }
}

/** Of two daemons on one state directory the second refuses to start, so an unmanaged one has to end before the service begins. */
async function endUnmanaged(cli: Cli, mayStop: boolean): Promise<void> {
  const holder = findLockHolder(cli.paths.stateDir);
  if (!holder || (await isManaged(holder))) return;
  if (!mayStop) {
    throw new Refused(
      `a daemon runs that is not the service (pid ${holder.pid}); berth daemon stop --drain stops it when its runs have ended, ` +
        'or berth daemon install --now stops it and lets the service take over',
      { code: 'unmanaged_daemon' },
    );
  }
  const { pid, interrupted } = await stopOrderly(cli, false);
  cli.notice(`stopped the daemon that was not the service (pid ${pid})`);
  printInterrupted(cli, interrupted);
}

async function isManaged({ pid }: LockHolder): Promise<boolean> {
  return (await readUnit(serviceUnit))?.mainPid === pid;
}

export async function systemctlOrRefused(...args: string[]): Promise<void> {
  try {
    await systemctl(...args);
  } catch (error) {
    if (error instanceof ServiceManagerRefused) throw new Refused(printableLine(error.message), { cause: error });
    throw error;
  }
}

async function versionOrZero(): Promise<number> {
  try {
    return await systemdVersion();
  } catch (error) {
    if (error instanceof ServiceManagerRefused) return 0;
    throw error;
  }
}

/** Whether services of this user run without a login. */
function hasLinger(): boolean {
  const user = findUser();
  return user !== undefined && existsSync(join('/var/lib/systemd/linger', user.username));
}

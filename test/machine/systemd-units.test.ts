import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { isInstalledFor, unitDir, unitMark, unitNames } from '../../src/machine/systemd/installed-units.js';
import { stablePath } from '../../src/machine/systemd/stable-path.js';
import { toInstalledUnit, type UnitFacts } from '../../src/machine/systemd/unit-text.js';
import { missing } from '../needs.js';
import { program } from '../support/daemon.js';
import { makePlace } from '../support/processes.js';
import { makeTempDir } from '../support/temp-dir.js';

const shipped = fileURLToPath(new URL('../../systemd', import.meta.url));
const odd = `/home/a b/100%h/$HOME/"q"\\x`;

function facts(changes: Partial<UnitFacts> = {}): UnitFacts {
  return {
    paths: { socket: '/run/user/7/berth/berth.sock', stateDir: '/home/a/state', configDir: '/home/a/config' },
    program: ['/usr/bin/node', '/usr/bin/berth'],
    path: '/home/a/bin:relative::/usr/bin',
    systemdVersion: 252,
    ...changes,
  };
}

const textOf = (name: string, given = facts()): string => toInstalledUnit(name, readFileSync(join(shipped, name), 'utf8'), given);

test('an installed unit is the shipped one with the real paths, and says who wrote it', () => {
  const service = textOf('berth.service');
  expect(service).toContain(unitMark);
  expect(service).toContain('\nExecStart="/usr/bin/node" "/usr/bin/berth" "daemon" "run"\n');
  expect(service).toContain('"BERTH_STATE_DIR=/home/a/state"');
  expect(service).toContain('"PATH=/home/a/bin:/usr/bin"');
  expect(service).toContain('\nEnvironmentFile=-/home/a/config/environment\n');
  expect(textOf('berth.socket')).toContain('\nListenStream=/run/user/7/berth/berth.sock\n');
  expect(textOf('berth-events.socket')).toContain('\nListenStream=/run/user/7/berth/berth.sock.events\n');
});

test('delays between restarts grow where systemd can do that, and nowhere else', () => {
  expect(textOf('berth.service')).not.toContain('RestartSteps');
  expect(textOf('berth.service', facts({ systemdVersion: 254 }))).toContain('RestartSec=500ms\nRestartSteps=7\nRestartMaxDelaySec=1min\n');
});

test('a path with a line break is refused', () => {
  expect(() => textOf('berth.service', facts({ program: ['/a\nExecStartPre=x'] }))).toThrow('line break');
});

test.skipIf(missing('systemd-analyze'))('odd paths are without fault for systemd (needs systemd-analyze)', () => {
  using dir = makeTempDir();
  const link = dir.file('100% $HOME');
  symlinkSync('/bin/true', link);
  const paths = { socket: join(odd, 's'), stateDir: odd, configDir: odd };
  for (const name of unitNames) writeFileSync(dir.file(name), textOf(name, facts({ paths, program: [link, odd], path: odd })));
  const { status, stderr } = spawnSync('systemd-analyze', ['--user', 'verify', ...unitNames.map(dir.file)], {
    env: { ...process.env, XDG_RUNTIME_DIR: dir.path },
    encoding: 'utf8',
  });
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
});

test('the path of a program is the link on PATH that leads to it, so that it survives an upgrade', () => {
  using dir = makeTempDir();
  mkdirSync(dir.file('bin'));
  symlinkSync(process.execPath, dir.file('bin/node'));
  expect(stablePath('node', process.execPath, `relative:/nowhere:${dir.file('bin')}`)).toBe(dir.file('bin/node'));
  expect(stablePath('other', process.execPath, dir.file('bin'))).toBe(process.execPath);
});

test('a service is installed for the socket that its unit names', () => {
  using dir = makeTempDir();
  const env = { XDG_CONFIG_HOME: dir.path, XDG_RUNTIME_DIR: '/run/user/7' };
  expect(isInstalledFor('/run/user/7/berth/berth.sock', env)).toBe(false);
  mkdirSync(unitDir(env), { recursive: true });
  for (const text of [textOf('berth.socket'), 'ListenStream=%t/berth/berth.sock\n']) {
    writeFileSync(join(unitDir(env), 'berth.socket'), text);
    expect(isInstalledFor('/run/user/7/berth/berth.sock', env)).toBe(true);
    expect(isInstalledFor('/run/user/7/other.sock', env)).toBe(false);
  }
});

test('berth daemon install --print shows the units and does nothing; without systemd install says so, and what to do', () => {
  using place = makePlace();
  // No systemd of this user answers there.
  const env = place.env({ XDG_RUNTIME_DIR: join(place.root, 'run'), DBUS_SESSION_BUS_ADDRESS: undefined });
  const run = (...args: string[]) => spawnSync(process.execPath, [program, 'daemon', ...args], { env, encoding: 'utf8' });
  const printed = run('install', '--print');
  expect(printed).toMatchObject({ status: 0, stderr: '' });
  expect(printed.stdout).toContain(`ListenStream=${place.socket}\n`);
  expect(printed.stdout).toContain('systemctl --user enable berth.socket berth-events.socket');
  const refused = run('install');
  expect(refused).toMatchObject({ status: 1, stdout: '' });
  expect(refused.stderr).toMatch(/^berth: no systemd of yours answers here.*any berth command starts the daemon in the background\n$/);
  expect(isInstalledFor(place.socket, env)).toBe(false);
  expect(run('uninstall')).toMatchObject({ status: 0, stdout: 'no service is installed\n' });
});

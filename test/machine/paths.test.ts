import { homedir, tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { describe, expect, test } from 'vitest';
import { resolvePaths } from '../../src/machine/paths.js';

const home = { HOME: '/home/me' };
const uid = process.getuid?.() ?? 0;

test('without anything: the XDG defaults below HOME, and a directory of our own below the temporary one', () => {
  expect(resolvePaths({}, home)).toEqual({
    socket: join(tmpdir(), `berth-${uid}`, 'berth.sock'),
    stateDir: '/home/me/.local/state/berth',
    configDir: '/home/me/.config/berth',
  });
});

test('the XDG variables count', () => {
  const env = { ...home, XDG_RUNTIME_DIR: '/run/user/7', XDG_STATE_HOME: '/s', XDG_CONFIG_HOME: '/c' };
  expect(resolvePaths({}, env)).toEqual({ socket: '/run/user/7/berth/berth.sock', stateDir: '/s/berth', configDir: '/c/berth' });
});

test('BERTH_ variables win over them, and flags over those', () => {
  const env = { ...home, XDG_RUNTIME_DIR: '/run/user/7', BERTH_SOCKET: '/b/s', BERTH_STATE_DIR: '/b/state', BERTH_CONFIG_DIR: '/b/config' };
  expect(resolvePaths({}, env)).toEqual({ socket: '/b/s', stateDir: '/b/state', configDir: '/b/config' });
  expect(resolvePaths({ socket: '/f/s', stateDir: '/f/state', configDir: '/f/config' }, env)).toEqual({
    socket: '/f/s',
    stateDir: '/f/state',
    configDir: '/f/config',
  });
});

describe('variables that are none', () => {
  test.each(['', 'relative', './relative', '~/x'])('an XDG variable of %j is ignored, as the specification says', (value) => {
    const env = { ...home, XDG_RUNTIME_DIR: value, XDG_STATE_HOME: value, XDG_CONFIG_HOME: value };
    expect(resolvePaths({}, env)).toEqual(resolvePaths({}, home));
  });

  test('an empty BERTH_ variable is as good as none', () => {
    expect(resolvePaths({}, { ...home, BERTH_SOCKET: '', BERTH_STATE_DIR: '', BERTH_CONFIG_DIR: '' })).toEqual(resolvePaths({}, home));
  });

  test('without HOME, or with an empty one, it is the one of the account', () => {
    for (const env of [{}, { HOME: '' }]) expect(resolvePaths({}, env).stateDir).toBe(join(homedir(), '.local/state/berth'));
  });
});

test('relative paths of ours are meant from where they are said, so that every client means the same', () => {
  expect(resolvePaths({ socket: 'x/y.sock' }, home).socket).toBe(resolve('x/y.sock'));
  expect(resolvePaths({}, { ...home, BERTH_STATE_DIR: 'x/../z' }).stateDir).toBe(resolve('z'));
});

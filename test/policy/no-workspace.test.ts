import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { createPolicy } from '../../src/policy/judge.js';
import type { Mode, Ruling } from '../../src/policy/port.js';
import type { Access } from '../../src/tools/port.js';
import { makeTempDir } from '../support/temp-dir.js';

const modes: Mode[] = ['ask', 'auto_edit', 'full', 'read_only'];

interface Setup {
  cwd: string;
  own: string[];
  mode: Mode;
  home?: string;
  writable?: string[];
}

function judge(access: Access, { cwd, own, mode, home = '/home/nobody', writable = [] }: Setup): Ruling {
  const settings = { noSandbox: undefined, network: false, writable, own, shared: ['/srv/runtime'] };
  const policy = createPolicy({ home, umask: 0o022, settings: () => settings });
  const toolName = access.kind === 'command' ? 'bash' : access.kind;
  return policy.judge({ toolName, accesses: [access], readOnly: false, mode, cwd, rules: [] });
}

const command = (text: string): Access => ({ kind: 'command', command: text, network: false, unsandboxed: false });

describe.each(modes)('berth itself, in the mode %s', (mode) => {
  test('is not readable or writable from a workspace that is, lies in, or contains its directories', () => {
    using dir = makeTempDir();
    const state = dir.file('proj/state');
    mkdirSync(join(state, 'deep'), { recursive: true });
    writeFileSync(join(state, 'keys'), 'secret');
    symlinkSync(state, dir.file('proj/link'));
    for (const cwd of [dir.file('proj'), state, join(state, 'deep'), dir.file('proj/link')]) {
      const setup = { cwd, own: [state], mode };
      expect(judge({ kind: 'read', path: join(state, 'keys') }, setup).action, cwd).toBe('ask');
      expect(judge({ kind: 'write', path: join(state, 'config.json') }, setup).action, cwd).toBe(mode === 'read_only' ? 'deny' : 'ask');
      const { confinement } = judge(command('make'), setup).reach;
      expect(confinement.hidden, cwd).toContain(state);
      expect(
        confinement.writable.filter((root) => root.startsWith(state)),
        cwd,
      ).toEqual([]);
    }
  });

  test('says why its directory is no workspace', () => {
    using dir = makeTempDir();
    mkdirSync(dir.file('state'));
    const { reach, notes } = judge(command('make'), { cwd: dir.file('state'), own: [dir.file('state')], mode });
    expect(reach.noWorkspace).toContain('belongs to berth itself');
    expect(notes.join()).toContain('start a session in a directory of your own');
  });
});

test('a socket in a shared directory does not make the directory berth’s', () => {
  using dir = makeTempDir();
  mkdirSync(dir.file('proj'));
  const setup = { cwd: dir.file('proj'), own: ['/tmp/x.sock', '/tmp/x.sock.events'], mode: 'auto_edit' as const };
  expect(judge({ kind: 'write', path: 'a.txt' }, setup).action).toBe('allow');
  expect(judge({ kind: 'read', path: '/tmp/x.sock' }, setup).action).toBe('ask');
});

describe.each(modes)('a session in a directory that everybody shares, in the mode %s', (mode) => {
  test.each(['/tmp', '/var/tmp', '/dev/shm', '/run', '/run/user', '/run/user/1000', '/run/user/1000/x', '/tmp/tmux-1000', '/srv/runtime'])(
    '%s has no workspace: nothing is bound, file tools ask, and it is said what to do',
    (cwd) => {
      const setup = { cwd, own: [], mode };
      const { reach } = judge(command('make'), setup);
      expect(reach.confinement.writable).toEqual([]);
      expect(reach.noWorkspace).toContain('make a directory and start a session in it');
      if (mode === 'full' || mode === 'read_only') return;
      for (const kind of ['read', 'write'] as const) {
        const asked = judge({ kind, path: 'a.txt' }, setup);
        expect([asked.action, asked.why]).toEqual(['ask', expect.stringContaining('not a workspace')]);
      }
    },
  );
});

test('a project below a shared directory is a workspace like any other', () => {
  using dir = makeTempDir();
  const { reach } = judge(command('make'), { cwd: dir.path, own: [], mode: 'auto_edit' });
  expect([reach.noWorkspace, reach.confinement.writable]).toEqual([undefined, [dir.path]]);
});

test('more roots to write do not bring a shared directory back', () => {
  using dir = makeTempDir();
  const setup: Setup = { cwd: dir.path, own: [], mode: 'auto_edit', writable: ['/tmp', '/run/user/1000'] };
  expect(judge(command('make'), setup).reach.confinement.writable).toEqual([dir.path]);
});

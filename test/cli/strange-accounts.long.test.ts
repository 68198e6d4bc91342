import { spawnSync } from 'node:child_process';
import { chmodSync, chownSync, mkdirSync, readdirSync } from 'node:fs';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test, vi } from 'vitest';
import { cleanEnv, program } from '../support/daemon.js';
import { makeTempDir, type TempDir } from '../support/temp-dir.js';

vi.setConfig({ testTimeout: 90_000 });

/** A user id that the user database does not know. */
const stranger = 12_345;
const asStranger = ['--reuid', String(stranger), '--regid', String(stranger), '--clear-groups'];

function whyNot(): string | undefined {
  if (process.getuid?.() !== 0) return 'only root can become another user';
  const { status, stderr } = spawnSync('setpriv', [...asStranger, process.execPath, program, '--version'], { encoding: 'utf8', cwd: '/' });
  return status === 0 ? undefined : `a user without an account cannot run berth from here: ${stderr}`;
}

const reason = whyNot();
if (reason !== undefined) process.stderr.write(`tests of accounts without an entry are skipped: ${reason}\n`);

interface Account extends Disposable {
  dir: TempDir;
  /** Runs `berth …` as a user who has no account. */
  berth(args: string[], env?: Record<string, string>): { code: number | null; stdout: string; stderr: string };
}

function openAccount(): Account {
  const dir = makeTempDir();
  chownSync(dir.path, stranger, stranger);
  const { HOME: _, ...rest } = cleanEnv(dir.path, { TMPDIR: dir.path });
  return {
    dir,
    berth(args, env = {}) {
      const options = { encoding: 'utf8', cwd: dir.path, env: { ...rest, ...env } } as const;
      const { status, stdout, stderr } = spawnSync('setpriv', [...asStranger, process.execPath, program, ...args], options);
      expect(stdout + stderr).not.toMatch(/\n\s+at |uv_os|inside berth/);
      return { code: status, stdout, stderr };
    },
    [Symbol.dispose]: () => dir[Symbol.dispose](),
  };
}

describe.skipIf(reason !== undefined)('a user without HOME and without an account (needs root and setpriv)', () => {
  test('is told what to set, by every command', () => {
    using account = openAccount();
    for (const args of [['ls'], ['daemon', 'status'], ['config', 'get'], ['doctor'], []]) {
      expect({ args, ...account.berth(args) }).toMatchObject({
        code: 1,
        stdout: '',
        stderr: 'berth: cannot tell where your home directory is; set HOME, or BERTH_STATE_DIR and BERTH_CONFIG_DIR\n',
      });
    }
  });

  test('is served when the directories are named', () => {
    using account = openAccount();
    const env = { BERTH_STATE_DIR: account.dir.file('state'), BERTH_CONFIG_DIR: account.dir.file('config') };
    try {
      expect(account.berth(['run', 'say hi'], env)).toMatchObject({ code: 0, stdout: expect.stringContaining('hi') });
      expect(account.berth(['daemon', 'status'], env)).toMatchObject({ code: 0 });
      expect(account.berth(['doctor'], env).stdout).toMatch(/ok +daemon/);
    } finally {
      account.berth(['daemon', 'stop'], env);
    }
  });
});

describe.skipIf(reason !== undefined)('a read-only home (needs root and setpriv)', () => {
  test('is named with the remedy by what would write there, and by doctor; the rest works', () => {
    using account = openAccount();
    const home = account.dir.file('home');
    mkdirSync(home);
    chmodSync(home, 0o555);
    const state = join(home, '.local/state/berth');
    const sentence = `nothing can be kept in ${state} (EACCES): make it a directory that you may write to, or name another with BERTH_STATE_DIR`;
    expect(account.berth(['new'], { HOME: home })).toEqual({
      code: 69,
      stdout: '',
      stderr: `berth: the daemon could not be started: ${sentence}\n`,
    });
    expect(account.berth(['config', 'set', 'model', 'offline/x'], { HOME: home })).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/cannot write .*config\.json: EACCES/),
    });
    expect(account.berth(['config', 'check'], { HOME: home })).toMatchObject({ code: 0 });
    expect(account.berth(['doctor'], { HOME: home }).stdout).toContain(sentence);
    expect(readdirSync(home)).toEqual([]);

    const env = { HOME: home, BERTH_STATE_DIR: account.dir.file('state') };
    try {
      expect(account.berth(['run', 'say hi'], env)).toMatchObject({ code: 0, stdout: expect.stringContaining('hi') });
      chmodSync(env.BERTH_STATE_DIR, 0o500);
    } finally {
      account.berth(['daemon', 'stop'], env);
    }
    expect(account.berth(['new'], env)).toMatchObject({ code: 69, stderr: expect.stringContaining('(EACCES)') });
  });
});

test('without HOME, or with an empty one, the home directory is that of the user database', () => {
  using dir = makeTempDir();
  const { HOME: _, ...rest } = cleanEnv(dir.path);
  for (const env of [rest, { ...rest, HOME: '' }]) {
    const { stdout } = spawnSync(process.execPath, [program, 'config', 'path'], { encoding: 'utf8', cwd: dir.path, env });
    expect(stdout.trim().replace(/^~/, userInfo().homedir)).toBe(join(userInfo().homedir, '.config/berth/config.json'));
  }
});

import { chmodSync, mkdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test, vi } from 'vitest';
import { checkDisk, checkNode } from '../../src/cli/commands/doctor/machine-checks.js';
import { missing } from '../needs.js';
import { program, startDaemon } from '../support/daemon.js';
import { makeHome, runCommand, type Place } from './run-cli.js';
import { openTerminal, quote } from './screen.js';

vi.setConfig({ testTimeout: 90_000 });

interface Check {
  level: string;
  area: string;
  detail: string;
  fix: string | null;
}

async function examine(place: Place, env: Record<string, string> = {}): Promise<{ ok: boolean; checks: Check[] }> {
  const { code, stdout } = await runCommand(place, ['doctor', '--json'], { env });
  const found = JSON.parse(stdout) as { ok: boolean; checks: Check[] };
  expect(code).toBe(found.ok ? 0 : 1);
  return found;
}

function checksOf({ checks }: { checks: Check[] }, area: string): Check[] {
  return checks.filter((check) => check.area === area);
}

describe('berth doctor', () => {
  test('finds a fresh home in order, and neither starts a daemon nor makes anything there', async () => {
    await using home = makeHome();
    const found = await examine(home);
    expect(found.ok).toBe(true);
    expect(checksOf(found, 'daemon')).toEqual([
      { level: 'ok', area: 'daemon', detail: 'none runs; commands start one when they need it', fix: null },
    ]);
    expect(checksOf(found, 'start')).toMatchObject([{ level: 'ok' }]);
    expect(await runCommand(home, ['daemon', 'status'])).toMatchObject({ code: 69 });
  });

  test('shows no key, and says where each is', async () => {
    await using home = makeHome();
    await runCommand(home, ['auth', 'set', 'openai'], { input: 'sk-canary-0123456789\n' });
    const { stdout } = await runCommand(home, ['doctor'], { env: { ANTHROPIC_API_KEY: 'sk-ant-canary-0123456789' } });
    expect(stdout).toMatch(/ok +keys +openai \(auth\.json\), ANTHROPIC_API_KEY \(this shell\)\n/);
    expect(stdout).not.toContain('canary');
  });

  test('fails for files that others can read, with the command that closes them, and --fix closes them', async () => {
    await using daemon = await startDaemon();
    const store = join(daemon.paths.stateDir, 'berth.db');
    chmodSync(store, 0o644);
    const open = await runCommand(daemon, ['doctor']);
    expect(open.code).toBe(1);
    expect(open.stdout).toContain(`${store} is open to other users (mode 644)\n`);
    expect(open.stdout).toContain(`chmod 600 ${store}\n`);
    expect(open.stdout).toMatch(/\n1 failed, /);
    expect(await runCommand(daemon, ['doctor', '--fix'])).toMatchObject({ code: 0 });
    expect(statSync(store).mode & 0o777).toBe(0o600);
  });

  test('tells a config that cannot be used, with a daemon and without one', async () => {
    await using daemon = await startDaemon();
    writeFileSync(join(daemon.paths.configDir, 'config.json'), '{"modle": "x/y"}');
    await runCommand(daemon, ['daemon', 'reload']);
    const running = await examine(daemon);
    expect(running.ok).toBe(false);
    expect(checksOf(running, 'config')).toMatchObject([{ level: 'fail', detail: expect.stringContaining('modle') }]);
    await runCommand(daemon, ['daemon', 'stop']);
    expect(checksOf(await examine(daemon), 'start')).toMatchObject([{ level: 'fail', detail: expect.stringContaining('modle') }]);
  });

  test('names a daemon that does not answer by its pid, and how to end it', async () => {
    await using daemon = await startDaemon();
    process.kill(daemon.pid(), 'SIGSTOP');
    try {
      expect(checksOf(await examine(daemon), 'daemon')).toMatchObject([
        { level: 'fail', detail: expect.stringContaining(`(pid ${daemon.pid()})`), fix: 'berth daemon stop --force' },
      ]);
    } finally {
      process.kill(daemon.pid(), 'SIGCONT');
    }
  });

  test('says what the absence of programs costs', async () => {
    await using home = makeHome();
    const nothing = join(home.root, 'nothing');
    mkdirSync(nothing);
    const found = await examine(home, { PATH: nothing });
    for (const area of ['sandbox', 'git', 'rg']) {
      expect(checksOf(found, area)).toMatchObject([
        { level: 'warn', detail: expect.stringMatching(/not installed: /), fix: expect.stringMatching(/^apt install /) },
      ]);
    }
  });

  test('tells a Node.js that is too old, and a disk by where the state will be', () => {
    expect(checkNode('20.18.3').level).toBe('fail');
    expect(['20.19.0', '22.1.0', '24.0.0'].map((version) => checkNode(version).level)).toEqual(['ok', 'ok', 'ok']);
    expect(checkDisk('/nowhere/at/all').detail).toMatch(/ free for \/nowhere\/at\/all$|inodes are left/);
  });
});

describe.skipIf(missing('tmux'))('berth doctor in a terminal (needs tmux)', () => {
  test('asks the terminal, names the lines that tmux lacks, and leaves no answer behind for the shell', async () => {
    await using home = makeHome();
    const doctor = quote(process.execPath, program, 'doctor');
    await using terminal = await openTerminal(home, `${doctor}; echo "typed: [$(head -c 1 </dev/null)]"; cat`, { LC_ALL: 'C.UTF-8' });
    const shown = await terminal.until((text) => text.includes('typed: []'));
    expect(shown).toMatch(/ok +terminal +\S+, \d+×\d+/);
    expect(shown).toMatch(/warn +tmux +set-clipboard: /);
    expect(shown).toContain('add to ~/.tmux.conf: set -s set-clipboard on');
    await terminal.type('after', 'Enter');
    const typed = await terminal.until((text) => (text.split('typed: []')[1]?.match(/after/g) ?? []).length === 2);
    expect(typed.split('typed: []')[1]?.trim()).toBe('after\nafter');
  });
});

import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { limits } from '../../src/protocol/limits.js';
import { missing } from '../needs.js';
import { startDaemon, type TestDaemon } from '../support/daemon.js';
import { sized } from '../support/fault-sizes.js';
import type { RawLine } from '../support/raw-client.js';
import { shareDaemon } from '../support/shared-daemon.js';
import { openTalk, type Talk } from '../support/talk.js';

let numbers = 0;

/** A number of seconds that no other process sleeps: how a test finds its own. */
function sleepNumber(): number {
  return 700_000 + (process.pid % 100_000) * 10 + (numbers++ % 10);
}

function sleepers(seconds: number): string[] {
  return readdirSync('/proc').filter((pid) => {
    if (!/^\d+$/.test(pid)) return false;
    try {
      const words = readFileSync(`/proc/${pid}/cmdline`, 'latin1').split('\0');
      return words.some((word) => word.endsWith('sleep')) && words.includes(String(seconds));
    } catch (error) {
      if (error instanceof Error && 'code' in error) return false;
      throw error;
    }
  });
}

async function untilAsleep(seconds: number, count = 1): Promise<void> {
  await expect.poll(() => sleepers(seconds).length, { timeout: 50_000, interval: 20 }).toBeGreaterThanOrEqual(count);
}

async function approval(talk: Talk, runId: string): Promise<RawLine> {
  return talk.until((event) => event.type === 'ui_request' && event.payload.run_id === runId);
}

async function answer(talk: Talk, asked: RawLine, result: unknown): Promise<void> {
  await talk.ok('ui_response', { request_id: asked.payload.request_id, result });
}

async function resultOf(talk: Talk, runId: string): Promise<Record<string, unknown> & { result: string }> {
  const end = await talk.until((event) => event.type === 'tool_execution_end' && event.payload.run_id === runId);
  return end.payload as Record<string, unknown> & { result: string };
}

/** Asks the guide for something and waits until it is done. */
async function does(talk: Talk, text: string): Promise<Record<string, unknown> & { result: string }> {
  const runId = await talk.prompt(text);
  const result = await resultOf(talk, runId);
  await talk.ended(runId);
  return result;
}

const rules = [{ tool: 'bash', action: 'allow' }];
const open = { permissions: { mode: 'auto_edit' } };

describe('a newcomer', () => {
  test('meets an approval in the first minute: nothing runs before the answer', async () => {
    await using daemon = await startDaemon();
    const talk = await openTalk(daemon);
    const runId = await talk.prompt('run touch made.txt');
    const asked = await approval(talk, runId);
    expect(asked.payload.params).toMatchObject({
      kind: 'approval',
      tool_name: 'bash',
      command: 'touch made.txt',
      subject: { kind: 'command', command: 'touch made.txt' },
    });
    expect(existsSync(join(daemon.workdir, 'made.txt'))).toBe(false);
    await answer(talk, asked, 'allow_once');
    expect(await talk.ended(runId)).toBe('completed');
    expect(existsSync(join(daemon.workdir, 'made.txt'))).toBe(true);
  });

  test('sees the change before it is made, and edits what was read', async () => {
    await using daemon = await startDaemon();
    const talk = await openTalk(daemon);
    const first = await talk.prompt('write ahoy to notes.txt');
    const asked = await approval(talk, first);
    expect((asked.payload.params as { diff: string }).diff).toContain('+ahoy');
    await answer(talk, asked, 'allow_once');
    await talk.ended(first);
    const second = await talk.prompt('edit notes.txt: ahoy -> hello');
    await answer(talk, await approval(talk, second), 'allow_once');
    expect(await talk.ended(second)).toBe('completed');
    expect(readFileSync(join(daemon.workdir, 'notes.txt'), 'utf8')).toBe('hello\n');
    expect((await does(talk, 'read notes.txt')).result).toContain('hello');
  });
});

describe.skipIf(missing('bwrap'))('a sandboxed command (needs bwrap)', () => {
  test('sees neither the sockets nor the state nor the keys, and writes the workspace alone', async () => {
    await using daemon = await startDaemon({
      config: open,
      env: { ANTHROPIC_API_KEY: 'sk-canary-1', SECRET_TOKEN: 'canary-2', NOTIFY_SOCKET: '/x' },
    });
    await daemon.connect();
    const talk = await openTalk(daemon);
    await talk.ok('set_model', { model: 'offline/guide' });
    const outside = join(daemon.root, 'outside');
    const command = [
      `ls -a ${join(daemon.root, 's')} ${daemon.paths.stateDir} ${daemon.paths.configDir}`,
      'env',
      'tr "\\0" "\\n" </proc/$PPID/environ',
      // Where it writes is known only when it runs: the policy lets it, and the sandbox does not.
      `o=${outside}; echo x >$o; o=/usr/berth-was-here; echo x >$o`,
      'i=inside; echo y >$i && cat $i',
    ].join('; ');
    const { result } = await does(talk, `run ${command}`);
    expect(result).toMatch(/Read-only file system[^]*\by\b/);
    expect(result).not.toMatch(/b\.sock|berth\.db|config\.json|canary|NOTIFY_SOCKET/);
    expect([existsSync(outside), existsSync('/usr/berth-was-here')]).toEqual([false, false]);
  });

  test('that makes a file which programs run later is told so, and the file stays', async () => {
    await using daemon = await startDaemon({ config: open });
    const talk = await openTalk(daemon);
    const name = 'n=.env; printf new > "${n}rc"';
    const { result } = await does(talk, `run ${name}`);
    expect(result).toContain(
      '[while the command ran, .envrc appeared or changed, which programs run or agents follow later without asking: tell the person]',
    );
    expect(readFileSync(join(daemon.workdir, '.envrc'), 'utf8')).toBe('new');
  });

  test('cannot change files which programs run later, wherever they are, and says so', async () => {
    await using daemon = await startDaemon({ config: open });
    for (const at of ['', 'a/inner']) {
      mkdirSync(join(daemon.workdir, at, '.git', 'hooks'), { recursive: true });
      writeFileSync(join(daemon.workdir, at, '.git', 'HEAD'), 'ref: refs/heads/main\n');
      writeFileSync(join(daemon.workdir, at, '.git', 'hooks', 'pre-push'), 'mine\n');
      writeFileSync(join(daemon.workdir, at, '.envrc'), 'mine\n');
    }
    const talk = await openTalk(daemon);
    const plant = [
      'for d in .git a/inner/.git; do',
      '  echo evil > $d/hooks/pre-commit; rm -rf $d/hooks; ln -sf /x $d/hooks; echo evil > $d/../.envrc',
      'done',
      'mv .git .gat',
    ];
    writeFileSync(join(daemon.workdir, 'plant.sh'), plant.join('\n'));
    const { result } = await does(talk, 'run sh plant.sh');
    expect(result).toContain('read-only for commands');
    for (const at of ['', 'a/inner']) {
      expect(readdirSync(join(daemon.workdir, at, '.git', 'hooks'))).toEqual(['pre-push']);
      expect(readFileSync(join(daemon.workdir, at, '.envrc'), 'utf8')).toBe('mine\n');
    }
  });

  test('makes a repository in an empty workspace without anything to tell', async () => {
    await using daemon = await startDaemon({ config: open });
    const talk = await openTalk(daemon);
    const { result } = await does(
      talk,
      'run git init -q . && git -c user.name=a -c user.email=a@b commit -q --allow-empty -m x && git log --oneline | wc -l',
    );
    expect(result).toBe('1\n[exit code 0]');
    expect(existsSync(join(daemon.workdir, '.git', 'config'))).toBe(true);
  });
});

test('what agents make has the rights that the person’s umask leaves', async () => {
  await using daemon = await startDaemon({ config: { permissions: { rules: [{ tool: '*', action: 'allow' }] } } });
  const talk = await openTalk(daemon);
  const umask = (await does(talk, 'run umask')).result.split('\n')[0];
  expect(umask).toMatch(/^0[0-7]{3}$/);
  const mask = Number.parseInt(umask ?? '', 8);
  // The daemon's own is stricter.
  expect(mask).toBe(Number.parseInt(execFileSync('sh', ['-c', 'umask'], { encoding: 'utf8' }), 8));
  await does(talk, 'write x to new/deep/file.txt');
  const modeOf = (path: string): number => statSync(join(daemon.workdir, path)).mode & 0o777;
  expect(modeOf('new/deep/file.txt')).toBe(0o666 & ~mask);
  expect(modeOf('new/deep')).toBe(0o777 & ~mask);
});

describe.each([
  ['in the sandbox', {}],
  ['without a sandbox', { sandbox: { enabled: false } }],
])('processes %s', (where, more) => {
  const config = { permissions: { rules }, ...more };
  const shared = shareDaemon({ config });
  const skip = where === 'in the sandbox' && missing('bwrap');

  async function start(daemon: TestDaemon, text: (seconds: number) => string): Promise<{ talk: Talk; runId: string; seconds: number }> {
    const talk = await openTalk(daemon);
    const seconds = sleepNumber();
    const runId = await talk.prompt(`run ${text(seconds)}`);
    await untilAsleep(seconds);
    return { talk, runId, seconds };
  }
  const nasty = (seconds: number): string => `setsid sleep ${seconds} & (sleep ${seconds} &) ; nohup sleep ${seconds} & sleep ${seconds}`;

  test.skipIf(skip)('are gone when an abort has been told', async () => {
    const daemon = shared();
    const { talk, runId, seconds } = await start(daemon, nasty);
    await talk.ok('abort');
    expect(await talk.ended(runId)).toBe('aborted');
    expect(sleepers(seconds)).toEqual([]);
  });

  test.skipIf(skip)('that stay behind a command end with it', async () => {
    const daemon = shared();
    const talk = await openTalk(daemon);
    const seconds = sleepNumber();
    expect((await does(talk, `run setsid sleep ${seconds} & sleep ${seconds} & echo done`)).result).toContain('done');
    expect(sleepers(seconds)).toEqual([]);
  });

  test.skipIf(skip)('in the background outlive their call, and not their run', async () => {
    const daemon = shared();
    const talk = await openTalk(daemon);
    const seconds = sleepNumber();
    const runId = await talk.prompt(`run sleep ${seconds} in the background`);
    expect((await resultOf(talk, runId)).result).toMatch(/bg_/);
    await talk.ended(runId);
    await expect.poll(() => sleepers(seconds), { timeout: 40_000 }).toEqual([]);
  });

  test.skipIf(skip)('are gone when their session is deleted', async () => {
    const daemon = shared();
    const { talk, seconds } = await start(daemon, nasty);
    await talk.ok('delete_session');
    await expect.poll(() => sleepers(seconds), { timeout: 40_000 }).toEqual([]);
  });

  test.skipIf(skip)('are gone when the daemon has stopped', async () => {
    await using daemon = await startDaemon({ config });
    const { seconds } = await start(daemon, nasty);
    expect(await daemon.terminate()).toBe(0);
    expect(sleepers(seconds)).toEqual([]);
  });

  test.skipIf(skip)('of a daemon that was killed are ended by the next one, before it lets anyone in', async () => {
    await using daemon = await startDaemon({ config });
    const { talk, runId, seconds } = await start(daemon, nasty);
    await daemon.kill9();
    await daemon.start();
    expect(sleepers(seconds)).toEqual([]);
    const again = await openTalk(daemon, talk.session);
    expect(await again.ended(runId)).toBe('interrupted');
  });
});

test('a flood of output costs little memory, and other sessions do not notice', async () => {
  const floodBytes = sized({ short: 128, long: 256, full: 256 }) * 1024 * 1024;
  await using daemon = await startDaemon({ config: { permissions: { rules } } });
  const talk = await openTalk(daemon);
  const other = await openTalk(daemon);
  await does(talk, 'run echo warm');
  // What runs cost by themselves is not what is asked here: the heap finds its size first.
  for (let i = 0; i < 100; i++) await other.run('say warm');
  const before = daemon.rssBytes();
  const runId = await talk.prompt(`run yes | head -c ${floodBytes}`);
  let rounds = 0;
  let most = 0;
  const flood = resultOf(talk, runId).then((result) => ({ result }));
  for (;;) {
    // On a slow machine a flood takes long enough for many of them.
    const beside = rounds++ < 100 ? other.run('say x') : other.ok('get_state');
    const done = await Promise.race([flood, beside.then(() => undefined)]);
    most = Math.max(most, daemon.rssBytes());
    if (!done) continue;
    const { result } = done;
    expect(result.result.length).toBeLessThan(limits.toolResultBytesMax);
    expect(result.artifact_id).toMatch(/^art_/);
    const piece = await talk.ok('get_artifact', { artifact_id: result.artifact_id, offset: 1_000_000, limit: 10 });
    expect(piece.data).toBe('y\ny\ny\ny\ny\n');
    break;
  }
  expect(rounds).toBeGreaterThan(1);
  expect(most - before).toBeLessThan(64 * 1024 * 1024);
}, 120_000);

test('a workspace’s own config counts once it is trusted', async () => {
  await using daemon = await startDaemon();
  mkdirSync(join(daemon.workdir, '.berth'));
  const config = join(daemon.workdir, '.berth', 'config.json');
  writeFileSync(config, JSON.stringify({ permissions: { rules: [{ tool: 'bash', command: 'echo', action: 'allow' }] } }));
  const talk = await openTalk(daemon);
  const asked = await approval(talk, await talk.prompt('run echo one'));
  expect(asked.payload.params).toMatchObject({ kind: 'approval' });
  await talk.ok('abort');
  const { workspace_config } = (await talk.ok('list_permissions')) as unknown as { workspace_config: { digest: string; trusted: null } };
  expect(workspace_config.trusted).toBeNull();
  expect(await talk.refused('set_trust', { digest: 'another', trusted: true })).toBe('invalid_payload');
  await talk.ok('set_trust', { digest: workspace_config.digest, trusted: true });
  expect((await does(talk, 'run echo two')).result).toContain('two');
  writeFileSync(config, JSON.stringify({ permissions: { rules: [{ tool: '*', action: 'allow' }] } }));
  const again = await approval(talk, await talk.prompt('run touch x'));
  expect(again.payload.params).toMatchObject({ kind: 'approval' });
});

test.skipIf(missing('bwrap') || missing('python3'))(
  'a command that takes what it can get leaves the daemon answering, and nothing behind (needs bwrap)',
  async () => {
    await using daemon = await startDaemon({ config: open });
    const talk = await openTalk(daemon);
    const seconds = sleepNumber();
    const fill = 't=/tmp/full; head -c 1500000000 /dev/zero >$t; df --output=avail -B1 /tmp | tail -1';
    const hoard = "python3 -c 'x = bytearray(600 << 20); print(len(x))'";
    const runId = await talk.prompt(`run ${fill}; ${hoard}; for i in $(seq 400); do sleep ${seconds} & done; wait`);
    await untilAsleep(seconds, 400);
    const other = await daemon.raw();
    for (let i = 0; i < 20; i++) expect((await other.call('ping')).ok).toBe(true);
    const before = daemon.rssBytes();
    expect(before).toBeLessThan(300 * 1024 * 1024);
    await talk.ok('abort');
    expect(await talk.ended(runId)).toBe('aborted');
    expect(sleepers(seconds)).toEqual([]);
  },
  120_000,
);

test.skipIf(missing('bwrap') || missing('python3'))(
  'a command that takes more than it may is ended, the model is told, and the daemon answers all the while (needs bwrap)',
  async () => {
    const limits = { command_memory_mb: 300, command_processes: 300 };
    await using daemon = await startDaemon({ config: { ...open, limits } });
    const talk = await openTalk(daemon);
    const other = await daemon.raw();
    let answers = 0;
    let over = false;
    const asking = (async () => {
      while (!over) {
        expect((await other.call('ping')).ok).toBe(true);
        answers++;
      }
    })();
    try {
      const bombed = await does(talk, 'run :(){ :|:& wait; };:');
      expect(bombed.result).toContain(
        '[ended: it had more than 300 processes at once; limits.command_processes in config.json allows more]',
      );
      const hoarded = await does(talk, "run python3 -c 'x = bytearray(8 << 30)'");
      expect(hoarded.result).toContain('[ended: it took more than 300 MB of memory; limits.command_memory_mb in config.json allows more]');
    } finally {
      over = true;
      await asking;
    }
    expect(answers).toBeGreaterThan(10);
  },
  120_000,
);

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdirSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { apis, nameOf, providersAt } from '../e2e/providers.js';
import { cleanEnv, pathsIn } from '../support/daemon.js';
import { createFakeModel } from '../support/fake-model/server.js';
import { openRaw } from '../support/raw-client.js';
import { makeTempDir } from '../support/temp-dir.js';
import { done, newSession, say } from '../support/wire.js';

const project = fileURLToPath(new URL('../..', import.meta.url));

/** An upgrade in place, or a build, takes away what a running daemon has not loaded yet. */
test('a daemon whose program was taken away goes on working: every provider, every tool, the policy', async () => {
  using dir = makeTempDir();
  await using fake = await createFakeModel();
  const program = dir.file('program');
  for (const part of ['bin', 'dist', 'package.json']) cpSync(join(project, part), join(program, part), { recursive: true });
  symlinkSync(join(project, 'node_modules'), join(program, 'node_modules'));
  const paths = pathsIn(dir.path);
  for (const place of ['s', 'home', 'work', 'config']) mkdirSync(dir.file(place), { mode: 0o700 });
  // What a daemon that was killed left.
  mkdirSync(join(paths.stateDir, 'program-left', 'dist'), { recursive: true, mode: 0o700 });
  writeFileSync(join(paths.configDir, 'config.json'), JSON.stringify({ providers: providersAt(fake) }));
  const env = cleanEnv(dir.path, { BERTH_SOCKET: paths.socket, BERTH_STATE_DIR: paths.stateDir, BERTH_CONFIG_DIR: paths.configDir });
  const child = spawn(process.execPath, [join(program, 'bin', 'berth.js'), 'daemon', 'run'], { cwd: dir.file('work'), env });
  const ended = once(child, 'exit');
  const copies = (): string[] => readdirSync(paths.stateDir).filter((name) => name.startsWith('program-'));
  try {
    await once(child.stdout, 'data');
    rmSync(program, { recursive: true });
    expect(copies()).toHaveLength(1);
    expect(copies()).not.toContain('program-left');
    const client = await openRaw(paths.socket);
    for (const model of [...apis.map(nameOf), 'offline/guide']) {
      const sessionId = await newSession(client, { model, approval_mode: 'full' });
      expect((await say(client, sessionId, 'say ok')).output).toBe('ok');
    }
    const sessionId = await newSession(client, { model: 'offline/guide', approval_mode: 'full' });
    expect((await say(client, sessionId, 'call 2 tools')).output).not.toBe('');
    done(await client.call('get_ruling', { command: 'ls' }));
    expect(done(await client.call('list_tools', {})).tools.length).toBeGreaterThan(5);
    expect(fake.refusals).toEqual([]);
    client.close();
  } finally {
    child.kill('SIGTERM');
    expect(await ended).toEqual([0, null]);
  }
  expect(copies()).toEqual([]);
});

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdirSync, readdirSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { cleanEnv, pathsIn } from '../support/daemon.js';
import { openRaw } from '../support/raw-client.js';
import { makeTempDir } from '../support/temp-dir.js';

const project = fileURLToPath(new URL('../..', import.meta.url));

/** An upgrade in place takes away what a running daemon has not loaded yet. */
test('a daemon whose program was taken away fails the run that needs it, says what to do, and goes on answering', async () => {
  using dir = makeTempDir();
  const program = dir.file('program');
  for (const part of ['bin', 'dist', 'package.json']) cpSync(join(project, part), join(program, part), { recursive: true });
  symlinkSync(join(project, 'node_modules'), join(program, 'node_modules'));
  const paths = pathsIn(dir.path);
  for (const place of ['s', 'home', 'work']) mkdirSync(dir.file(place), { mode: 0o700 });
  const env = cleanEnv(dir.path, { BERTH_SOCKET: paths.socket, BERTH_STATE_DIR: paths.stateDir, BERTH_CONFIG_DIR: paths.configDir });
  const child = spawn(process.execPath, [join(program, 'bin', 'berth.js'), 'daemon', 'run'], { cwd: dir.file('work'), env });
  const ended = once(child, 'exit');
  try {
    await once(child.stdout, 'data');
    for (const file of readdirSync(join(program, 'dist'))) if (/^(bash|read|judge|edit)-/.test(file)) rmSync(join(program, 'dist', file));
    const client = await openRaw(paths.socket);
    const made = await client.call('new_session', {});
    expect(made.ok).toBe(true);
    const answer = await client.call('prompt', { session_id: made.payload.session_id, text: 'say x' });
    expect(answer).toMatchObject({ ok: false, error: { message: expect.stringContaining('restart the daemon') } });
    expect(await client.call('get_ruling', { command: 'ls' })).toMatchObject({ ok: false, error: { code: 'overloaded' } });
    expect((await client.call('ping')).ok).toBe(true);
    client.close();
  } finally {
    child.kill('SIGTERM');
    expect(await ended).toEqual([0, null]);
  }
});

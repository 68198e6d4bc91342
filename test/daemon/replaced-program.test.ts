import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  appendFileSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { apis, nameOf, providersAt } from '../e2e/providers.js';
import { cleanEnv, pathsIn } from '../support/daemon.js';
import { createFakeModel } from '../support/fake-model/server.js';
import { launch, makePlace, ping, type Place } from '../support/processes.js';
import { openRaw } from '../support/raw-client.js';
import { makeTempDir } from '../support/temp-dir.js';
import { done, newSession, say } from '../support/wire.js';

const project = fileURLToPath(new URL('../..', import.meta.url));

function install(program: string): string {
  for (const part of ['bin', 'dist', 'package.json']) cpSync(join(project, part), join(program, part), { recursive: true });
  symlinkSync(join(project, 'node_modules'), join(program, 'node_modules'));
  return program;
}

/** An upgrade in place, or a build, takes away what a running daemon has not loaded yet. */
test('a daemon whose program was taken away goes on working: every provider, every tool, the policy', async () => {
  using dir = makeTempDir();
  await using fake = await createFakeModel();
  const program = install(dir.file('program'));
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
});

describe('the copy that a daemon runs from', () => {
  function copiesIn(place: Place): string[] {
    return readdirSync(place.stateDir).filter((name) => name.startsWith('program-'));
  }

  async function startAndStop(place: Place, program: string): Promise<string[]> {
    await using daemon = launch({ env: place.env(), program: join(program, 'bin', 'berth.js') });
    await daemon.ready;
    expect(await ping(place.socket)).toBe(true);
    // Removing what is left of others comes after ready, in the same turn: it is done when a client is answered.
    return copiesIn(place);
  }

  /** Changes when the file is written again. */
  function identityOf(file: string): string {
    const { ino, ctimeNs } = statSync(file, { bigint: true });
    return `${ino} ${ctimeNs}`;
  }

  test('is used again until the program changes, and then it is the only one', async () => {
    using place = makePlace();
    const program = install(join(place.root, 'program'));
    const [first = ''] = await startAndStop(place, program);
    const file = join(place.stateDir, first, 'dist', 'daemon.cjs');
    const before = identityOf(file);
    expect(await startAndStop(place, program)).toEqual([first]);
    expect(identityOf(file)).toBe(before);

    appendFileSync(join(program, 'dist', 'daemon.cjs'), '\n');
    const changed = await startAndStop(place, program);
    expect(changed).toHaveLength(1);
    expect(changed).not.toEqual([first]);
  });

  /** On another file system than the state directory, where files cannot be linked. */
  function installFarAway(): { program: string } & Disposable {
    const dir = mkdtempSync('/dev/shm/berth-test-');
    return { program: install(join(dir, 'program')), [Symbol.dispose]: () => rmSync(dir, { recursive: true }) };
  }

  test('is made of links where it can be, and of files where it cannot', async () => {
    using place = makePlace();
    using far = installFarAway();
    const near = install(join(place.root, 'program'));
    for (const [program, isLinked] of [
      [near, true],
      [far.program, false],
    ] as const) {
      const [only = ''] = await startAndStop(place, program);
      const name = join('dist', 'daemon.cjs');
      expect(statSync(join(place.stateDir, only, name)).ino === statSync(join(program, name)).ino).toBe(isLinked);
    }
  });

  test('is made again when a part of it is missing or empty', async () => {
    using place = makePlace();
    using far = installFarAway();
    const { program } = far;
    const [first = ''] = await startAndStop(place, program);
    const dist = join(place.stateDir, first, 'dist');
    const [some = ''] = readdirSync(dist).filter((name) => name.startsWith('sdk-'));
    truncateSync(join(dist, some));
    rmSync(join(dist, 'migrations'), { recursive: true });
    expect(await startAndStop(place, program)).toEqual([first]);
    expect(statSync(join(dist, some)).size).toBe(statSync(join(program, 'dist', some)).size);
  });

  test('is never what a daemon had copied when it was killed', async () => {
    using place = makePlace();
    using far = installFarAway();
    const { program } = far;
    // A file that cannot be read before somebody writes to it: the daemon is killed in the middle of its copy.
    const slow = join(program, 'dist', 'sdk-slow.cjs');
    execFileSync('mkfifo', [slow]);
    const killed = launch({ env: place.env(), program: join(program, 'bin', 'berth.js') });
    await using opened = await open(slow, 'w');
    expect(copiesIn(place)).toEqual(['program-unfinished']);
    killed.child.kill('SIGKILL');
    await killed.ended;
    await opened.close();
    rmSync(slow);
    const [only = '', ...others] = await startAndStop(place, program);
    expect(others).toEqual([]);
    expect(only).not.toBe('program-unfinished');
  });

  test('is not made by a daemon that finds another one running', async () => {
    using place = makePlace();
    const program = install(join(place.root, 'program'));
    await using running = launch({ env: place.env() });
    await running.ready;
    const before = copiesIn(place);
    await using second = launch({ env: place.env(), program: join(program, 'bin', 'berth.js') });
    expect(await second.ended).toBe(1);
    expect(copiesIn(place)).toEqual(before);
  });
});

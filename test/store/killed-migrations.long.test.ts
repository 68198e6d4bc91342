import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { openOrCreate } from '../../src/store/create.js';
import { cleanEnv, pathsIn, program } from '../support/daemon.js';
import { migrations } from '../support/engine.js';
import { loadSqlite } from '../../src/store/sqlite.js';
import { makeOldStore, readContents } from '../support/old-stores.js';
import { sized } from '../support/fault-sizes.js';
import { createRandom } from '../support/random.js';
import { makeTempDir } from '../support/temp-dir.js';

const Sqlite = loadSqlite();
const random = createRandom(12);

const timeout = 300_000;

test('a migration that is killed at any moment leaves a whole store, which the next start brings on', { timeout }, async () => {
  for (let kill = 0; kill < sized({ short: 4, long: 20, full: 100 }); kill++) {
    const version = random.pick([1, 6, 10, 12]);
    using dir = makeTempDir();
    const paths = pathsIn(dir.path);
    for (const place of [paths.stateDir, paths.configDir, join(dir.path, 's')]) mkdirSync(place, { mode: 0o700, recursive: true });
    const path = join(paths.stateDir, 'berth.db');
    makeOldStore(path, version, { sessions: 40, messages: 250 });
    const before = readContents(path);
    const daemon = spawn(process.execPath, [program, 'daemon', 'run'], {
      env: cleanEnv(dir.path, { BERTH_SOCKET: paths.socket, BERTH_STATE_DIR: paths.stateDir, BERTH_CONFIG_DIR: paths.configDir }),
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    const exited = once(daemon, 'exit');
    // From the copy on, at any moment of the work.
    while (!readdirSync(paths.stateDir).some((name) => name.includes('.before-')) && daemon.exitCode === null) await delay(1);
    await delay(random.below(250));
    daemon.kill('SIGKILL');
    await exited;
    const copy = `${path}.before-${migrations.length}`;
    const db = new Sqlite(path);
    expect(db.pragma('integrity_check', { simple: true })).toBe('ok');
    db.close();
    expect(readContents(path)).toEqual(before);
    if (existsSync(copy)) expect(readContents(copy)).toEqual(before);
    openOrCreate(path, migrations).close();
    expect(readContents(path)).toEqual(before);
    if (existsSync(copy)) expect(readContents(copy)).toEqual(before);
    rmSync(copy, { force: true });
  }
});

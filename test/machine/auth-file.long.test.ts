import { spawn, spawnSync, execFileSync } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  chownSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { AuthFileRefused, createAuthReader, readAuthFile, removeKey, setKey } from '../../src/machine/auth-file.js';
import { limits } from '../../src/protocol/limits.js';
import { poll } from '../cli/run-cli.js';
import { missing } from '../needs.js';
import { faultSize, sized } from '../support/fault-sizes.js';
import { isRoot, strangerUid } from '../support/processes.js';
import { createRandom } from '../support/random.js';
import { makeTempDir, type TempDir } from '../support/temp-dir.js';

vi.setConfig({ testTimeout: 90_000 });

const kills = sized({ short: 8, long: 40, full: 400 });
const herd = 20;
const secret = 'sk-Zq8Wm3Kx7Vt2';
/** A container may have strace and forbid it. */
const noTrace = missing('strace') || spawnSync('strace', ['-o', '/dev/null', 'true']).status !== 0;

/** Programs that do one thing to the file of a directory. */
const programs = {
  loop: `for (let n = 1; ; n++) { await setKey(dir, 'loop', 'key-' + n + 'x'.repeat(4000)); process.stdout.write(n + '\\n'); }`,
  set: `await setKey(dir, ...more);`,
  read: `console.log(readAuthFile(dir).providers.length);`,
};
let scripts: TempDir;

beforeAll(async () => {
  scripts = makeTempDir();
  const entryPoints = [fileURLToPath(new URL('../../src/machine/auth-file.ts', import.meta.url))];
  await build({ entryPoints, outfile: scripts.file('auth-file.mjs'), bundle: true, format: 'esm', platform: 'node', target: 'node20' });
  for (const [name, body] of Object.entries(programs)) {
    const head = `import { readAuthFile, setKey } from './auth-file.mjs'; const [dir, ...more] = process.argv.slice(2);`;
    writeFileSync(scripts.file(`${name}.mjs`), `${head}\n${body}\n`);
  }
});
afterAll(() => scripts[Symbol.dispose]());

function commandOf(program: keyof typeof programs, ...args: string[]): [string, ...string[]] {
  return [process.execPath, scripts.file(`${program}.mjs`), ...args];
}

function modeOf(path: string): string {
  return (statSync(path).mode & 0o777).toString(8);
}

function refusalOf(act: () => unknown): AuthFileRefused {
  try {
    act();
  } catch (error) {
    if (error instanceof AuthFileRefused) return error;
    throw error;
  }
  throw new Error('it was not refused');
}

/** As if whoever left the lock had died long ago. */
function ageLock(path: string): void {
  if (existsSync(path)) utimesSync(path, 1, 1);
}

describe('keys', () => {
  test('are kept, read, replaced and removed; no file is an empty one', async () => {
    using dir = makeTempDir();
    expect(readAuthFile(dir.path).providers).toEqual([]);
    expect(await removeKey(dir.path, 'anthropic')).toBe(false);
    expect(readdirSync(dir.path)).toEqual([]);
    await setKey(dir.path, 'anthropic', ` ${secret}\r\n`);
    await setKey(dir.path, 'openai', 'other');
    await setKey(dir.path, 'anthropic', 'newer');
    expect(JSON.parse(readFileSync(dir.file('auth.json'), 'utf8'))).toEqual({
      anthropic: { api_key: 'newer' },
      openai: { api_key: 'other' },
    });
    const file = readAuthFile(dir.path);
    expect(file.providers).toEqual(['anthropic', 'openai']);
    expect([file.keyOf('anthropic'), file.keyOf('openai'), file.keyOf('nobody')]).toEqual(['newer', 'other', undefined]);
    expect(await removeKey(dir.path, 'openai')).toBe(true);
    expect(await removeKey(dir.path, 'openai')).toBe(false);
    expect(readAuthFile(dir.path).providers).toEqual(['anthropic']);
    expect(readdirSync(dir.path)).toEqual(['auth.json']);
  });

  test.each([0o000, 0o022, 0o077])('are for their owner alone under umask %o, in a directory that is made for them', async (mask) => {
    using dir = makeTempDir();
    const umask = process.umask(mask);
    try {
      await setKey(dir.file('deep/config'), 'a', secret);
    } finally {
      process.umask(umask);
    }
    expect(['deep', 'deep/config', 'deep/config/auth.json'].map((name) => modeOf(dir.file(name)))).toEqual(['700', '700', '600']);
  });

  test('that others could read are theirs no longer once they are read', () => {
    using dir = makeTempDir();
    writeFileSync(dir.file('auth.json'), JSON.stringify({ a: { api_key: secret } }));
    chmodSync(dir.file('auth.json'), 0o644);
    expect(readAuthFile(dir.path).keyOf('a')).toBe(secret);
    expect(modeOf(dir.file('auth.json'))).toBe('600');
  });

  test.skipIf(!isRoot)('of a file that belongs to somebody else are refused', async () => {
    using dir = makeTempDir();
    const text = JSON.stringify({ a: { api_key: secret } });
    writeFileSync(dir.file('auth.json'), text, { mode: 0o600 });
    chownSync(dir.file('auth.json'), strangerUid, strangerUid);
    const { message } = refusalOf(() => readAuthFile(dir.path));
    expect(message).toContain(`${dir.file('auth.json')} belongs to another user`);
    await expect(setKey(dir.path, 'b', 'x')).rejects.toThrow(AuthFileRefused);
    await expect(removeKey(dir.path, 'a')).rejects.toThrow(AuthFileRefused);
    expect({ text: readFileSync(dir.file('auth.json'), 'utf8'), left: readdirSync(dir.path) }).toEqual({ text, left: ['auth.json'] });
  });

  test('go beside what else is in the file, and everything else stays', async () => {
    using dir = makeTempDir();
    const before = { $schema: 'x', a: { api_key: 'old', region: 'eu' }, b: { token: [1, { deep: null }] }, c: 'text' };
    writeFileSync(dir.file('auth.json'), `\ufeff${JSON.stringify(before)}`, { mode: 0o600 });
    expect(readAuthFile(dir.path).providers).toEqual(['a']);
    await setKey(dir.path, 'a', 'new');
    await setKey(dir.path, 'b', 'added');
    const read = (): unknown => JSON.parse(readFileSync(dir.file('auth.json'), 'utf8'));
    expect(read()).toEqual({ ...before, a: { api_key: 'new', region: 'eu' }, b: { ...before.b, api_key: 'added' } });
    expect(await removeKey(dir.path, 'a')).toBe(true);
    expect(await removeKey(dir.path, 'c')).toBe(false);
    expect(read()).toEqual({ ...before, a: { region: 'eu' }, b: { ...before.b, api_key: 'added' } });
  });

  test.each(['__proto__', 'constructor', 'toString', 'hasOwnProperty', '.', '..', '-x', 'A.b_c-9', 'x'.repeat(64)])(
    'can be those of a provider called %s',
    async (name) => {
      using dir = makeTempDir();
      expect(readAuthFile(dir.path).keyOf(name)).toBeUndefined();
      await setKey(dir.path, 'other', 'other');
      await setKey(dir.path, name, secret);
      const file = readAuthFile(dir.path);
      expect([file.keyOf(name), file.keyOf('other'), file.providers]).toEqual([secret, 'other', expect.arrayContaining([name, 'other'])]);
      expect(readFileSync(dir.file('auth.json'), 'utf8')).toContain(JSON.stringify(name));
      expect(({} as { api_key?: unknown }).api_key).toBeUndefined();
      expect(await removeKey(dir.path, name)).toBe(true);
      expect(readAuthFile(dir.path).providers).toEqual(['other']);
    },
  );

  test.each(['', ' ', 'a b', 'a/b', 'a\n', 'é', 'x'.repeat(65), '\u0000'])('are not those of a provider called %j', async (name) => {
    using dir = makeTempDir();
    await expect(setKey(dir.path, name, secret)).rejects.toThrow(AuthFileRefused);
    expect(readdirSync(dir.path)).toEqual([]);
  });

  test('are printable ASCII of a bounded length, or refused in words that do not show them', async () => {
    using dir = makeTempDir();
    for (const key of ['', ' \n', `${secret}\n${secret}`, `${secret}é`, `${secret}\u0000x`, `${secret}\u200b`, secret.repeat(600)]) {
      const refusal: unknown = await setKey(dir.path, 'a', key).catch((error: unknown) => error);
      expect(refusal).toBeInstanceOf(AuthFileRefused);
      expect(String(refusal)).not.toContain(secret);
      expect(readdirSync(dir.path)).toEqual([]);
    }
    const longest = `~!${'x'.repeat(8_190)}`;
    await setKey(dir.path, 'a', longest);
    expect(readAuthFile(dir.path).keyOf('a')).toBe(longest);
  });

  test('that somebody wrote into the file and no request can carry are refused one by one', async () => {
    using dir = makeTempDir();
    const entries = {
      good: { api_key: ' fine\n' },
      number: { api_key: 5 },
      lines: { api_key: `${secret}\n${secret}` },
      '\u001b[2J': { api_key: '' },
    };
    writeFileSync(dir.file('auth.json'), JSON.stringify(entries), { mode: 0o600 });
    const file = readAuthFile(dir.path);
    expect(file.providers).toEqual(Object.keys(entries));
    expect(file.keyOf('good')).toBe('fine');
    for (const name of ['number', 'lines', '\u001b[2J']) {
      const { message } = refusalOf(() => file.keyOf(name));
      expect(message).toContain(dir.file('auth.json'));
      expect(message).not.toMatch(/sk-|\u001b/); // eslint-disable-line no-control-regex
    }
    await setKey(dir.path, 'lines', secret);
    expect(readAuthFile(dir.path).keyOf('lines')).toBe(secret);
  });
});

describe('a file that cannot be used', () => {
  const object = JSON.stringify({ a: { api_key: secret } });
  test.each([
    ['is cut off', object.slice(0, -3)],
    ['has a key without quotes', `{"a": {"api_key": ${secret}}}`],
    ['is a key and nothing else', secret],
    ['is a list', `["${secret}"]`],
    ['is a text', `"${secret}"`],
    ['is null', 'null'],
    ['is not UTF-8', Buffer.concat([Buffer.from(object.slice(0, 20)), Buffer.from([0xff]), Buffer.from(object.slice(20))])],
    ['is too large', object + ' '.repeat(limits.authFileBytesMax)],
  ])('because it %s is named, not shown, and left as it is', async (_, text) => {
    using dir = makeTempDir();
    writeFileSync(dir.file('auth.json'), text, { mode: 0o600 });
    const before = readFileSync(dir.file('auth.json'));
    const refusals = [
      refusalOf(() => readAuthFile(dir.path)),
      await setKey(dir.path, 'b', 'x').catch((error: unknown) => error),
      await removeKey(dir.path, 'a').catch((error: unknown) => error),
    ];
    for (const refusal of refusals) {
      expect(refusal).toBeInstanceOf(AuthFileRefused);
      const { message, stack, cause } = refusal as AuthFileRefused;
      expect(message).toContain(dir.file('auth.json'));
      // A log has the stack and the cause too.
      expect(message + String(stack) + String((cause as Error | undefined)?.stack)).not.toMatch(/sk-|Zq8/);
    }
    expect(readFileSync(dir.file('auth.json')).equals(before)).toBe(true);
    expect(readdirSync(dir.path)).toEqual(['auth.json']);
  });

  test.each(['', ' \n', '{}'])('is not one that says nothing: %j', async (text) => {
    using dir = makeTempDir();
    writeFileSync(dir.file('auth.json'), text, { mode: 0o600 });
    expect(readAuthFile(dir.path).providers).toEqual([]);
    await setKey(dir.path, 'a', secret);
    expect(readAuthFile(dir.path).keyOf('a')).toBe(secret);
  });

  test('never makes it grow beyond what can be read again', async () => {
    using dir = makeTempDir();
    writeFileSync(dir.file('auth.json'), JSON.stringify({ x: 'x'.repeat(limits.authFileBytesMax - 100) }), { mode: 0o600 });
    await expect(setKey(dir.path, 'a', 'y'.repeat(100))).rejects.toThrow(/would become larger/);
    expect(readAuthFile(dir.path).providers).toEqual([]);
    expect(readdirSync(dir.path)).toEqual(['auth.json']);
  });

  test.each([
    ['a pipe that nobody writes to', (path: string) => void execFileSync('mkfifo', [path])],
    ['a directory', (path: string) => mkdirSync(path)],
    ['a link to a device', (path: string) => symlinkSync('/dev/zero', path)],
    ['a link to itself', (path: string) => symlinkSync('auth.json', path)],
  ])('because it is %s is refused at once', (_, make) => {
    using dir = makeTempDir();
    make(dir.file('auth.json'));
    for (const [command, ...args] of [commandOf('read', dir.path), commandOf('set', dir.path, 'a', secret)]) {
      const { status, signal, stderr } = spawnSync(command, args, { encoding: 'utf8', timeout: 20_000 });
      expect({ status, signal }).toEqual({ status: 1, signal: null });
      expect(stderr).toContain('AuthFileRefused');
      expect(stderr).toContain(dir.file('auth.json'));
    }
    expect(readdirSync(dir.path)).toEqual(['auth.json']);
    expect(existsSync('/dev/zero.lock')).toBe(false);
  });
});

describe('a link', () => {
  test.each(['../dotfiles/auth.json', 'second.json'])('to %s stays, and what it means is written', async (to) => {
    using dir = makeTempDir();
    for (const name of ['config', 'dotfiles']) mkdirSync(dir.file(name));
    symlinkSync(to, dir.file('config/auth.json'));
    symlinkSync(dir.file('dotfiles/auth.json'), dir.file('config/second.json'));
    // Twice: at first there is nothing at its end.
    for (const key of ['first', 'second']) {
      await setKey(dir.file('config'), 'a', key);
      expect(lstatSync(dir.file('config/auth.json')).isSymbolicLink()).toBe(true);
      expect(lstatSync(dir.file('dotfiles/auth.json')).isFile()).toBe(true);
      expect(JSON.parse(readFileSync(dir.file('dotfiles/auth.json'), 'utf8'))).toEqual({ a: { api_key: key } });
      expect(modeOf(dir.file('dotfiles/auth.json'))).toBe('600');
      expect(readAuthFile(dir.file('config')).keyOf('a')).toBe(key);
    }
    expect(readdirSync(dir.file('dotfiles'))).toEqual(['auth.json']);
    expect(await removeKey(dir.file('config'), 'a')).toBe(true);
    expect(lstatSync(dir.file('config/auth.json')).isSymbolicLink()).toBe(true);
  });
});

describe('a reader', () => {
  test('reads again what has changed, however fast and however alike, and nothing else', async () => {
    using dir = makeTempDir();
    const reader = createAuthReader(dir.path);
    expect(reader.read().keyOf('a')).toBeUndefined();
    expect(reader.read()).toBe(reader.read());
    await setKey(dir.path, 'a', 'first');
    expect(reader.read().keyOf('a')).toBe('first');
    for (let n = 100; n < 400; n++) {
      writeFileSync(dir.file('auth.json'), JSON.stringify({ a: { api_key: `key${n}` } }));
      expect(reader.read().keyOf('a')).toBe(`key${n}`);
    }
    await poll(() => reader.read() === reader.read(), Boolean);
    const { atime, mtime } = statSync(dir.file('auth.json'));
    writeFileSync(dir.file('auth.json'), JSON.stringify({ a: { api_key: 'key999'.slice(0, 6) } }));
    utimesSync(dir.file('auth.json'), atime, mtime);
    expect(reader.read().keyOf('a')).toBe('key999');
    await removeKey(dir.path, 'a');
    expect(reader.read().keyOf('a')).toBeUndefined();
    writeFileSync(dir.file('auth.json'), '{');
    for (let look = 0; look < 2; look++) expect(refusalOf(() => reader.read()).message).toContain('is not JSON');
    writeFileSync(dir.file('auth.json'), JSON.stringify({ a: { api_key: 'mended' } }));
    expect(reader.read().keyOf('a')).toBe('mended');
  });
});

describe('writers at once', () => {
  test.each(['none', 'one that a dead writer left'])(`${herd} processes keep ${herd} keys; lock before: %s`, async (lock) => {
    using dir = makeTempDir();
    if (lock !== 'none') writeFileSync(dir.file('auth.json.lock'), '');
    ageLock(dir.file('auth.json.lock'));
    const names = Array.from({ length: herd }, (_, n) => `provider${n}`);
    const codes = await Promise.all(
      names.map(async (name) => {
        const [command, ...args] = commandOf('set', dir.path, name, `key of ${name}`);
        const [code] = (await once(spawn(command, args, { stdio: ['ignore', 'ignore', 'inherit'] }), 'exit')) as [number | null];
        return code;
      }),
    );
    expect(codes).toEqual(names.map(() => 0));
    const file = readAuthFile(dir.path);
    expect(names.map((name) => file.keyOf(name))).toEqual(names.map((name) => `key of ${name}`));
    expect(readdirSync(dir.path)).toEqual(['auth.json']);
  });

  test('in one process do not lose anything either', async () => {
    using dir = makeTempDir();
    const names = Array.from({ length: herd }, (_, n) => `provider${n}`);
    await Promise.all(names.map((name) => setKey(dir.path, name, secret)));
    expect([...readAuthFile(dir.path).providers].sort()).toEqual([...names].sort());
    const removed = await Promise.all([...names, ...names].map((name) => removeKey(dir.path, name)));
    expect(removed.filter(Boolean)).toHaveLength(herd);
    expect(readAuthFile(dir.path).providers).toEqual([]);
  });

  test('wait until a lock is given back', async () => {
    using dir = makeTempDir();
    writeFileSync(dir.file('auth.json.lock'), '');
    const set = setKey(dir.path, 'a', secret);
    const other = setKey(dir.file('other'), 'a', secret);
    await other;
    expect(readdirSync(dir.path)).toEqual(['auth.json.lock', 'other']);
    rmSync(dir.file('auth.json.lock'));
    await set;
    expect(readAuthFile(dir.path).keyOf('a')).toBe(secret);
  });

  if (faultSize !== 'short') {
    test('give up on a lock that is never given back, and say which', async () => {
      using dir = makeTempDir();
      writeFileSync(dir.file('auth.json.lock'), '');
      const keepYoung = setInterval(() => utimesSync(dir.file('auth.json.lock'), new Date(), new Date()), limits.authLockMs / 4);
      const refusal: unknown = await setKey(dir.path, 'a', secret).catch((error: unknown) => error);
      clearInterval(keepYoung);
      expect(refusal).toBeInstanceOf(AuthFileRefused);
      expect(String(refusal)).toContain(dir.file('auth.json.lock'));
      expect(readdirSync(dir.path)).toEqual(['auth.json.lock']);
    });
  }
});

describe('a writer that is killed', () => {
  test(
    `at any moment, ${kills} times and until one held the lock, leaves the old keys or the new ones, and nothing for others to read`,
    { timeout: kills * 5_000 },
    async () => {
      using dir = makeTempDir();
      const random = createRandom(7);
      await setKey(dir.path, 'old', 'kept');
      let foundLocked = 0;
      for (let round = 0; round < kills || foundLocked === 0; round++) {
        const child = spawn('sh', ['-c', 'umask 000; exec "$@"', 'sh', ...commandOf('loop', dir.path)], {
          stdio: ['ignore', 'pipe', 'inherit'],
        });
        const closed = once(child, 'close');
        const enough = 1 + random.below(12);
        let said = '';
        child.stdout.setEncoding('utf8').on('data', (text: string) => {
          said += text;
          if (said.split('\n').length > enough) child.kill('SIGKILL');
        });
        expect(await closed).toEqual([null, 'SIGKILL']);
        const last = Number(said.trim().split('\n').at(-1));
        const file = JSON.parse(readFileSync(dir.file('auth.json'), 'utf8')) as Record<string, { api_key: string }>;
        expect(file.old).toEqual({ api_key: 'kept' });
        // What was acknowledged, or the one after.
        expect([last, last + 1].map((n) => `key-${n}${'x'.repeat(4000)}`)).toContain(file.loop?.api_key);
        const names = readdirSync(dir.path);
        expect(names.filter((name) => !/^auth\.json(\.lock|\.\d+\.\d+\.tmp)?$/.test(name))).toEqual([]);
        expect(names.length).toBeLessThanOrEqual(3);
        expect(names.map((name) => modeOf(dir.file(name)))).toEqual(names.map(() => '600'));
        if (names.includes('auth.json.lock')) foundLocked++;
        ageLock(dir.file('auth.json.lock'));
      }
      await setKey(dir.path, 'loop', 'last');
      expect(readdirSync(dir.path)).toEqual(['auth.json']);
    },
  );
});

describe.skipIf(noTrace)('step by step (needs strace)', () => {
  function runTraced(dir: TempDir, inject: string): ReturnType<typeof spawnSync> {
    const [command, ...args] = commandOf('set', dir.path, 'a', 'new');
    return spawnSync('strace', [
      '-f',
      '-o',
      dir.file('trace'),
      '-e',
      `trace=/^(fchmod|fsync|rename|unlink)`,
      '-e',
      `inject=${inject}`,
      command,
      ...args,
    ]);
  }

  test.each([
    ['before anything is written', 'fchmod:signal=SIGKILL:when=1', 'old'],
    ['when all is written', 'fsync:signal=SIGKILL:when=1', 'old'],
    ['at the step itself', '/^rename:signal=SIGKILL:when=1', 'old'],
    ['right after it', 'fsync:signal=SIGKILL:when=2', 'new'],
    ['before it gives the lock back', '/^unlink:signal=SIGKILL:when=1', 'new'],
  ])('a kill %s', async (_, inject, found) => {
    using dir = makeTempDir();
    await setKey(dir.path, 'a', 'old');
    runTraced(dir, inject);
    expect(readFileSync(dir.file('trace'), 'utf8')).toContain('killed by SIGKILL');
    expect(existsSync(dir.file('auth.json.lock'))).toBe(true);
    expect(readAuthFile(dir.path).keyOf('a')).toBe(found);
    ageLock(dir.file('auth.json.lock'));
    await setKey(dir.path, 'b', 'after');
    expect([readAuthFile(dir.path).keyOf('a'), readAuthFile(dir.path).keyOf('b')]).toEqual([found, 'after']);
    expect(readdirSync(dir.path)).toEqual(['auth.json', 'trace']);
  });

  test.each(['fsync:error=EIO:when=1', '/^rename:error=ENOSPC'])(
    'a failure (%s) is told, leaves the old keys and nothing beside them',
    async (inject) => {
      using dir = makeTempDir();
      await setKey(dir.path, 'a', 'old');
      const { status, stderr } = runTraced(dir, inject);
      expect(status).toBe(1);
      expect(String(stderr)).toContain(`cannot write ${join(dir.path, 'auth.json')}`);
      expect(readAuthFile(dir.path).keyOf('a')).toBe('old');
      expect(readdirSync(dir.path)).toEqual(['auth.json', 'trace']);
    },
  );
});

import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, test, vi } from 'vitest';
import { missing } from '../needs.js';
import { program } from '../support/daemon.js';
import { sized } from '../support/fault-sizes.js';
import { makeHome, poll, runCommand, runJson, runOk, startCommand, type Finished, type Place } from './run-cli.js';

// Each command is a process of its own.
vi.setConfig({ testTimeout: 90_000 });

const secret = 'Zq8Wm3Kx7Vt2Jn5R';
const key = `sk-ant-${secret}`;

function authFile({ paths }: Place): string {
  return join(paths.configDir, 'auth.json');
}

function keysIn(place: Place): unknown {
  return JSON.parse(readFileSync(authFile(place), 'utf8'));
}

/** Not even a few characters of the key are in what was printed. */
function expectUnseen({ stdout, stderr }: Pick<Finished, 'stdout' | 'stderr'>): void {
  for (let at = 0; at + 4 <= secret.length; at++) expect(stdout + stderr).not.toContain(secret.slice(at, at + 4));
}

test('a key comes from standard input, is listed without any of it, and is removed; no daemon is started', async () => {
  await using home = makeHome();
  const path = authFile(home);
  expect(await runOk(home, ['auth', 'list'])).toContain('berth auth set');
  expect(await runCommand(home, ['auth', 'set', 'anthropic'], { input: `  ${key}\n` })).toMatchObject({
    code: 0,
    stdout: `kept a key for anthropic in ${path}\n`,
    stderr: '',
  });
  expect(keysIn(home)).toEqual({ anthropic: { api_key: key } });
  expect(statSync(path).mode & 0o777).toBe(0o600);
  await runOk(home, ['auth', 'set', 'my.own-one'], { input: key });
  const listed = await runCommand(home, ['auth', 'list']);
  expect(listed).toMatchObject({ code: 0, stdout: `anthropic   ${path}\nmy.own-one  ${path}\n`, stderr: '' });
  expectUnseen(listed);
  const json = await runCommand(home, ['auth', 'list', '--json']);
  expectUnseen(json);
  expect(await runJson(home, ['auth', 'list'])).toEqual([
    { provider: 'anthropic', source: 'file', path, usable: true },
    { provider: 'my.own-one', source: 'file', path, usable: true },
  ]);
  expect(await runOk(home, ['auth', 'rm', 'anthropic'])).toBe(`removed the key for anthropic from ${path}\n`);
  expect(await runCommand(home, ['auth', 'rm', 'anthropic'])).toMatchObject({
    code: 1,
    stdout: '',
    stderr: `berth: there is no key for anthropic in ${path}; berth auth list says which there are\n`,
  });
  expect(keysIn(home)).toEqual({ 'my.own-one': { api_key: key } });
  expect([home.paths.socket, home.paths.stateDir].filter((made) => existsSync(made))).toEqual([]);
});

test('the directory is made when it is missing, and its name is short where it is in the home', async () => {
  await using home = makeHome();
  const env = { BERTH_CONFIG_DIR: '', XDG_CONFIG_HOME: '' };
  expect(await runOk(home, ['auth', 'set', 'openai'], { input: key, env })).toBe('kept a key for openai in ~/.config/berth/auth.json\n');
  expect(await runOk(home, ['auth', 'list'], { env })).toBe('openai  ~/.config/berth/auth.json\n');
  const dir = join(home.root, 'home/.config/berth');
  expect([dir, join(dir, 'auth.json')].map((path) => (statSync(path).mode & 0o777).toString(8))).toEqual(['700', '600']);
});

test('variables of the shell are told apart from what the daemon sees', async () => {
  await using home = makeHome();
  await runOk(home, ['auth', 'set', 'openai'], { input: 'kept' });
  const env = { ANTHROPIC_API_KEY: key, OPENAI_API_KEY: ' ' };
  const listed = await runCommand(home, ['auth', 'list'], { env });
  expectUnseen(listed);
  expect(listed.stdout).toBe(
    `openai     ${authFile(home)}\nanthropic  ANTHROPIC_API_KEY in the environment of this shell; the daemon sees its own\n`,
  );
  expect(await runJson(home, ['auth', 'list'], { env })).toContainEqual({
    provider: 'anthropic',
    source: 'environment',
    variable: 'ANTHROPIC_API_KEY',
  });
});

test('a key on the command line is refused with the reason, and not repeated', async () => {
  await using home = makeHome();
  for (const words of [[key], ['--key', key], [`--key=${key}`], ['--', key], ['x', 'y'], [`-k${key}`]]) {
    const refused = await runCommand(home, ['auth', 'set', 'anthropic', ...words], { input: key });
    expect({ words, ...refused }).toMatchObject({
      code: 64,
      stdout: '',
      stderr: expect.stringMatching(/^berth: a key is not taken .*history/),
    });
    expectUnseen(refused);
  }
  for (const typed of [`${key}${key}`, key + 'x'.repeat(60), `--key=${key}`, `--${secret}`, 'a b', '', `${secret}/${secret}`]) {
    for (const name of ['set', 'rm']) {
      const refused = await runCommand(home, ['auth', name, ...(name === 'rm' ? ['--'] : []), typed], { input: key });
      expect({ name, typed, ...refused }).toMatchObject({ code: 64, stdout: '' });
      expectUnseen(refused);
    }
  }
  expect(await runCommand(home, ['auth', 'set'])).toMatchObject({ code: 64 });
  expect(existsSync(authFile(home))).toBe(false);
});

test('a provider that is nearly a built-in one is refused with its name, unless the config has it', async () => {
  await using home = makeHome();
  const { code, stderr } = await runCommand(home, ['auth', 'set', 'antropic'], { input: key });
  expect(code).toBe(1);
  expect(stderr).toMatch(/there is no provider antropic; did you mean anthropic\?/);
  expect(existsSync(authFile(home))).toBe(false);
  mkdirSync(home.paths.configDir, { recursive: true });
  writeFileSync(join(home.paths.configDir, 'config.json'), '{ "providers": { // mine\n "antropic": { "api": "anthropic", }, }, }');
  await runOk(home, ['auth', 'set', 'antropic'], { input: key });
  expect(keysIn(home)).toEqual({ antropic: { api_key: key } });
});

test('what is no key is refused, and nothing is written', async () => {
  await using home = makeHome();
  for (const input of ['', ' \n\n', `${key}\nuser: me\n`, `${key}é`, `${key}\u0000`, key.repeat(2_000_000)]) {
    const refused = await runCommand(home, ['auth', 'set', 'anthropic'], { input });
    expect(refused).toMatchObject({ code: 1, stdout: '', stderr: expect.stringMatching(/^berth: .*; nothing was written\n$/) });
    expectUnseen(refused);
  }
  expect(existsSync(authFile(home))).toBe(false);
});

test('a file that cannot be used is named before any key is asked for, and stays as it is', async () => {
  await using home = makeHome();
  writeFileSync(authFile(home), `{"anthropic": {"api_key": "${key}"`, { mode: 0o600 });
  await using waiting = startCommand(home, ['auth', 'set', 'openai']);
  const ended = [await waiting.finished(), await runCommand(home, ['auth', 'list']), await runCommand(home, ['auth', 'rm', 'anthropic'])];
  for (const refused of ended) {
    expect(refused).toMatchObject({ code: 1, stdout: '', stderr: expect.stringContaining(`${authFile(home)} is not JSON`) });
    expectUnseen(refused);
  }
  expect(readFileSync(authFile(home), 'utf8')).toBe(`{"anthropic": {"api_key": "${key}"`);
});

test('what somebody wrote into the file is harmless to the terminal, and a key that cannot be used is told', async () => {
  await using home = makeHome();
  const entries = { '\u001b]0;owned\u0007\n': { api_key: key }, openai: { api_key: `${key}\n${key}` } };
  writeFileSync(authFile(home), JSON.stringify(entries), { mode: 0o600 });
  const listed = await runCommand(home, ['auth', 'list']);
  expect(listed.stdout).toMatch(/^␛\]0;owned␇ +\S+auth\.json\nopenai +\S+auth\.json \(cannot be used; set it again\)\n$/);
  expectUnseen(listed);
  expect(await runJson(home, ['auth', 'list'])).toMatchObject([{ usable: true }, { provider: 'openai', usable: false }]);
});

const atOnce = sized({ short: 6, long: 20, full: 20 });

test(`${atOnce} commands at once keep ${atOnce} keys`, async () => {
  await using home = makeHome();
  const names = Array.from({ length: atOnce }, (_, n) => `provider${n}`);
  await Promise.all(names.map((name) => runOk(home, ['auth', 'set', name], { input: `key of ${name}\n` })));
  expect(keysIn(home)).toEqual(Object.fromEntries(names.map((name) => [name, { api_key: `key of ${name}` }])));
  await Promise.all(names.map((name) => runOk(home, ['auth', 'rm', name])));
  expect(keysIn(home)).toEqual({});
});

test('help says which providers there are, and that no restart is needed', async () => {
  await using home = makeHome();
  expect(await runOk(home, ['auth', '--help'])).toMatch(/set <provider>[^]*list[^]*rm <provider>/);
  for (const [name, usage = name] of [['set'], ['list', 'list|ls'], ['rm']] as const)
    expect(await runOk(home, ['auth', name, '--help'])).toContain(`Usage: berth auth ${usage} [options]`);
  expect(await runOk(home, ['help', 'auth', 'set'])).toMatch(/anthropic or openai, or any provider that config\.json names[^]*no restart/);
  expect(await runCommand(home, ['auth', 'dance'])).toMatchObject({ code: 64 });
  expect(await runCommand(home, ['auth', 'list', 'x'])).toMatchObject({ code: 64 });
});

interface Screen extends AsyncDisposable {
  /** Types as a person does: names of keys such as `Enter`, or texts. */
  type(...keys: string[]): Promise<void>;
  paste(text: string): Promise<void>;
  until(fits: (text: string) => boolean): Promise<string>;
}

let screens = 0;

/** Runs `berth auth set anthropic` in a terminal of its own, then says how it ended and what the terminal does with what is typed. */
async function openScreen(place: Place): Promise<Screen> {
  const own = { ...place.env, TMUX: '', TMUX_TMPDIR: place.root };
  const server = `berth-auth-${++screens}`;
  const run = promisify(execFile);
  const tmux = async (...words: string[]): Promise<string> =>
    (await run('tmux', ['-u', '-L', server, '-f', '/dev/null', ...words], { env: own, cwd: place.workdir })).stdout;
  const script = [
    `sh -c 'echo $$ > pid; exec "$@"' sh '${process.execPath}' '${program}' auth set anthropic`,
    'echo "ended with $?"',
    `stty -a | tr -s ' ;' '\\n\\n' | grep -x -e '-*echo' -e '-*icanon' -e '-*isig' | tr '\\n' ' '`,
    'exec cat',
  ].join('; ');
  const pane = (await tmux('new-session', '-d', '-P', '-F', '#{pane_id}', '-x', '150', '-y', '40', script)).trim();
  return {
    async type(...keys) {
      await tmux('send-keys', '-t', pane, ...keys);
    },
    async paste(text) {
      await tmux('set-buffer', text);
      await tmux('paste-buffer', '-p', '-t', pane);
    },
    until: (fits) => poll(() => tmux('capture-pane', '-p', '-J', '-S', '-', '-t', pane), fits),
    async [Symbol.asyncDispose]() {
      await tmux('kill-server').catch(() => undefined);
    },
  };
}

const asks = (text: string): boolean => text.includes('API key for anthropic (not shown): ');
const isRestored = (text: string): boolean => text.includes('isig icanon echo ');

describe.skipIf(missing('tmux'))('in a terminal (needs tmux)', () => {
  test('a key is typed and corrected unseen', async () => {
    await using home = makeHome();
    await using screen = await openScreen(home);
    await screen.until(asks);
    await screen.type('wrong', 'C-u', 'Left', 'Up', 'Home', 'F5', 'Tab', `${key}xy`, 'BSpace', 'BSpace', 'DC', 'Enter');
    const text = await screen.until(isRestored);
    expect(text).toMatch(/^API key for anthropic \(not shown\): *\nkept a key for anthropic in \S+auth\.json\nended with 0\n/);
    expectUnseen({ stdout: text, stderr: '' });
    expect(keysIn(home)).toEqual({ anthropic: { api_key: key } });
  });

  test('a key is pasted, with the line end that came along', async () => {
    await using home = makeHome();
    await using screen = await openScreen(home);
    await screen.until(asks);
    await screen.paste(`${key}\n`);
    await screen.type('Enter');
    const text = await screen.until(isRestored);
    expect(text).toContain('ended with 0');
    expectUnseen({ stdout: text, stderr: '' });
    expect(keysIn(home)).toEqual({ anthropic: { api_key: key } });
  });

  test('of several pasted lines none goes to the shell', async () => {
    await using home = makeHome();
    await using screen = await openScreen(home);
    await screen.until(asks);
    await screen.paste(`${key}\necho ${secret}\n`);
    await screen.type('Enter');
    const text = await screen.until(isRestored);
    expect(text).toMatch(/berth: a key is one line, and these are several; nothing was written\nended with 1\n/);
    expectUnseen({ stdout: text, stderr: '' });
    expect(existsSync(authFile(home))).toBe(false);
  });

  test.each([
    ['ctrl-C', [secret, 'C-c'], 'berth: no key was entered; nothing was written'],
    ['ctrl-D before anything', ['C-d'], 'berth: there is no key; nothing was written'],
    ['enter before anything', ['Enter'], 'berth: there is no key; nothing was written'],
  ])('%s writes nothing, and what is typed next is shown again', async (_, keys, sentence) => {
    await using home = makeHome();
    await using screen = await openScreen(home);
    await screen.until(asks);
    await screen.type(...keys);
    const text = await screen.until(isRestored);
    expect(text).toContain(`${sentence}\nended with 1\n`);
    expectUnseen({ stdout: text, stderr: '' });
    expect(existsSync(authFile(home))).toBe(false);
    await screen.type('ahoy');
    await screen.until((seen) => seen.includes('ahoy'));
  });

  test.each([
    ['SIGTERM', 143],
    ['SIGINT', 130],
    ['SIGHUP', 129],
  ] as const)('%s writes nothing, and what is typed next is shown again', async (signal, code) => {
    await using home = makeHome();
    await using screen = await openScreen(home);
    await screen.until(asks);
    process.kill(Number(readFileSync(join(home.workdir, 'pid'), 'utf8')), signal);
    const text = await screen.until(isRestored);
    expect(text).toContain(`ended with ${code}\n`);
    expect(existsSync(authFile(home))).toBe(false);
    await screen.type('ahoy');
    await screen.until((seen) => seen.includes('ahoy'));
  });
});

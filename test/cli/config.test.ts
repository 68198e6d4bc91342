import { chmodSync, lstatSync, mkdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { makeHome, runCommand, runJson, runOk, type Place } from './run-cli.js';

vi.setConfig({ testTimeout: 90_000 });

function configOf(place: Place, text?: string): string {
  const path = join(place.paths.configDir, 'config.json');
  mkdirSync(place.paths.configDir, { recursive: true });
  if (text !== undefined) writeFileSync(path, text);
  return path;
}

test('a key is set and removed without a daemon, through a link, with comments and mode kept', async () => {
  await using home = makeHome();
  const path = configOf(home);
  const dotfile = join(home.root, 'dotfile.json');
  const text = '{\n  "model": "offline/one", // mine\n  "limits": { "model_attempts": 3 },\n}\n';
  writeFileSync(dotfile, text);
  chmodSync(dotfile, 0o644);
  symlinkSync(dotfile, path);
  await runOk(home, ['config', 'set', 'limits.model_attempts', '5']);
  await runOk(home, ['config', 'set', 'model', 'offline/two']);
  await runOk(home, ['config', 'set', 'thinking', 'low']);
  await runOk(home, ['config', 'unset', 'limits.model_attempts']);
  expect(readFileSync(dotfile, 'utf8')).toBe('{\n  "model": "offline/two", // mine\n  "limits": { },\n  "thinking": "low",\n}\n');
  expect(lstatSync(path).isSymbolicLink()).toBe(true);
  expect(statSync(dotfile).mode & 0o777).toBe(0o644);
});

test('what the schema refuses is refused with the nearest key, and nothing is written', async () => {
  await using home = makeHome();
  const path = configOf(home, '{}');
  for (const [args, why] of [
    [['config', 'set', 'permisions.mode', 'ask'], 'there is no key permisions; did you mean permissions?'],
    [['config', 'set', 'permissions.mode', 'aks'], 'permissions.mode: '],
    [['config', 'get', 'limits.runs'], 'there is no key limits.runs'],
    [['config', 'set', 'providers.openai.api_key', 'sk-canary'], 'a secret is not taken from the command line'],
  ] as const) {
    const { code, stdout, stderr } = await runCommand(home, [...args]);
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toContain(why);
  }
  expect(readFileSync(path, 'utf8')).toBe('{}');
});

test('a value is shown with where it comes from, and secrets only when asked for', async () => {
  await using home = makeHome({ ANTHROPIC_API_KEY: 'env-canary' });
  const path = configOf(home);
  await runOk(home, ['config', 'set', 'providers.openai.api_key', '-'], { input: 'file-canary\n' });
  await runOk(home, ['config', 'set', 'permissions.mode', 'full']);
  expect(statSync(path).mode & 0o777).toBe(0o600);
  expect(await runOk(home, ['config', 'get', 'permissions.mode'])).toBe('full\n');
  const all = await runOk(home, ['config', 'get']);
  expect(all).not.toContain('canary');
  expect(all).toMatch(/providers\.openai\.api_key +\[hidden\] +config\.json, line 4\n/);
  expect(all).toMatch(/limits\.runs_at_once +\d+ +default\n/);
  expect(all).toMatch(/providers\.anthropic\.api_key +\[hidden\] +ANTHROPIC_API_KEY in the environment/);
  expect(await runJson(home, ['config', 'get', 'steering_mode'])).toEqual([
    { key: 'steering_mode', value: 'one-at-a-time', source: 'default' },
  ]);
  expect(await runOk(home, ['config', 'get', 'providers', '--reveal'])).toContain('file-canary');
});

test('check says at which line and column what is wrong, and ends with 1', async () => {
  await using home = makeHome();
  expect(await runOk(home, ['config', 'check'])).toContain('does not exist: the defaults count');
  const path = configOf(home, '{\n  "thinking": "low",\n  "modle": "offline/one"\n}');
  const { code, stdout } = await runCommand(home, ['config', 'check']);
  expect({ code, stdout }).toEqual({ code: 1, stdout: `${path}:3:3: there is no key modle; did you mean model?\n` });
  writeFileSync(path, '{\n  "thinking": low\n}');
  expect((await runCommand(home, ['config', 'check'])).stdout).toContain(`${path}:2:15: is not JSON`);
});

test('edit opens the editor on the file, makes it when it is missing, and checks it afterwards', async () => {
  await using home = makeHome({ EDITOR: 'sed -i s/{/{\\"thinking\\":\\"low\\"/' });
  const path = configOf(home);
  expect(await runOk(home, ['config', 'edit'])).toContain('is right');
  expect(readFileSync(path, 'utf8')).toContain('{"thinking":"low"');
  const wrong = await runCommand(home, ['config', 'edit'], { env: { EDITOR: 'sed -i s/low/lwo/' } });
  expect(wrong).toMatchObject({ code: 1, stdout: expect.stringContaining('thinking: ') });
  expect(await runOk(home, ['config', 'path'])).toBe(`${path}\n`);
});

test('the schema that is printed is the one in docs/, and its own key is accepted', async () => {
  await using home = makeHome();
  configOf(home, '{"$schema": "./config.schema.json"}');
  const printed = await runOk(home, ['config', 'schema']);
  expect(JSON.parse(printed)).toEqual(JSON.parse(readFileSync(new URL('../../docs/config.schema.json', import.meta.url), 'utf8')));
  expect(await runOk(home, ['config', 'check'])).toContain('is right');
});

import { mkdirSync, readFileSync, rmdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { startDaemon, type TestDaemon } from '../support/daemon.js';
import { isEvent, listenTo } from '../support/wire.js';
import { runCommand, runJsonLine, runOk } from './run-cli.js';

vi.setConfig({ testTimeout: 90_000 });

function writeConfig({ paths }: TestDaemon, config: unknown): void {
  writeFileSync(join(paths.configDir, 'config.json'), typeof config === 'string' ? config : JSON.stringify(config));
}

test('an edited config counts at once, and daemon reload says what changed since it was asked the last time', async () => {
  await using daemon = await startDaemon({ config: { model: 'offline/one', limits: { model_attempts: 3 } } });
  const events = await listenTo(daemon, { session_id: '*' });
  expect(await runJsonLine(daemon, ['daemon', 'status'])).toMatchObject({ config_stale: false, config_warnings: [] });
  expect(await runOk(daemon, ['daemon', 'reload'])).toBe('nothing in config.json changed\n');

  const provider = { api: 'anthropic', base_url: 'http://127.0.0.1:1', api_key: 'a-secret' };
  writeConfig(daemon, { model: 'offline/two', limits: { model_attempts: 3, runs_at_once: 2 }, providers: { near: provider } });
  const { payload } = await events.until(isEvent('config_update'));
  expect(payload).toMatchObject({ changed: ['model', 'limits.runs_at_once', 'providers.near'], needs_restart: ['limits.runs_at_once'] });
  expect(await runJsonLine(daemon, ['daemon', 'status'])).toMatchObject({ config_stale: false, model: 'offline/two' });
  expect(await runOk(daemon, ['daemon', 'status'])).not.toContain('config changed');
  const { code, stdout, stderr } = await runCommand(daemon, ['daemon', 'reload']);
  expect({ code, stdout }).toEqual({ code: 0, stdout: 'changed: model, limits.runs_at_once, providers.near\n' });
  expect(stderr).toBe('berth: limits.runs_at_once counts after berth daemon restart\n');
});

test('a config that cannot be used is refused with the key, and the one before it stays in force', async () => {
  await using daemon = await startDaemon({ config: { model: 'offline/one' } });
  writeConfig(daemon, { modle: 'offline/two' });
  const { code, stdout, stderr } = await runCommand(daemon, ['daemon', 'reload']);
  expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
  expect(stderr).toMatch(/modle; did you mean model\?.*stays in force/);
  expect(await runJsonLine(daemon, ['daemon', 'status'])).toMatchObject({ model: 'offline/one', config_stale: true });
  writeConfig(daemon, '{}');
  expect(await runJsonLine(daemon, ['daemon', 'reload'])).toMatchObject({ changed: ['model'], problem: null });
});

test('a granted directory that has become a link is named in the status, with where it leads', async () => {
  await using daemon = await startDaemon();
  const granted = join(daemon.root, 'granted');
  const elsewhere = join(daemon.root, 'elsewhere');
  for (const dir of [granted, elsewhere]) mkdirSync(dir);
  const rules = [
    { tool: 'write', path: join(granted, 'x'), action: 'allow' },
    { tool: 'read', path: granted, action: 'deny' },
  ];
  writeConfig(daemon, { sandbox: { writable: [granted, 'relative'] }, permissions: { rules } });
  expect((await runCommand(daemon, ['daemon', 'reload'])).stderr).toBe('');
  rmdirSync(granted);
  symlinkSync(elsewhere, granted);
  const { config_warnings: warnings } = await runJsonLine(daemon, ['daemon', 'status']);
  expect(warnings).toEqual([
    expect.stringMatching(/^sandbox\.writable: .*elsewhere$/),
    expect.stringMatching(/^config\.json: permissions\.rules\.0\.path: .*elsewhere\/x$/),
  ]);
});

test('a system prompt that is not there is named when the config is read, in the status and in the log', async () => {
  await using daemon = await startDaemon({ config: { system_prompt_path: 'missing.md' } });
  const path = join(daemon.paths.configDir, 'missing.md');
  expect(await runOk(daemon, ['daemon', 'status'])).toMatch(/config warning .*missing\.md/);
  expect(readFileSync(join(daemon.paths.stateDir, 'berth.log'), 'utf8')).toContain(path);

  writeConfig(daemon, { system_prompt_path: 'other.md' });
  expect((await runCommand(daemon, ['daemon', 'reload'])).stderr).toMatch(/^berth: system_prompt_path: .*other\.md/);
  writeFileSync(join(daemon.paths.configDir, 'other.md'), 'Be brief.');
  expect(await runJsonLine(daemon, ['daemon', 'status'])).toMatchObject({ config_warnings: [] });
});

test('a rule that can never match is named when the config is read, in the status, in the log and beside the rules', async () => {
  const rules = [{ tool: 'bash', command: 'export', action: 'allow' }];
  await using daemon = await startDaemon({ config: { permissions: { rules } } });
  const warning = /permissions\.rules\.0\.command: this rule never matches: no rule allows export/;
  expect(await runOk(daemon, ['daemon', 'status'])).toMatch(warning);
  expect(readFileSync(join(daemon.paths.stateDir, 'berth.log'), 'utf8')).toMatch(warning);
  expect((await runCommand(daemon, ['permissions', 'ls'])).stderr).toMatch(warning);

  writeConfig(daemon, { permissions: { rules: [{ tool: 'gerp', action: 'deny' }] } });
  expect((await runCommand(daemon, ['daemon', 'reload'])).stderr).toMatch(/permissions\.rules\.0\.tool: .*did you mean grep\?/);
});

import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { startDaemon } from '../support/daemon.js';
import { openTalk } from '../support/talk.js';

interface Listed {
  permissions: { permission_id: string; source: string; rule: Record<string, unknown> }[];
  workspace: string;
  mode: string;
}

const status = { tool: 'bash', command: 'git status', action: 'allow' };

describe('rules', () => {
  test('are added, listed with where they come from, and removed', async () => {
    await using daemon = await startDaemon({
      config: { permissions: { mode: 'auto_edit', rules: [{ tool: 'bash', command: 'ls', action: 'allow' }] } },
    });
    const talk = await openTalk(daemon);
    await talk.ok('add_permission', { rule: status });
    await talk.ok('add_permission', { rule: status });
    await talk.ok('add_permission', { rule: { ...status, command: 'git log' }, scope: 'everywhere' });
    await talk.ok('add_permission', { rule: { ...status, command: 'git diff' }, scope: 'session' });
    const listed = (await talk.ok('list_permissions')) as unknown as Listed;
    expect(listed.mode).toBe('auto_edit');
    expect(listed.permissions.map(({ source, rule }) => `${source}: ${String(rule.command)}`)).toEqual([
      'config.json: ls',
      'workspace: git status',
      'everywhere: git log',
      'session: git diff',
    ]);
    const other = (await talk.ok('list_permissions', { session_id: undefined, cwd: '/usr' })) as unknown as Listed;
    expect(other.permissions.map(({ rule }) => rule.command)).toEqual(['ls', 'git log']);
    for (const { permission_id } of listed.permissions.filter((one) => one.permission_id !== '')) {
      await talk.ok('remove_permission', { permission_id });
    }
    expect(((await talk.ok('list_permissions')) as unknown as Listed).permissions).toHaveLength(1);
    expect(await talk.refused('remove_permission', { permission_id: '1' })).toBe('invalid_payload');
  });

  test('outlive the daemon, and belong to where a link leads', async () => {
    await using daemon = await startDaemon();
    const talk = await openTalk(daemon);
    const link = join(daemon.root, 'link');
    symlinkSync(daemon.workdir, link);
    await talk.ok('add_permission', { rule: status, session_id: undefined, cwd: link });
    await daemon.kill9();
    await daemon.start();
    const again = await openTalk(daemon, talk.session);
    expect(await again.ok('get_ruling', { command: 'git status -s' })).toMatchObject({ action: 'allow' });
  });

  test.each([
    ['an unknown key', { ...status, comand: 'x' }],
    ['no action', { tool: 'bash', command: 'x' }],
    ['an unknown action', { ...status, action: 'maybe' }],
    ['two matchers', { ...status, path: 'x' }],
    ['a command of a tool that runs none', { ...status, tool: 'read' }],
    ['more than one command', { ...status, command: 'ls; rm x' }],
    ['a computed command', { ...status, command: '$X' }],
    ['an empty command', { ...status, command: '' }],
  ])('with %s are refused, and the field is named', async (_, rule) => {
    await using daemon = await startDaemon();
    const talk = await openTalk(daemon);
    const line = await talk.commands.call('add_permission', { rule });
    expect(line).toMatchObject({ ok: false, error: { code: 'invalid_payload' } });
    expect(JSON.stringify(line.error)).toMatch(/rule/);
  });
});

describe('a rule that can never match', () => {
  const eval_ = { tool: 'bash', command: 'eval x', exact: true, action: 'allow' };
  const misspelled = { tool: 'Bsh', action: 'deny' };

  test('is refused when it is added, and the field is named', async () => {
    await using daemon = await startDaemon();
    const talk = await openTalk(daemon);
    for (const [rule, field, message] of [
      [eval_, 'rule.command', 'always asked about'],
      [misspelled, 'rule.tool', 'did you mean bash?'],
      [{ tool: 'read', path: '*.{ts,js}', action: 'deny' }, 'rule.path', 'a rule for each'],
    ] as const) {
      const { error } = await talk.commands.call('add_permission', { rule });
      expect(error).toMatchObject({ code: 'invalid_payload', message: expect.stringContaining(message), details: { field } });
    }
    expect(await talk.ok('list_permissions')).toMatchObject({ permissions: [], warnings: [] });
  });

  test('is a warning in config.json and in the config of a workspace, with the file and the field; the others count', async () => {
    const good = { tool: 'bash', command: 'ls', action: 'allow' };
    await using daemon = await startDaemon({ config: { permissions: { rules: [good, eval_] } } });
    const talk = await openTalk(daemon);
    const ofConfig = expect.stringMatching(/^config\.json: permissions\.rules\.1\.command: .*never matches: .*always asked about/);
    expect(await talk.ok('get_daemon')).toMatchObject({ config_warnings: [ofConfig] });
    mkdirSync(join(daemon.workdir, '.berth'));
    const own = join(daemon.workdir, '.berth', 'config.json');
    writeFileSync(own, JSON.stringify({ permissions: { rules: [misspelled, good] } }));
    expect(await talk.ok('list_permissions')).toMatchObject({
      warnings: [ofConfig, expect.stringContaining(`${own}: permissions.rules.0.tool: this rule never matches: there is no tool "Bsh"`)],
      workspace_config: { problem: null },
    });
    expect(await talk.ok('get_ruling', { command: 'ls' })).toMatchObject({ action: 'allow' });
  });
});

describe('a ruling', () => {
  test('explains each part, and runs nothing', async () => {
    await using daemon = await startDaemon();
    const talk = await openTalk(daemon);
    await talk.ok('add_permission', { rule: status });
    await talk.ok('add_permission', { rule: { tool: 'bash', command: 'curl', action: 'deny' } });
    expect(await talk.ok('get_ruling', { command: 'git status && curl x > y' })).toMatchObject({
      action: 'deny',
      parts: expect.arrayContaining([
        expect.objectContaining({ text: 'git status', action: 'allow' }),
        expect.objectContaining({ action: 'deny', why: expect.stringContaining('curl') }),
      ]),
    });
    expect(await talk.ok('get_ruling', { tool: 'write', path: '.git/hooks/x', mode: 'full' })).toMatchObject({ action: 'ask', rules: [] });
    expect(await talk.refused('get_ruling', {})).toBe('invalid_payload');
  });

  test('keeps its place among the answers of its connection', async () => {
    await using daemon = await startDaemon();
    const client = await daemon.raw();
    for (let i = 0; i < 20; i++)
      client.send({ id: `q${i}`, type: i % 3 === 0 ? 'get_ruling' : 'ping', payload: i % 3 === 0 ? { command: 'ls' } : {} });
    await client.until((line) => line.id === 'q19');
    expect(client.lines.map(({ id }) => id)).toEqual(Array.from({ length: 20 }, (_, i) => `q${i}`));
  });
});

test('a decision is on record, the newest first, page by page', async () => {
  await using daemon = await startDaemon();
  const talk = await openTalk(daemon);
  for (const text of ['clock', 'echo a', 'list files']) await talk.run(text);
  const first = (await talk.ok('list_decisions', { limit: 2 })) as unknown as {
    decisions: { tool_name: string }[];
    cursor: string;
    has_more: boolean;
  };
  expect(first.decisions.map(({ tool_name }) => tool_name)).toEqual(['ls', 'echo']);
  expect(first.has_more).toBe(true);
  expect(await talk.ok('list_decisions', { limit: 2, cursor: first.cursor })).toMatchObject({
    decisions: [{ tool_name: 'clock' }],
    has_more: false,
  });
});

test('a config of a workspace that is no config grants nothing and says why', async () => {
  await using daemon = await startDaemon();
  mkdirSync(join(daemon.workdir, '.berth'));
  const talk = await openTalk(daemon);
  for (const text of ['{', '{"permissions":{"mode":"full"}}', '[]', '{"permissions":{"rules":[{"tool":"bash"}]}}']) {
    writeFileSync(join(daemon.workdir, '.berth', 'config.json'), text);
    expect(await talk.ok('list_permissions')).toMatchObject({
      permissions: [],
      workspace_config: { problem: expect.any(String), trusted: null },
    });
  }
});

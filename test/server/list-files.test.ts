import { mkdirSync, renameSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import type { RawClient } from '../support/raw-client.js';
import { shareDaemon } from '../support/shared-daemon.js';
import { done, newSession, refusalOf, say, type Told } from '../support/wire.js';

const daemon = shareDaemon({ config: { permissions: { rules: [{ tool: 'read', path: '**/*.pem', action: 'deny' }] } } });

function makeFiles(root: string, ...paths: string[]): void {
  for (const path of paths) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), path);
  }
}

/** Asks until all of the directory was looked at. */
async function listFiles(client: RawClient, payload: object): Promise<Record<string, Told>> {
  for (;;) {
    const found = done(await client.call('list_files', payload));
    if (found.truncated === false) return found;
  }
}

const pathsOf = ({ files }: Record<string, Told>): string[] => (files as { path: string }[]).map(({ path }) => path);

test('files of the session’s directory are found, but neither secrets nor what a rule denies', async () => {
  const client = await daemon().raw();
  const home = join(daemon().root, 'home');
  makeFiles(home, '.ssh/id_rsa', '.netrc', 'server.pem', 'project/server.ts', 'project/deep/service.ts');
  const session_id = await newSession(client, { cwd: home });
  expect(await listFiles(client, { session_id, query: 'ser' })).toEqual({
    files: [
      { path: 'project/server.ts', kind: 'file' },
      { path: 'project/deep/service.ts', kind: 'file' },
    ],
    total: 2,
    truncated: false,
  });
  for (const query of ['id_rsa', '.netrc', 'server.pem', '.ssh/', '.ssh/id']) {
    expect(await listFiles(client, { session_id, query })).toEqual({ files: [], total: 0, truncated: false });
  }
  expect(pathsOf(await listFiles(client, { session_id, query: 'project/' }))).toEqual([
    'project/deep/',
    'project/server.ts',
    'project/deep/service.ts',
  ]);
  expect(pathsOf(await listFiles(client, { session_id, limit: 1 }))).toEqual(['project/']);
});

test('what the session’s tools read and what its messages name comes first, the newest at the top', async () => {
  const client = await daemon().raw();
  const cwd = join(daemon().root, 'recent');
  makeFiles(cwd, 'test-a.ts', 'b/test-b.ts', 'c/d/test-c.ts', 'e/f/g/test-e.ts');
  const session_id = await newSession(client, { cwd });
  const find = async (): Promise<string[]> => pathsOf(await listFiles(client, { session_id, query: 'test' }));
  expect(await find()).toEqual(['test-a.ts', 'b/test-b.ts', 'c/d/test-c.ts', 'e/f/g/test-e.ts']);
  await say(client, session_id, 'read c/d/test-c.ts');
  expect(await find()).toEqual(['c/d/test-c.ts', 'test-a.ts', 'b/test-b.ts', 'e/f/g/test-e.ts']);
  await say(client, session_id, `say look at @${cwd}/e/f/g/test-e.ts:12, please`);
  expect(await find()).toEqual(['e/f/g/test-e.ts', 'c/d/test-c.ts', 'test-a.ts', 'b/test-b.ts']);
});

test('a directory that took the place of the session’s own is not listed before a person has agreed', async () => {
  const client = await daemon().raw();
  const cwd = join(daemon().root, 'moved');
  makeFiles(cwd, 'mine.ts');
  const session_id = await newSession(client, { cwd });
  expect(pathsOf(await listFiles(client, { session_id }))).toEqual(['mine.ts']);
  renameSync(cwd, `${cwd}-away`);
  expect(await listFiles(client, { session_id })).toEqual({ files: [], total: 0, truncated: false });
  makeFiles(cwd, 'theirs.ts');
  expect(await listFiles(client, { session_id })).toEqual({ files: [], total: 0, truncated: false });
});

test('a query or a number that is out of bounds is refused by its field', async () => {
  const client = await daemon().raw();
  const session_id = await newSession(client);
  for (const [field, value] of [
    ['query', 'x'.repeat(1_001)],
    ['query', 7],
    ['limit', 0],
    ['limit', 501],
  ] as const) {
    expect(refusalOf(await client.call('list_files', { session_id, [field]: value }))).toMatchObject({
      code: 'invalid_payload',
      details: { field },
    });
  }
});

test('a client that goes away while its files are listed costs nobody anything', async () => {
  const client = await daemon().raw();
  const session_id = await newSession(client);
  const gone = await daemon().raw();
  for (let i = 0; i < 20; i++) gone.send({ id: `f${i}`, type: 'list_files', payload: { session_id, query: 'x' } });
  gone.close();
  expect((await listFiles(client, { session_id })).files).toEqual(expect.any(Array));
});

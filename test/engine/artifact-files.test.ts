import { existsSync, readdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { deleteSession } from '../../src/core/settings.js';
import { createArtifactFiles } from '../../src/engine/calls/artifact-files.js';
import { loadSqlite } from '../../src/store/sqlite.js';
import { createToolOutputTool } from '../../src/tools/output/tool-output.js';
import { createTestEngine, type TestEngine } from '../support/engine.js';

async function keep(berth: TestEngine, session: string, text: string): Promise<{ id: string; path: string }> {
  const artifacts = berth.engine.artifacts.of(session);
  const begun = artifacts.begin();
  writeFileSync(begun.path, text);
  await artifacts.keep({ id: begun.id, mimeType: 'text/plain', bytes: Buffer.byteLength(text) });
  return begun;
}

test('an artifact is read in pieces, by its own session alone', async () => {
  await using berth = createTestEngine();
  const [one, other] = [berth.session(), berth.session()];
  const { id } = await keep(berth, one, 'abcdef');
  expect(berth.engine.artifacts.of(one).read(id, 2, 3)).toMatchObject({ data: Buffer.from('cde'), totalBytes: 6, droppedBytes: 0 });
  expect(berth.engine.artifacts.of(other).read(id, 0, 3)).toBeUndefined();
  expect(berth.engine.artifacts.read(id, 100, 3)?.data).toHaveLength(0);
});

test('the files of a deleted session go with it, and those of others stay', async () => {
  await using berth = createTestEngine();
  const [gone, kept] = [berth.session(), berth.session()];
  const [first, second] = [await keep(berth, gone, 'x'), await keep(berth, kept, 'y')];
  berth.engine.commit.decide(gone, deleteSession);
  while (berth.store.sessions.deleted().length > 0) await new Promise((resolve) => setImmediate(resolve));
  expect([existsSync(first.path), existsSync(second.path)]).toEqual([false, true]);
  expect(berth.engine.artifacts.read(first.id, 0, 1)).toBeUndefined();
});

test('what a kill left half written is removed at the next start, and what has a row is kept', async () => {
  await using berth = createTestEngine();
  const kept = await keep(berth, berth.session(), 'y');
  const half = berth.engine.artifacts.of('any').begin();
  writeFileSync(half.path, 'half');
  berth.engine.recover();
  expect(readdirSync(dirname(kept.path))).toEqual([kept.id]);
  expect(existsSync(join(dirname(kept.path), half.id))).toBe(false);
});

test('an artifact that is named has a row: a store that does not take it now is waited for', async () => {
  await using berth = createTestEngine();
  const session = berth.session();
  const theirs = new (loadSqlite())(berth.dbPath);
  theirs.exec('BEGIN IMMEDIATE');
  let isKept = false;
  const keeping = keep(berth, session, 'abc').then((begun) => {
    isKept = true;
    return begun;
  });
  await berth.until(session, () => (berth.engine.signals.shown(session).status.store === undefined ? undefined : true));
  expect(isKept).toBe(false);
  theirs.exec('ROLLBACK');
  theirs.close();
  const { id } = await keeping;
  expect(berth.engine.artifacts.of(session).read(id, 0, 3)?.totalBytes).toBe(3);
});

test('all outputs together have a bound: the oldest are deleted and say so, and what has no row yet is left alone', async () => {
  await using berth = createTestEngine();
  const session = berth.session();
  let ids = 0;
  const dir = join(dirname(berth.dbPath), 'outputs');
  const { bookkeeping } = berth.engine;
  const files = createArtifactFiles({
    store: berth.store,
    bookkeeping,
    dir,
    now: () => ids,
    newId: () => `art_${++ids}`,
    retention: () => ({ artifactBytes: 25, artifactAgeMs: null }),
  });
  const artifacts = files.of(session);
  const running = artifacts.begin();
  writeFileSync(running.path, 'of a command that runs');
  const kept: { id: string; path: string }[] = [];
  for (let i = 0; i < 4; i++) {
    const begun = artifacts.begin();
    writeFileSync(begun.path, '0123456789');
    await artifacts.keep({ id: begun.id, mimeType: 'text/plain', bytes: 10 });
    kept.push(begun);
  }
  expect(kept.map(({ path }) => existsSync(path))).toEqual([false, false, true, true]);
  expect(existsSync(running.path)).toBe(true);
  expect(files.read(kept[0]!.id, 0, 5)).toMatchObject({ totalBytes: 0, droppedBytes: 10, data: Buffer.alloc(0) });
  expect(files.read(kept[3]!.id, 0, 5)).toMatchObject({ totalBytes: 10, droppedBytes: 0 });
  const tool = createToolOutputTool();
  for (const pattern of [undefined, '5']) {
    const args = { artifact_id: kept[0]!.id, ...(pattern === undefined ? {} : { pattern }) };
    const result = await tool.run(args, { artifacts, signal: new AbortController().signal } as Parameters<typeof tool.run>[1]);
    expect(result).toMatchObject({
      isError: true,
      content: [{ text: expect.stringContaining('was deleted to make room for newer outputs') as string }],
    });
  }
  // One that is larger than all may be is kept, alone.
  const large = artifacts.begin();
  writeFileSync(large.path, 'x'.repeat(40));
  await artifacts.keep({ id: large.id, mimeType: 'text/plain', bytes: 40 });
  expect([...kept, large].map(({ path }) => existsSync(path))).toEqual([false, false, false, false, true]);
});

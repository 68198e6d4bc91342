import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdirSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { OutboxFull } from '../../src/client/index.js';
import { createOutbox, type KeptInput, type Outbox } from '../../src/client/outbox.js';
import { limits } from '../../src/protocol/limits.js';
import { makeTempDir } from '../support/temp-dir.js';

function input(inputId: string, fields: Partial<KeptInput> = {}): KeptInput {
  return { inputId, sessionId: 'ses_1', logId: 'log_1', command: 'prompt', payload: { text: inputId }, atMs: Date.now(), ...fields };
}

function open(dir: string): Outbox & { notices: string[] } {
  const notices: string[] = [];
  return { ...createOutbox({ dir, notice: (text) => notices.push(text) }), notices };
}

const outboxModule = fileURLToPath(new URL('../../src/client/outbox.ts', import.meta.url));

/** Keeps inputs in a process of its own, which then is killed or kills itself. */
async function keepElsewhere(dir: string, ids: string[]): Promise<void> {
  const script = `
    import { createOutbox } from ${JSON.stringify(outboxModule)};
    const outbox = createOutbox({ dir: ${JSON.stringify(dir)}, notice: console.error });
    for (const inputId of ${JSON.stringify(ids)})
      outbox.keep({ inputId, sessionId: 'ses_1', logId: 'log_1', command: 'prompt', payload: { text: inputId }, atMs: Date.now() });
    process.kill(process.pid, 'SIGKILL');`;
  const child = spawn(process.execPath, ['--import', 'tsx', '--input-type=module', '-e', script], { stdio: 'inherit' });
  const [, signal] = (await once(child, 'exit')) as [number | null, string | null];
  expect(signal).toBe('SIGKILL');
}

function left(outbox: Outbox): string[] {
  return outbox.leftBehind('ses_1').map(({ inputId }) => inputId);
}

test('what a process kept is found in order after kill -9, by others, and by session', async () => {
  using dir = makeTempDir();
  const place = dir.file('outbox');
  await keepElsewhere(place, ['b', 'a', 'c']);
  const outbox = open(place);
  expect(left(outbox)).toEqual(['b', 'a', 'c']);
  expect(outbox.leftBehind('ses_2')).toEqual([]);
  expect(outbox.leftBehind('ses_1')[0]).toMatchObject({ ...input('b'), atMs: expect.any(Number), returned: false });
  expect([outbox.remove('a'), outbox.remove('a')]).toEqual([true, false]);
  expect(left(outbox)).toEqual(['b', 'c']);
  expect(outbox.notices).toEqual([]);
});

test('what a living process kept is left to it', () => {
  using dir = makeTempDir();
  open(dir.file('outbox')).keep(input('mine'));
  expect(left(open(dir.file('outbox')))).toEqual([]);
});

test('of several processes that settle the same input, one may tell about it', async () => {
  using dir = makeTempDir();
  const place = dir.file('outbox');
  await keepElsewhere(place, ['refused', 'taken']);
  const [one, other] = [open(place), open(place)];
  expect([left(one), left(other)]).toEqual([
    ['refused', 'taken'],
    ['refused', 'taken'],
  ]);
  expect([one.markReturned('refused'), other.markReturned('refused')]).toEqual([true, false]);
  expect([other.remove('taken'), one.remove('taken')]).toEqual([true, false]);
  expect(open(place).leftBehind('ses_1')).toMatchObject([{ inputId: 'refused', returned: true }]);
});

test('ten processes at once keep all of their inputs', async () => {
  using dir = makeTempDir();
  const place = dir.file('outbox');
  const batches = Array.from({ length: 10 }, (_, i) => [`p${i}-1`, `p${i}-2`, `p${i}-3`]);
  await Promise.all(batches.map((ids) => keepElsewhere(place, ids)));
  const found = left(open(place));
  expect([...found].sort()).toEqual(batches.flat().sort());
  for (const ids of batches) expect(found.filter((id) => ids.includes(id))).toEqual(ids);
}, 60_000);

test('files are for their owner alone, and none is left half written', () => {
  using dir = makeTempDir();
  const place = dir.file('outbox');
  const before = process.umask(0o277);
  try {
    mkdirSync(place, { mode: 0o777 });
    chmodSync(place, 0o700);
    open(place).keep(input('a'));
  } finally {
    process.umask(before);
  }
  expect(statSync(place).mode & 0o777).toBe(0o700);
  expect(readdirSync(place).map((name) => statSync(join(place, name)).mode & 0o777)).toEqual([0o600]);
});

test('a file that cannot be read is set aside and told once, and the others are sent', async () => {
  using dir = makeTempDir();
  const place = dir.file('outbox');
  await keepElsewhere(place, ['good']);
  const stamp = String(Date.now()).padStart(15, '0');
  const spoiled = ['{"half', '[]', '{"inputId":"x"}', 'null'].map((text, at) => [`${stamp}-00000${at}-bad${at}.json`, text] as const);
  for (const [name, text] of spoiled) writeFileSync(join(place, name), text);
  symlinkSync('/dev/zero', join(place, `${stamp}-000009-link.json`));
  writeFileSync(join(place, 'README'), 'not of the outbox');
  const outbox = open(place);
  expect(left(outbox)).toEqual(['good']);
  expect(outbox.notices).toHaveLength(5);
  expect(outbox.notices[0]).toContain(`its file is now ${place}/`);
  expect(readFileSync(join(place, `${spoiled[0]?.[0] ?? ''}.damaged`), 'utf8')).toBe('{"half');
  expect([left(outbox), outbox.notices.length]).toEqual([['good'], 5]);
});

test('an id that is no name of a file is refused, and writes nothing anywhere', () => {
  using dir = makeTempDir();
  const outbox = open(dir.file('outbox'));
  for (const id of ['', '../../evil', 'a/../../evil', 'a b', 'x'.repeat(129)]) expect(() => outbox.keep(input(id))).toThrow(/input_id/);
  expect(readdirSync(dir.path).filter((name) => name !== 'outbox')).toEqual([]);
  expect(readdirSync(dir.file('outbox'))).toEqual([]);
});

test('it is bounded in number and size, and says so', () => {
  using dir = makeTempDir();
  const outbox = open(dir.file('many'));
  for (let i = 0; i < limits.outboxInputsMax; i++) outbox.keep(input(`i${i}`));
  expect(() => outbox.keep(input('more'))).toThrow(OutboxFull);
  outbox.remove('i0');
  outbox.keep(input('more'));
  const large = open(dir.file('large'));
  const text = 'x'.repeat(limits.outboxBytesMax / 4);
  for (let i = 0; i < 3; i++) large.keep(input(`l${i}`, { payload: { text } }));
  expect(() => large.keep(input('more', { payload: { text } }))).toThrow(/the outbox is full: 3 messages/);
});

test('inputs that nobody came back for go away after a month, damaged files when there are too many', () => {
  using dir = makeTempDir();
  const place = dir.file('outbox');
  const outbox = open(place);
  outbox.keep(input('old', { atMs: Date.now() - limits.outboxFileMaxMs - 1000 }));
  for (let i = 0; i < limits.outboxDamagedMax + 3; i++) writeFileSync(join(place, `${i}.damaged`), '');
  writeFileSync(join(place, '.1-1.1.tmp'), 'left by a process that has ended');
  outbox.keep(input('new'));
  const names = readdirSync(place);
  expect(names.filter((name) => name.endsWith('.damaged'))).toHaveLength(limits.outboxDamagedMax);
  expect(names.filter((name) => !name.endsWith('.damaged'))).toEqual([expect.stringMatching(/-new\.json$/)]);
});

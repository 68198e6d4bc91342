import { describe, expect, test } from 'vitest';
import { acknowledge } from '../../src/core/named-cursors.js';
import { limits } from '../../src/protocol/limits.js';
import { openDatabase } from '../../src/store/database.js';
import { migrate } from '../../src/store/migrate.js';
import { createNamedCursorRows } from '../../src/store/named-cursor-rows.js';
import { startDaemon } from '../support/daemon.js';
import { migrations } from '../support/engine.js';
import type { RawClient } from '../support/raw-client.js';
import { shareDaemon } from '../support/shared-daemon.js';
import { makeTempDir } from '../support/temp-dir.js';
import { done, newSession, refusalOf, say } from '../support/wire.js';

const daemon = shareDaemon();

async function standsAt(client: RawClient, name: string): Promise<number> {
  return done(await client.call('ack_cursor', { name })).seq as number;
}

interface Listed {
  cursors: { name: string; seq: number; used_at: string }[];
  head: number;
  floor: number;
  log_id: string;
}

async function listed(client: RawClient): Promise<Listed> {
  return done(await client.call('list_cursors')) as unknown as Listed;
}

describe('a named cursor', () => {
  test('begins at the newest event, goes forward as it is acknowledged, and never back', async () => {
    const client = await daemon().raw();
    const session = await newSession(client);
    const { head } = await listed(client);
    expect(await standsAt(client, 'forward')).toBe(head);
    await say(client, session, 'echo ahoy');
    expect(await standsAt(client, 'forward')).toBe(head);
    expect(done(await client.call('ack_cursor', { name: 'forward', seq: head + 2 }))).toEqual({
      command: 'ack_cursor',
      name: 'forward',
      seq: head + 2,
    });
    expect(done(await client.call('ack_cursor', { name: 'forward', seq: head + 1 })).seq).toBe(head + 2);
    expect(await standsAt(client, 'forward')).toBe(head + 2);
  });

  test('begins where it is told, but never past the end of the log', async () => {
    const client = await daemon().raw();
    await newSession(client);
    const { head } = await listed(client);
    expect(done(await client.call('ack_cursor', { name: 'early', seq: 1 })).seq).toBe(1);
    const refused = refusalOf(await client.call('ack_cursor', { name: 'late', seq: head + 1 }));
    expect(refused).toMatchObject({ code: 'invalid_payload', details: { field: 'seq' }, message: expect.stringContaining(`${head}`) });
    expect((await listed(client)).cursors.map(({ name }) => name)).not.toContain('late');
  });

  test('is for observers, too, is listed with the bounds of the log, and is removed by a controller', async () => {
    const client = await daemon().raw();
    done(await client.call('hello', { role: 'observer' }));
    const seq = await standsAt(client, 'looks.only_1-a');
    const { cursors, head, floor, log_id } = await listed(client);
    expect({ head, floor, log_id }).toEqual({ head: expect.any(Number), floor: 0, log_id: expect.stringMatching(/./) });
    expect(cursors).toContainEqual({ name: 'looks.only_1-a', seq, used_at: expect.stringMatching(/^\d{4}-.*Z$/) });
    const refused = refusalOf(await client.call('remove_cursor', { name: 'looks.only_1-a' }));
    expect(refused).toMatchObject({ code: 'command_rejected', message: 'read_only_client' });
    const controller = await daemon().raw();
    for (const removed of [true, false]) {
      const reply = done(await controller.call('remove_cursor', { name: 'looks.only_1-a' }));
      expect(reply).toEqual({ command: 'remove_cursor', name: 'looks.only_1-a', removed });
    }
    for (const name of ['', '-a', '.a', 'a b', 'ä', '../a', 'a'.repeat(limits.cursorNameCharsMax + 1)]) {
      expect(refusalOf(await client.call('ack_cursor', { name })).code).toBe('invalid_payload');
    }
  });

  test('that is acknowledged is where it was after the daemon was killed', async () => {
    await using killed = await startDaemon();
    const client = await killed.raw();
    await say(client, await newSession(client), 'echo ahoy');
    done(await client.call('ack_cursor', { name: 'phone', seq: 3 }));
    await killed.kill9();
    await killed.start();
    expect(await standsAt(await killed.raw(), 'phone')).toBe(3);
  });

  test('is one of a bounded number: another name is refused, those that there are go on', async () => {
    await using full = await startDaemon();
    const client = await full.raw();
    for (let i = 0; i < limits.namedCursorsMax; i++) await standsAt(client, `name-${i}`);
    const refused = refusalOf(await client.call('ack_cursor', { name: 'more' }));
    expect(refused).toMatchObject({ code: 'invalid_payload', message: expect.stringContaining('berth follow --rm') });
    await standsAt(client, 'name-0');
    done(await client.call('remove_cursor', { name: 'name-1' }));
    await standsAt(client, 'more');
  });

  test('that nobody has used for long is swept, and does not count', () => {
    using dir = makeTempDir();
    const db = openDatabase(dir.file('a.db'), migrations.length);
    migrate(db, migrations);
    const { read, write } = createNamedCursorRows(db);
    write.set({ name: 'old', seq: 1 }, 0);
    write.set({ name: 'new', seq: 2 }, 1);
    write.set({ name: 'mine', seq: 3 }, limits.namedCursorIdleMs + 1);
    expect(read.all().map(({ name }) => name)).toEqual(['mine', 'new']);
    db.close();
    const usedMs = Array.from({ length: limits.namedCursorsMax }, () => 0);
    expect(acknowledge('another', undefined, { head: 1, seq: undefined, usedMs }, limits.namedCursorIdleMs).ok).toBe(false);
    expect(acknowledge('another', undefined, { head: 1, seq: undefined, usedMs }, limits.namedCursorIdleMs + 1).ok).toBe(true);
  });
});

import { describe, expect, test } from 'vitest';
import { limits } from '../../src/protocol/limits.js';
import { startDaemon } from '../support/daemon.js';
import type { RawClient } from '../support/raw-client.js';
import { shareDaemon } from '../support/shared-daemon.js';
import { done, isEvent, listenTo, newSession, refusalOf, type Told } from '../support/wire.js';

const daemon = shareDaemon();

async function named(name: string): Promise<RawClient> {
  const client = await daemon().raw();
  done(await client.call('hello', { client: { name } }));
  return client;
}

async function write(client: RawClient, session_id: string, text: string, draft_id = 'dra_1'): Promise<Record<string, Told>> {
  return done(await client.call('set_draft', { session_id, draft_id, text }));
}

async function draftsOf(client: RawClient, session_id: string, more: object = {}): Promise<Told> {
  return done(await client.call('list_drafts', { session_id, ...more })).drafts;
}

describe('a draft', () => {
  test('belongs to the session: another frontend reads it, with who wrote it and whether they are still there', async () => {
    const [one, other] = [await named('one'), await named('other')];
    const session = await newSession(one);
    expect(await write(one, session, 'half a tho')).toEqual({ command: 'set_draft', session_id: session, draft_id: 'dra_1' });
    await write(other, session, 'mine', 'dra_2');
    await write(one, session, 'half a thought');
    const updated_at = expect.stringMatching(/^\d{4}-.*Z$/) as unknown;
    const first = { draft_id: 'dra_1', by: 'one', text: 'half a thought', updated_at, attached: true };
    const second = { draft_id: 'dra_2', by: 'other', text: 'mine', updated_at, attached: true };
    expect(await draftsOf(other, session)).toEqual([first, second]);
    expect(await draftsOf(other, await newSession(other))).toEqual([]);
    const events = await listenTo(daemon(), { session_id: session });
    one.close();
    await events.until(isEvent('client_update'));
    expect(await draftsOf(other, session)).toEqual([{ ...first, attached: false }, second]);
    // Whoever adopts a draft is the one who wrote it last.
    await write(other, session, 'half a thought', 'dra_1');
    expect(await draftsOf(other, session)).toEqual([{ ...first, by: 'other' }, second]);
  });

  test('is deleted by an empty text and by nothing else, and deleting twice is fine', async () => {
    const client = await named('one');
    const session = await newSession(client);
    await write(client, session, ' \n');
    expect(await draftsOf(client, session)).toMatchObject([{ text: ' \n' }]);
    for (const _again of [1, 2]) await write(client, session, '');
    expect(await draftsOf(client, session)).toEqual([]);
  });

  test('that is acknowledged survives a kill, and goes with its session', async () => {
    await using killed = await startDaemon();
    const client = await killed.raw();
    const [kept, deleted] = [await newSession(client), await newSession(client)];
    await write(client, kept, 'never lost');
    await write(client, deleted, 'gone');
    await killed.kill9();
    await killed.start();
    const again = await killed.raw();
    expect(await draftsOf(again, kept)).toMatchObject([{ text: 'never lost', by: 'unknown', attached: false }]);
    done(await again.call('delete_session', { session_id: deleted }));
    expect(refusalOf(await again.call('list_drafts', { session_id: deleted })).code).toBe('session_not_found');
    expect(refusalOf(await again.call('set_draft', { session_id: deleted, draft_id: 'dra_1', text: 'x' })).code).toBe('session_not_found');
  });

  test('beyond the number of a session takes the place of the oldest', async () => {
    const client = await named('one');
    const session = await newSession(client);
    for (let i = 0; i < limits.draftsPerSessionMax; i++) await write(client, session, `text ${i}`, `dra_${i}`);
    await write(client, session, 'text 0 again', 'dra_0');
    await write(client, session, 'one more', 'dra_more');
    const drafts = (await draftsOf(client, session)) as { draft_id: string }[];
    expect(drafts).toHaveLength(limits.draftsPerSessionMax);
    expect(drafts.slice(0, 2)).toMatchObject([{ draft_id: 'dra_more' }, { text: 'text 0 again' }]);
    expect(drafts.map(({ draft_id }) => draft_id)).not.toContain('dra_1');
  });

  test('of any text comes back as it was; long ones are cut in the list and whole by their id', async () => {
    const client = await named('one');
    const session = await newSession(client);
    const text = `\u0000\u001b[2J"é\u2028\ud83d\ude00${'\u0001'.repeat(600_000)}`;
    await write(client, session, text);
    await write(client, session, 'x'.repeat(3_000_000), 'dra_2');
    const listed = await client.call('list_drafts', { session_id: session });
    expect(JSON.stringify(listed).length).toBeLessThan(limits.lineBytesMax);
    expect(done(listed).drafts).toMatchObject([
      { draft_id: 'dra_2', truncated: true },
      { draft_id: 'dra_1', truncated: true, text: '' },
    ]);
    const [whole] = (await draftsOf(client, session, { draft_id: 'dra_1' })) as { text: string }[];
    expect(whole).toEqual({ draft_id: 'dra_1', by: 'one', text, updated_at: expect.any(String) as string, attached: true });
    expect(await draftsOf(client, session, { draft_id: 'dra_none' })).toEqual([]);
  });

  test('that would not fit a reply is refused, and the one before it stays', async () => {
    const client = await named('one');
    const session = await newSession(client);
    await write(client, session, 'short');
    const text = 'x'.repeat(limits.lineBytesMax - 300);
    expect(refusalOf(await client.call('set_draft', { session_id: session, draft_id: 'dra_1', text }))).toMatchObject({
      code: 'invalid_payload',
      details: { field: 'text' },
    });
    expect(await draftsOf(client, session)).toMatchObject([{ text: 'short' }]);
  });

  test('has an id that its frontend chose', async () => {
    const client = await named('one');
    const session = await newSession(client);
    for (const draft_id of ['', 'dra_', 'x', 'dra_ä', `dra_${'a'.repeat(125)}`, 7]) {
      expect(refusalOf(await client.call('set_draft', { session_id: session, draft_id, text: 'x' }))).toMatchObject({
        code: 'invalid_payload',
        details: { field: 'draft_id' },
      });
    }
  });
});

test('other frontends hear that there is a draft, not what it says, and those who come later read it instead', async () => {
  const client = await named('one');
  const session = await newSession(client);
  const { seq } = await client.call('get_state', { session_id: session });
  const events = await listenTo(daemon(), { session_id: session });
  await write(client, session, 'a secret thought');
  const told = await events.until(isEvent('draft_update'));
  expect(told).toEqual({
    v: '1',
    id: expect.stringMatching(/^live-/) as string,
    type: 'draft_update',
    ts: expect.any(String) as string,
    payload: { session_id: session, draft_id: 'dra_1', by: 'one', chars: 16 },
  });
  await write(client, session, '');
  await events.until(isEvent('draft_update', { chars: 0 }));
  const later = await listenTo(daemon(), { session_id: session, after: seq });
  await write(client, session, 'again', 'dra_2');
  await later.until(isEvent('draft_update', { draft_id: 'dra_2' }));
  expect(later.lines.filter(isEvent('draft_update')).map(({ payload }) => payload.draft_id)).toEqual(['dra_2']);
});

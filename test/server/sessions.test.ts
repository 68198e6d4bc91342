import { mkdirSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { startDaemon, type TestDaemon } from '../support/daemon.js';
import type { RawClient } from '../support/raw-client.js';
import { begin, done, isEvent, listenTo, newSession, refusalOf, say, type Told } from '../support/wire.js';

let daemon: TestDaemon;
let client: RawClient;

beforeAll(async () => {
  daemon = await startDaemon();
});
beforeEach(async () => {
  client = await daemon.raw();
});
afterAll(async () => {
  await daemon[Symbol.asyncDispose]();
});

const idOf = ({ id }: { id: string }): string => id;

async function messagesOf(sessionId: string, more: object = {}): Promise<Told[]> {
  return done(await client.call('get_messages', { session_id: sessionId, ...more })).messages as Told[];
}

describe('which session a command means', () => {
  test('old clients, a connection for each command, share the active session', async () => {
    const once = async (type: string, payload: object = {}) => {
      const one = await daemon.raw();
      const reply = done(await one.call(type, payload));
      one.close();
      return reply;
    };
    const made = await once('new_session');
    expect(made.active).toBe(true);
    await once('prompt', { text: 'say ahoy' });
    expect((await once('get_messages')).messages).toHaveLength(2);
    const branch = await once('branch_session', { session_id: made.session_id });
    expect(branch).toMatchObject({ parent_id: made.session_id, active: true });
    expect((await once('get_state')).session_id).toBe(branch.session_id);
    await once('switch_session', { session_id: made.session_id });
    expect((await once('get_state')).session_id).toBe(made.session_id);
    expect((await once('list_sessions')).active).toBe(made.session_id);
  });

  test('a client that says hello never moves it', async () => {
    const old = await daemon.raw();
    const active = await newSession(old);
    const ours = await daemon.raw();
    done(await ours.call('hello', { client: { name: 'ours' } }));
    const made = done(await ours.call('new_session'));
    expect(made.active).toBe(false);
    expect(done(await ours.call('get_state')).session_id).toBe(made.session_id);
    done(await ours.call('switch_session', { session_id: made.session_id }));
    done(await ours.call('branch_session', { session_id: made.session_id }));
    const stranger = await daemon.raw();
    expect(done(await stranger.call('get_state')).session_id).toBe(active);
    expect(done(await old.call('get_state')).session_id).toBe(active);
  });

  test('a connection has a session of its own once it made, switched, branched or attached', async () => {
    const [one, two] = [await newSession(client), await newSession(client)];
    const connection = await daemon.raw();
    done(await connection.call('attach', { session_id: one }));
    expect(done(await connection.call('get_state')).session_id).toBe(one);
    done(await connection.call('switch_session', { session_id: two }));
    expect(done(await connection.call('get_state')).session_id).toBe(two);
    expect(done(await connection.call('detach'))).toEqual({ command: 'detach', session_id: two });
    expect(done(await connection.call('detach')).session_id).toBe('');
    // Naming one is always stronger.
    expect(done(await connection.call('get_state', { session_id: one })).session_id).toBe(one);
  });

  test('the active session survives a restart, and is none when it was deleted', async () => {
    await using mortal = await startDaemon();
    const one = await mortal.raw();
    const other = await newSession(one);
    const active = await newSession(one);
    await mortal.kill9();
    await mortal.start();
    const two = await mortal.raw();
    expect(done(await two.call('get_state')).session_id).toBe(active);
    done(await two.call('delete_session', { session_id: active }));
    expect(done(await two.call('get_state')).session_id).toBe('');
    expect(done(await two.call('list_sessions'))).toMatchObject({ active: '', sessions: [{ session_id: other }] });
    expect(done(await two.call('get_tree'))).toMatchObject({ session_id: '', nodes: [] });
    expect(refusalOf(await two.call('steer', { text: 'x' })).message).toBe('no_active_run');
    const { session_id } = done(await two.call('prompt', { text: 'say new' }));
    expect([active, other]).not.toContain(session_id);
  });

  test('a connection whose session was deleted is told so until it takes another', async () => {
    const connection = await daemon.raw();
    const sessionId = await newSession(connection);
    done(await client.call('delete_session', { session_id: sessionId }));
    for (const type of ['get_queue', 'get_tree', 'clear_queue', 'update_session']) {
      expect(refusalOf(await connection.call(type)).code).toBe('session_not_found');
    }
    await newSession(connection);
    done(await connection.call('get_queue'));
  });
});

describe('settings', () => {
  test('what is named changes and nothing else, and everyone hears of it', async () => {
    const sessionId = await newSession(client, { title: 'one', cwd: '/tmp', model: 'offline/guide' });
    const events = await listenTo(daemon, { session_id: sessionId });
    const before = done(await client.call('get_state', { session_id: sessionId }));
    expect(before).toMatchObject({ title: 'one', cwd: '/tmp', model: 'offline/guide', steering_mode: 'one-at-a-time', run_state: 'idle' });
    done(
      await client.call('update_session', {
        session_id: sessionId,
        thinking: 'high',
        approval_mode: 'full',
        when_detached: 'deny',
        recovery: 'continue',
      }),
    );
    const after = done(await client.call('get_state', { session_id: sessionId }));
    expect(after).toEqual({
      ...before,
      seq: after.seq,
      thinking: 'high',
      approval_mode: 'full',
      when_detached: 'deny',
      recovery: 'continue',
    });
    const told = await events.until(isEvent('session_update'));
    expect(told.payload).toEqual({
      session_id: sessionId,
      thinking: 'high',
      approval_mode: 'full',
      when_detached: 'deny',
      recovery: 'continue',
    });
  });

  test('an update that names nothing is accepted and says nothing', async () => {
    const sessionId = await newSession(client);
    const { seq } = done(await client.call('get_state', { session_id: sessionId }));
    expect(done(await client.call('update_session', { session_id: sessionId }))).toEqual({
      command: 'update_session',
      session_id: sessionId,
    });
    expect(done(await client.call('get_state', { session_id: sessionId })).seq).toBe(seq);
  });

  test('modes and tools answer with what they set', async () => {
    const sessionId = await newSession(client);
    const at = { session_id: sessionId };
    expect(done(await client.call('set_steering_mode', { mode: 'all', ...at }))).toEqual({
      command: 'set_steering_mode',
      mode: 'all',
      ...at,
    });
    expect(done(await client.call('set_follow_up_mode', { mode: 'all', ...at }))).toEqual({
      command: 'set_follow_up_mode',
      mode: 'all',
      ...at,
    });
    expect(done(await client.call('set_active_tools', { tools: ['clock', 'clock'], ...at }))).toEqual({
      command: 'set_active_tools',
      count: 1,
      ...at,
    });
    const { tools } = done(await client.call('list_tools', at));
    expect(tools.filter(({ active }: { active: boolean }) => active).map(({ name }: { name: string }) => name)).toEqual(['clock']);
    expect(done(await client.call('get_state', at))).toMatchObject({
      steering_mode: 'all',
      follow_up_mode: 'all',
      active_tools: ['clock'],
    });
    expect((await say(client, sessionId, 'echo hi')).output).toContain('not active');
    expect(done(await client.call('set_active_tools', { tools: [], ...at })).count).toBe(0);
  });

  test('a model that is not listed is taken for a provider that is there', async () => {
    const sessionId = await newSession(client);
    expect(done(await client.call('set_model', { model: 'offline/another', thinking: 'low', session_id: sessionId }))).toMatchObject({
      model: 'offline/another',
    });
    expect(done(await client.call('get_state', { session_id: sessionId }))).toMatchObject({ model: 'offline/another', thinking: 'low' });
    const { models } = done(await client.call('list_models'));
    expect(models.map(({ model }: { model: string }) => model)).toContain('offline/guide');
  });

  test('an archived session is out of sight, works as before, and comes back', async () => {
    const sessionId = await newSession(client, { cwd: '/archived-here' });
    const listed = async (archived: boolean) =>
      done(await client.call('list_sessions', { cwd: '/archived-here', archived })).sessions.length;
    expect([await listed(false), await listed(true)]).toEqual([1, 0]);
    done(await client.call('archive_session', { session_id: sessionId }));
    expect([await listed(false), await listed(true)]).toEqual([0, 1]);
    expect((await say(client, sessionId, 'say still')).output).toBe('still');
    done(await client.call('archive_session', { session_id: sessionId, archived: false }));
    expect([await listed(false), await listed(true)]).toEqual([1, 0]);
  });
});

describe('listing', () => {
  test('pages by cursor give every session once, newest first', async () => {
    const cwd = '/paged';
    const made: string[] = [];
    for (let i = 0; i < 23; i++) made.push(await newSession(client, { cwd, title: `s${i}` }));
    for (const limit of [1, 5, 23, 100]) {
      const seen: string[] = [];
      for (let cursor: string | null = null, pages = 0; ; pages++) {
        const page = done(await client.call('list_sessions', { cwd, limit, ...(cursor === null ? {} : { cursor }) }));
        seen.push(...page.sessions.map(({ session_id }: { session_id: string }) => session_id));
        expect(page.sessions.length).toBeLessThanOrEqual(limit);
        expect(page.has_more).toBe(page.cursor !== null);
        cursor = page.cursor;
        if (cursor === null) break;
        expect(pages).toBeLessThan(50);
      }
      expect(seen).toHaveLength(23);
      expect(new Set(seen)).toEqual(new Set(made));
    }
    const rows = done(await client.call('list_sessions', { cwd })).sessions;
    const times = rows.map(({ updated_at }: { updated_at: string }) => updated_at);
    expect(times).toEqual([...times].sort().reverse());
  });

  test('a row tells what a person needs to find a session again', async () => {
    const sessionId = await newSession(client, { cwd: '/rows', title: 'The harbour' });
    await say(client, sessionId, 'say ahoy');
    const { sessions } = done(await client.call('list_sessions', { cwd: '/rows' }));
    expect(sessions).toMatchObject([
      {
        session_id: sessionId,
        title: 'The harbour',
        cwd: '/rows',
        model: 'offline/guide',
        run_state: 'idle',
        updated_at: expect.stringMatching(/Z$/),
        message_count: 2,
        last_user_message: 'say ahoy',
        archived: false,
      },
    ]);
  });

  test.each(['%', 'a_b', '\\', "'", '"', '*', 'a%b', '[a-z]', '?'])('a query of %j finds what holds it and nothing else', async (odd) => {
    const cwd = `/odd-${Buffer.from(odd).toString('hex')}`;
    const sessionId = await newSession(client, { cwd, title: `x${odd}y` });
    await newSession(client, { cwd, title: 'plain' });
    const { sessions } = done(await client.call('list_sessions', { cwd, query: odd }));
    expect(sessions.map(({ session_id }: { session_id: string }) => session_id)).toEqual([sessionId]);
  });

  test('sessions are found by title, by last words and by id', async () => {
    const cwd = '/found';
    const sessionId = await newSession(client, { cwd, title: 'Needle' });
    await say(client, sessionId, 'say haystack');
    await newSession(client, { cwd });
    for (const query of ['needle', 'NEEDLE', 'haystack', sessionId, sessionId.slice(4, 20)]) {
      const { sessions } = done(await client.call('list_sessions', { cwd, query }));
      expect(sessions.map(({ session_id }: { session_id: string }) => session_id)).toEqual([sessionId]);
    }
  });
});

describe('trees and branches', () => {
  test('a tree shows every message with its parent, and the leaf moves in it', async () => {
    const sessionId = await newSession(client);
    await say(client, sessionId, 'say one');
    const [first, answer] = await messagesOf(sessionId);
    await say(client, sessionId, 'say two');
    done(await client.call('set_leaf', { session_id: sessionId, leaf_id: answer.id }));
    expect((await messagesOf(sessionId)).map(idOf)).toEqual([first.id, answer.id]);
    await say(client, sessionId, 'say three');
    const { nodes, leaf_id } = done(await client.call('get_tree', { session_id: sessionId }));
    expect(nodes.map(({ role, snippet }: Told) => [role, snippet])).toEqual([
      ['user', 'say one'],
      ['assistant', 'one'],
      ['user', 'say two'],
      ['assistant', 'two'],
      ['user', 'say three'],
      ['assistant', 'three'],
    ]);
    expect(nodes.map(({ parent_id }: Told) => nodes.findIndex(({ id }: Told) => id === parent_id))).toEqual([-1, 0, 1, 2, 1, 4]);
    expect(leaf_id).toBe(nodes[5].id);
    expect((await messagesOf(sessionId)).map(({ text }) => text)).toEqual(['say one', 'one', 'say three', 'three']);
    expect((await messagesOf(sessionId, { leaf_id: nodes[3].id })).map(({ text }) => text)).toEqual(['say one', 'one', 'say two', 'two']);
  });

  test('a prompt may start from any message of the tree', async () => {
    const sessionId = await newSession(client);
    await say(client, sessionId, 'say one');
    const [first] = await messagesOf(sessionId);
    done(await client.call('prompt', { text: 'say instead', session_id: sessionId, leaf_id: first.id }));
    expect((await messagesOf(sessionId)).map(({ text }) => text)).toEqual(['say one', 'say instead', 'one\ninstead']);
  });

  test('the snippet of a message cuts no character in two', async () => {
    const sessionId = await newSession(client);
    await say(client, sessionId, `say ${'x'.repeat(75)}😀😀😀`);
    const { nodes } = done(await client.call('get_tree', { session_id: sessionId }));
    for (const { snippet } of nodes) {
      expect(snippet.isWellFormed()).toBe(true);
      expect(snippet).not.toContain('\ufffd');
    }
  });

  test('a branch shares the messages it has in common, ids included, and goes its own way', async () => {
    const parent = await newSession(client, { title: 'parent', cwd: '/tmp' });
    await say(client, parent, 'say one');
    await say(client, parent, 'say two');
    const all = await messagesOf(parent);
    const whole = done(await client.call('branch_session', { session_id: parent })).session_id as string;
    const part = done(await client.call('branch_session', { session_id: parent, leaf_id: all[1].id })).session_id as string;
    expect(await messagesOf(whole)).toEqual(all);
    expect(await messagesOf(part)).toEqual(all.slice(0, 2));
    await say(client, part, 'say other');
    expect((await messagesOf(part)).map(({ text }) => text)).toEqual(['say one', 'one', 'say other', 'other']);
    expect(await messagesOf(parent)).toEqual(all);
    expect(done(await client.call('get_tree', { session_id: part })).nodes).toHaveLength(4);
    expect(done(await client.call('get_state', { session_id: part }))).toMatchObject({ cwd: '/tmp' });
    // A branch cannot move to what its parent said after the parting.
    expect(refusalOf(await client.call('set_leaf', { session_id: part, leaf_id: all[3].id })).message).toBe('leaf_not_found');
    done(await client.call('set_leaf', { session_id: part, leaf_id: all[0].id }));
  });

  test('deleting the parent keeps what a branch uses, over a restart too', async () => {
    await using mortal = await startDaemon();
    const one = await mortal.raw();
    const parent = await newSession(one);
    await say(one, parent, 'say kept');
    const { messages } = done(await one.call('get_messages', { session_id: parent }));
    const branch = done(await one.call('branch_session', { session_id: parent })).session_id as string;
    await say(one, parent, 'say lost');
    const grandchild = done(await one.call('branch_session', { session_id: branch })).session_id as string;
    await say(one, branch, 'say on');
    done(await one.call('delete_session', { session_id: parent }));
    done(await one.call('delete_session', { session_id: branch }));
    expect(refusalOf(await one.call('get_messages', { session_id: parent })).code).toBe('session_not_found');
    for (let restart = 0; restart < 2; restart++) {
      const two = await mortal.raw();
      expect(done(await two.call('get_messages', { session_id: grandchild })).messages).toEqual(messages);
      expect(done(await two.call('list_sessions')).sessions).toHaveLength(1);
      const { messages: found } = done(await two.call('search_messages', { query: 'lost' }));
      expect(found).toEqual([]);
      await mortal.terminate();
      await mortal.start();
    }
    const three = await mortal.raw();
    expect((await say(three, grandchild, 'say alive')).output).toBe('alive');
  });

  test('a running session may be branched from its last ended message', async () => {
    await using slow = await startDaemon({ wps: 200 });
    const one = await slow.raw();
    const sessionId = await newSession(one);
    await say(one, sessionId, 'say one');
    await begin(one, sessionId, 'stream 100000 words');
    const branch = done(await one.call('branch_session', { session_id: sessionId })).session_id;
    const { messages } = done(await one.call('get_messages', { session_id: branch }));
    expect(messages.map(({ text }: { text: string }) => text)).toEqual(['say one', 'one', 'stream 100000 words']);
    expect(done(await one.call('get_state', { session_id: branch })).run_state).toBe('idle');
    done(await one.call('abort', { session_id: sessionId }));
  });
});

describe('deleting', () => {
  test('a deleted session is gone for every command at once, and cannot be deleted twice', async () => {
    const sessionId = await newSession(client, { title: 'to be deleted' });
    await say(client, sessionId, 'say quicksilver');
    done(await client.call('delete_session', { session_id: sessionId }));
    for (const type of [
      'get_state',
      'get_messages',
      'attach',
      'switch_session',
      'branch_session',
      'delete_session',
      'get_tree',
      'list_runs',
      'list_ui_requests',
      'search_messages',
    ]) {
      expect(refusalOf(await client.call(type, { session_id: sessionId, query: 'x' })).code).toBe('session_not_found');
    }
    expect(done(await client.call('search_messages', { query: 'quicksilver' })).messages).toEqual([]);
    expect(done(await client.call('list_sessions', { query: 'to be deleted' })).sessions).toEqual([]);
  });

  test('a session that is being deleted takes nothing more, and asking again is fine', async () => {
    const sessionId = await newSession(client);
    const events = await listenTo(daemon, { session_id: sessionId });
    await begin(client, sessionId, 'ask me');
    const request = await events.until(isEvent('ui_request'));
    // In one write, so that they come while it is being deleted or when it is gone: the answer is the same.
    const commands = [
      ['delete_session', { session_id: sessionId }],
      ['prompt', { text: 'x', session_id: sessionId }],
      ['steer', { text: 'x', session_id: sessionId, if_idle: 'prompt' }],
      ['get_state', { session_id: sessionId }],
      ['attach', { session_id: sessionId }],
      ['switch_session', { session_id: sessionId }],
      ['branch_session', { session_id: sessionId }],
      ['update_session', { session_id: sessionId, title: 'x' }],
    ] as const;
    client.send(commands.map(([type, payload], i) => `${JSON.stringify({ id: `d${i}`, type, payload })}\n`).join(''));
    done(await client.until(({ id }) => id === 'd0'));
    for (let i = 1; i < commands.length; i++) {
      const reply = await client.until(({ id }) => id === `d${i}`);
      expect({ type: commands[i]![0], code: refusalOf(reply).code }).toEqual({ type: commands[i]![0], code: 'session_not_found' });
    }
    await events.ended();
    expect(refusalOf(await client.call('ui_response', { request_id: request.payload.request_id, result: 'north' })).message).toBe(
      'already_resolved',
    );
  });
});

describe('the directory of a session is recorded in the commit that makes it: one that stands there before its first use is asked about', () => {
  test.each([
    ['with new_session', async (cwd: string) => newSession(client, { cwd })],
    [
      'by the first prompt of all',
      async (_cwd: string, first: TestDaemon) => {
        const other = await first.raw();
        const made = done(await other.call('prompt', { text: 'say ahoy' }));
        return made.session_id as string;
      },
    ],
  ])('%s', async (how, make) => {
    await using own = await startDaemon();
    client = await own.raw();
    const cwd = how === 'with new_session' ? join(own.root, 'mine') : own.workdir;
    mkdirSync(cwd, { recursive: true });
    const sessionId = await make(cwd, own);
    renameSync(cwd, `${cwd}-moved`);
    mkdirSync(cwd);
    const events = await listenTo(own, { session_id: sessionId });
    await begin(client, sessionId, 'run ls');
    expect((await events.until(isEvent('ui_request'))).payload.params).toMatchObject({ kind: 'directory' });
  });
});

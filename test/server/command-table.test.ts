import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { commands, subscribe, type CommandType } from '../../src/protocol/commands/commands.js';
import { errorCodes, rejectionWords } from '../../src/protocol/errors.js';
import { limits } from '../../src/protocol/limits.js';
import { startDaemon, type TestDaemon } from '../support/daemon.js';
import type { RawClient, RawLine } from '../support/raw-client.js';
import { samplesOf, setScene, type Scene } from '../support/samples.js';
import { complaints, done, expectAlive, refusalOf } from '../support/wire.js';

let daemon: TestDaemon;
let scene: Scene;
let samples: Record<CommandType, Record<string, unknown>>;
const types = Object.keys(commands) as CommandType[];
const stopping: CommandType[] = ['drain', 'shutdown'];

beforeAll(async () => {
  daemon = await startDaemon();
  scene = await setScene(daemon);
  samples = samplesOf(scene);
});
afterAll(async () => {
  await daemon[Symbol.asyncDispose]();
});

async function head(): Promise<number> {
  return done(await scene.client.call('get_state', { session_id: scene.idleId })).seq as number;
}

interface JsonSchema {
  type?: string;
  enum?: unknown[];
  const?: unknown;
  anyOf?: JsonSchema[];
  properties?: Record<string, JsonSchema>;
  required?: string[];
}

function schemaOf(payload: z.ZodObject): JsonSchema {
  return z.toJSONSchema(payload, { io: 'input', unrepresentable: 'any' }) as JsonSchema;
}

/** The JSON types a field takes; undefined when it takes anything. */
function typesOf(schema: JsonSchema): Set<string> | undefined {
  if (schema.anyOf) {
    const each = schema.anyOf.map(typesOf);
    return each.includes(undefined) ? undefined : new Set(each.flatMap((one) => [...one!]));
  }
  if (schema.type !== undefined) return new Set([schema.type === 'integer' ? 'number' : schema.type]);
  return schema.enum ? new Set(schema.enum.map((value) => typeof value)) : undefined;
}

const ofEachType: Record<string, unknown[]> = {
  string: ['x', ''],
  number: [0, -1, 1.5],
  boolean: [true, false],
  null: [null],
  array: [[], [null], ['x']],
  object: [{}, { length: 1 }],
};

/** Fields that may be left out when another one is there instead. */
const substitutes: Record<string, string> = { text: 'content' };

/** Every way to get one field wrong: left out where it is needed, or of another type. */
function mutationsOf(payload: z.ZodObject, right: Record<string, unknown>): { field: string; payload: Record<string, unknown> }[] {
  const { properties = {}, required = [] } = schemaOf(payload);
  return Object.entries(properties).flatMap(([field, schema]) => {
    const { [field]: _left, [substitutes[field] ?? '']: _instead, ...without } = right;
    const dropped = required.includes(field) ? [{ field, payload: without }] : [];
    const takes = typesOf(schema);
    const retyped = takes
      ? Object.entries(ofEachType).flatMap(([kind, values]) =>
          takes.has(kind) ? [] : values.map((value) => ({ field, payload: { ...right, [field]: value } })),
        )
      : [];
    const misnamed = schema.enum ? [{ field, payload: { ...right, [field]: 'no_such_word' } }] : [];
    return [...dropped, ...retyped, ...misnamed];
  });
}

async function sendAll(client: RawClient, type: string, payloads: Record<string, unknown>[]): Promise<RawLine[]> {
  const from = client.lines.length;
  client.send(payloads.map((payload, i) => `${JSON.stringify({ id: `${type}-${from}-${i}`, type, payload })}\n`).join(''));
  return Promise.all(payloads.map((_, i) => client.until(({ id }) => id === `${type}-${from}-${i}`)));
}

test('the samples cover every field of every command, and are right', () => {
  for (const type of types) {
    const known = Object.keys(commands[type].payload.shape).filter((field) => !['after', 'before', 'cursor'].includes(field));
    expect({ type, fields: Object.keys(samples[type]) }).toEqual({ type, fields: expect.arrayContaining(known) });
    expect({ type, ok: commands[type].payload.safeParse(samples[type]).success }).toEqual({ type, ok: true });
  }
});

describe('a field that is missing or of the wrong type is named', () => {
  test.each(types)('%s', async (type) => {
    const before = await head();
    const client = await daemon.raw();
    const mutations = mutationsOf(commands[type].payload, samples[type]);
    const replies = await sendAll(
      client,
      type,
      mutations.map(({ payload }) => payload),
    );
    for (const [i, { field, payload }] of mutations.entries()) {
      const { code, details, message } = refusalOf(replies[i]!);
      const named = String(details.field).split('.')[0];
      expect({ code, named, value: payload[field] }).toEqual({ code: 'invalid_payload', named: field, value: payload[field] });
      expect(message).toContain(field);
    }
    expect((await client.call('ping')).type).toBe('pong');
    expect(await head()).toBe(before);
    client.close();
  });

  test('subscribe, on the other socket', async () => {
    const client = await daemon.rawEvents();
    const right = { session_id: '*', after: 0, log_id: 'x', live: true, client_id: 'c' };
    const mutations = mutationsOf(subscribe.payload, right);
    expect(mutations.length).toBeGreaterThan(20);
    const replies = await sendAll(
      client,
      'subscribe',
      mutations.map(({ payload }) => payload),
    );
    for (const [i, { field }] of mutations.entries()) {
      expect(refusalOf(replies[i]!)).toMatchObject({ code: 'invalid_payload', details: { field } });
    }
    client.close();
  });
});

test('a key that stands twice counts with its last value, as JSON says', async () => {
  const client = await daemon.raw();
  client.send('{"id":"a","id":"b","type":"shutdown","type":"ping","payload":{"x":1},"payload":{}}\n');
  expect(await client.next()).toMatchObject({ id: 'b', type: 'pong' });
  client.send('{"id":"c","type":"get_state","payload":{"session_id":5,"session_id":"nobody"}}\n');
  expect(refusalOf(await client.next()).code).toBe('session_not_found');
  client.close();
});

describe('a session that does not exist', () => {
  const elsewhere: Partial<Record<CommandType, string>> = {
    // These say nothing about a session, or have nothing of its to say.
    list_clients: 'ok',
    list_models: 'ok',
    extension_command: 'extension_command_not_found',
    resume_run: 'run_not_found',
    prompt: 'leaf_not_found',
  };
  const named = types.filter((type) => 'session_id' in commands[type].payload.shape);

  test.each(named)('%s says so', async (type) => {
    const client = await daemon.raw();
    const reply = await client.call(type, { ...samples[type], session_id: 'ses_nobody' });
    const expected = elsewhere[type] ?? 'session_not_found';
    if (expected === 'ok') {
      done(reply);
      return;
    }
    const { code, message } = refusalOf(reply);
    expect(code === 'command_rejected' ? message : code).toBe(expected);
    if (code === 'session_not_found') expect(message).toContain('ses_nobody');
    client.close();
  });

  test('prompt without a leaf says so too, and makes none', async () => {
    const before = await head();
    for (const wait of [true, false]) {
      expect(refusalOf(await scene.client.call('prompt', { text: 'x', wait, session_id: 'ses_nobody' })).code).toBe('session_not_found');
    }
    expect(await head()).toBe(before);
  });

  test('subscribe says so', async () => {
    const events = await daemon.rawEvents();
    expect(refusalOf(await events.call('subscribe', { session_id: 'ses_nobody' }))).toMatchObject({
      code: 'session_not_found',
      details: { field: 'session_id' },
    });
    events.close();
  });
});

describe('things that do not exist', () => {
  test.each([
    ['set_leaf', { leaf_id: 'msg_nobody' }, 'leaf_not_found'],
    ['prompt', { text: 'x', leaf_id: 'msg_nobody' }, 'leaf_not_found'],
    ['get_messages', { leaf_id: 'msg_nobody' }, 'leaf_not_found'],
    ['get_messages', { before: 'msg_nobody' }, 'invalid_payload'],
    ['get_messages', { after: 'msg_nobody' }, 'invalid_payload'],
    ['get_tree', { before: 'msg_nobody' }, 'invalid_payload'],
    ['list_runs', { before: 'run_nobody' }, 'run_not_found'],
    ['resume_run', { run_id: 'run_nobody', action: 'retry' }, 'run_not_found'],
    ['update_queued', { input_id: 'inp_nobody', revision: 1, text: 'x' }, 'not_waiting'],
    ['remove_queued', { input_id: 'inp_nobody' }, 'not_waiting'],
    ['ui_response', { request_id: 'req_nobody', result: 1 }, 'already_resolved'],
    ['get_artifact', { artifact_id: 'art_nobody' }, 'invalid_payload'],
    ['set_active_tools', { tools: ['clock', 'no_such_tool'] }, 'tool_not_registered'],
    ['set_model', { model: 'nobody/x' }, 'invalid_payload'],
    ['update_session', { model: 'nobody/x' }, 'invalid_payload'],
    ['compact_session', {}, 'nothing_to_compact'],
    ['extension_command', { name: 'x' }, 'extension_command_not_found'],
    ['steer', { text: 'x' }, 'no_active_run'],
    ['follow_up', { text: 'x' }, 'no_active_run'],
    ['abort', {}, 'no_active_run'],
    ['prompt', { text: '' }, 'empty_prompt'],
    ['prompt', { text: ' \n\t' }, 'empty_prompt'],
    ['steer', { text: '', if_idle: 'prompt' }, 'empty_prompt'],
  ])('%s %j is refused with %s', async (type, payload, expected) => {
    const session = ['ui_response', 'get_artifact'].includes(type) ? {} : { session_id: scene.idleId };
    const before = await head();
    const reply = await scene.client.call(type, { ...payload, ...session });
    const { code, message, retryable } = refusalOf(reply);
    expect(code === 'command_rejected' ? message : code).toBe(expected);
    expect(retryable).toBe(false);
    expect(await head()).toBe(before);
  });

  test('new_session refuses a folder that is not absolute and a provider that is not there', async () => {
    expect(refusalOf(await scene.client.call('new_session', { cwd: 'here' }))).toMatchObject({
      code: 'invalid_payload',
      details: { field: 'cwd' },
    });
    expect(refusalOf(await scene.client.call('new_session', { model: 'nobody/x' }))).toMatchObject({ details: { field: 'model' } });
    expect(refusalOf(await scene.client.call('new_session', { title: 'x'.repeat(limits.titleCharsMax + 1) }))).toMatchObject({
      details: { field: 'title' },
    });
  });

  test('a message of another session is not a leaf of this one', async () => {
    expect(refusalOf(await scene.client.call('set_leaf', { session_id: scene.busyId, leaf_id: scene.messageId })).message).toBe(
      'leaf_not_found',
    );
    expect(refusalOf(await scene.client.call('branch_session', { session_id: scene.busyId, leaf_id: scene.messageId })).message).toBe(
      'leaf_not_found',
    );
    expect(refusalOf(await scene.client.call('list_runs', { session_id: scene.idleId, before: scene.runId })).message).toBe(
      'run_not_found',
    );
    expect(
      refusalOf(await scene.client.call('resume_run', { session_id: scene.idleId, run_id: scene.runId, action: 'retry' })).message,
    ).toBe('run_not_found');
  });

  test('what needs a quiet session is refused while a run is in progress', async () => {
    const { busyId } = scene;
    const { messages } = done(await scene.client.call('get_messages', { session_id: busyId }));
    for (const [type, payload] of [
      ['set_leaf', { leaf_id: messages[0].id }],
      ['prompt', { text: 'x' }],
      ['prompt', { text: 'x', leaf_id: messages[0].id, if_busy: 'steer' }],
    ] as const) {
      expect(refusalOf(await scene.client.call(type, { ...payload, session_id: busyId })).message).toBe('run_in_progress');
    }
  });
});

describe('an observer', () => {
  let observer: RawClient;

  beforeAll(async () => {
    observer = await daemon.raw();
    done(await observer.call('hello', { client: { name: 'eyes' }, role: 'observer', ui_capabilities: ['select'] }));
  });

  test.each(types.filter((type) => commands[type].role === 'controller'))('may not %s', async (type) => {
    const before = await head();
    for (const payload of [samples[type], {}, { nonsense: true }]) {
      expect(refusalOf(await observer.call(type, payload))).toMatchObject({ code: 'command_rejected', message: 'read_only_client' });
    }
    expect(await head()).toBe(before);
  });

  test.each(types.filter((type) => commands[type].role === 'observer' && type !== 'hello'))('may %s', async (type) => {
    const reply = await observer.call(type, samples[type]);
    if (type === 'get_artifact') expect(refusalOf(reply).code).toBe('invalid_payload');
    else expect(reply.type).toBe(commands[type].reply.type);
  });

  test('stays an observer: a second hello does not make it a controller, and changes nothing', async () => {
    for (const payload of [{ role: 'controller', client: { name: 'hands' } }, { client: { name: 'hands' } }]) {
      expect(refusalOf(await observer.call('hello', payload))).toMatchObject({ code: 'command_rejected', message: 'read_only_client' });
      expect(refusalOf(await observer.call('abort', {})).message).toBe('read_only_client');
    }
    const { clients } = done(await observer.call('list_clients'));
    expect(clients.map(({ name }: { name: string }) => name)).not.toContain('hands');
    const { client_id } = done(await observer.call('hello', { client: { name: 'eyes two' }, role: 'observer' }));
    const again = done(await observer.call('list_clients')).clients as { client_id: string; name: string; role: string }[];
    expect(again.find((one) => one.client_id === client_id)).toMatchObject({ name: 'eyes two', role: 'observer' });
  });

  test('may subscribe, and a request is not taken to be seen because it watches', async () => {
    const { client_id } = done(await observer.call('hello', { role: 'observer', ui_capabilities: ['select'] }));
    const events = await daemon.rawEvents();
    done(await events.call('subscribe', { session_id: scene.idleId, client_id }));
    const { clients } = done(await observer.call('list_clients'));
    expect(clients.find((one: { client_id: string }) => one.client_id === client_id)).toMatchObject({ role: 'observer', subscribed: true });
    const session = done(await scene.client.call('new_session', {})).session_id;
    done(await scene.client.call('update_session', { session_id: session, when_detached: 'deny' }));
    done(await events.call('subscribe', { session_id: session, client_id }));
    const { output } = done(await scene.client.call('prompt', { session_id: session, text: 'ask me' }));
    expect(output).toContain('The person gave no answer.');
    events.close();
  });
});

describe('the wrong socket', () => {
  test('every command on the event socket is refused with its id and has no effect', async () => {
    const events = await daemon.rawEvents();
    const before = await head();
    for (const type of types) {
      const reply = await events.call(type, samples[type]);
      expect(refusalOf(reply)).toMatchObject({ code: 'invalid_command' });
    }
    expect(await head()).toBe(before);
    done(await events.call('subscribe', { session_id: '*' }));
    events.close();
  });

  test('subscribe on the command socket is refused and has no effect', async () => {
    const client = await daemon.raw();
    expect(refusalOf(await client.call('subscribe', { session_id: '*', after: 0 }))).toMatchObject({ code: 'invalid_command' });
    expect((await client.call('ping')).type).toBe('pong');
    expect(client.lines).toHaveLength(2);
    client.close();
  });

  test('events sent to the command socket are unknown commands', async () => {
    const client = await daemon.raw();
    for (const type of ['agent_end', 'message_end', 'goodbye', 'accepted', 'error', 'hello_']) {
      expect(refusalOf(await client.call(type, {})).code).toBe('invalid_command');
    }
    client.close();
  });
});

describe('hello', () => {
  test('tells the limits, the log and what this daemon can do', async () => {
    const client = await daemon.raw();
    const told = done(await client.call('hello', {}));
    expect(told).toMatchObject({ server: { name: 'berth' }, protocol: '1' });
    expect(told.client_id).toMatch(/^cli_/);
    expect(told.log_id).toMatch(/^log_/);
    expect(told.limits).toMatchObject({
      line_bytes_max: 4 * 1024 * 1024,
      message_inline_bytes_max: 1024 * 1024,
      queued_inputs_max: 200,
      queued_text_bytes_max: 4 * 1024 * 1024,
      page_rows_max: limits.pageRowsMax,
    });
    for (const [name, value] of Object.entries(told.limits as object)) expect({ name, value }).toEqual({ name, value: expect.any(Number) });
    expect(done(await client.call('get_daemon')).log_id).toBe(told.log_id);
    client.close();
  });

  test.each([
    [{ role: 'admin' }, 'role'],
    [{ ui_capabilities: ['telepathy'] }, 'ui_capabilities.0'],
    [{ ui_capabilities: Array(17).fill('select') }, 'ui_capabilities'],
    [{ client: { name: 'x'.repeat(101) } }, 'client.name'],
    [{ client: { version: 1 } }, 'client.version'],
    [{ client: 'me' }, 'client'],
  ])('%j is refused by name and leaves the connection as it was', async (payload, field) => {
    const client = await daemon.raw();
    expect(refusalOf(await client.call('hello', payload))).toMatchObject({ code: 'invalid_payload', details: { field } });
    expect((await client.call('ping')).type).toBe('pong');
    client.close();
  });
});

// From here on the scene is no longer what it was.
describe('odd strings in every field that takes one are taken or refused by a name of the closed sets', () => {
  const odd = [
    '',
    ' ',
    '\u0000',
    '\ud800',
    '__proto__',
    'constructor',
    "' OR 1=1 --",
    '../../etc/passwd',
    '*',
    '%',
    '"',
    '𝒳',
    'x'.repeat(100_000),
  ];

  test.each(types.filter((type) => !stopping.includes(type) && type !== 'delete_session'))('%s', async (type) => {
    const client = await daemon.raw();
    const { properties = {} } = schemaOf(commands[type].payload);
    const fields = Object.keys(properties).filter((field) => typesOf(properties[field]!)?.has('string') ?? true);
    const payloads = fields.flatMap((field) => odd.map((text) => ({ ...samples[type], [field]: text, wait: false })));
    for (const reply of await sendAll(client, type, payloads)) {
      if (reply.ok) continue;
      const { code, message } = refusalOf(reply);
      expect(errorCodes).toContain(code);
      expect(code).not.toBe('internal_error');
      if (code === 'command_rejected') expect(rejectionWords).toContain(message);
    }
    expect((await client.call('ping')).type).toBe('pong');
    client.close();
  });
});

test('the daemon came through all of it without a complaint', async () => {
  await expectAlive(daemon);
  expect(complaints(daemon)).toEqual([]);
});

import { expect, test } from 'vitest';
import { startDaemon, type TestDaemon } from '../support/daemon.js';
import { sized } from '../support/fault-sizes.js';
import { createRandom, type Random } from '../support/random.js';
import { openRaw, type RawClient, type RawLine } from '../support/raw-client.js';
import { samplesOf, setScene } from '../support/samples.js';
import { complaints, done, expectAlive, listenTo, newSession, say } from '../support/wire.js';

const lineCount = sized({ short: 6_000, long: 20_000, full: 1_000_000 });
const connectionCount = 8;
const batchLines = 50;
const seed = Number(process.env.BERTH_SEED ?? Math.floor(Math.random() * 2 ** 31));
/** Lines that would end the daemon, or all it does, rightly. */
const orderly = ['shutdown', 'drain'];

const oddValues: unknown[] = [
  null,
  true,
  0,
  -1,
  1.5,
  1e308,
  2 ** 53,
  '',
  ' ',
  'x'.repeat(5_000),
  '\u0000',
  '\ud800',
  '😀',
  '__proto__',
  '*',
  'ses_',
  [],
  [[]],
  {},
  { __proto__: null, length: 3 },
  ['select'],
  [{ type: 'text', text: 'say odd' }],
  [{ type: 'image', data: 'AAAA', mime_type: 'image/png' }],
];
const oddText = [
  '1e999',
  '-0',
  'NaN',
  'undefined',
  '"\\ud800"',
  '"\\u0000"',
  '{"__proto__":{"polluted":1}}',
  '[[[[[[[[',
  '9007199254740993',
  'tru',
  '"\\x"',
];
const oddKeys = ['__proto__', 'constructor', 'toString', '', 'session_id', 'payload', 'v', 'id', 'type', 'meta', 'a.b', '\u0000'];

/** One place in a JSON value replaced, renamed, doubled or taken out. */
function changeValue(value: unknown, random: Random): unknown {
  if (typeof value !== 'object' || value === null || random.chance(0.2)) return random.pick(oddValues);
  if (Array.isArray(value)) {
    const copy = [...(value as unknown[])];
    const at = random.below(copy.length + 1);
    if (random.chance(0.5) && copy.length > 0) copy[at % copy.length] = changeValue(copy[at % copy.length], random);
    else copy.splice(at, random.below(2), random.pick(oddValues));
    return copy;
  }
  const entries = Object.entries(value);
  if (entries.length === 0) return { [random.pick(oddKeys)]: random.pick(oddValues) };
  const at = random.below(entries.length);
  const [key, inner] = entries[at]!;
  const how = random.below(10);
  if (how < 6) entries[at] = [key, changeValue(inner, random)];
  else if (how < 7) entries[at] = [random.pick(oddKeys), inner];
  else if (how < 8) entries.splice(at, 1);
  else entries.push([random.pick(oddKeys), random.pick(oddValues)]);
  return Object.fromEntries(entries);
}

/** Bytes flipped, put in, taken out, doubled or cut, without regard for what they mean. */
function changeBytes(line: Buffer, random: Random): Buffer {
  const at = random.below(line.length + 1);
  const length = 1 + random.below(12);
  switch (random.below(6)) {
    case 0: {
      const copy = Buffer.from(line);
      for (let i = 0; i < length; i++) copy[random.below(copy.length)] = random.below(256);
      return copy;
    }
    case 1:
      return Buffer.concat([line.subarray(0, at), random.bytes(length), line.subarray(at)]);
    case 2:
      return Buffer.concat([line.subarray(0, at), line.subarray(at + length)]);
    case 3:
      return Buffer.concat([line.subarray(0, at), line.subarray(Math.max(0, at - length)), line.subarray(at)]);
    case 4:
      return line.subarray(0, at);
    default:
      return Buffer.concat([line.subarray(0, at), Buffer.from(random.pick(oddText)), line.subarray(at)]);
  }
}

function mutate(corpus: readonly object[], random: Random): Buffer {
  let value: unknown = random.pick(corpus);
  const how = random.below(10);
  if (how < 6) for (let i = 0; i <= random.below(3); i++) value = changeValue(value, random);
  let line = Buffer.from(JSON.stringify(value));
  if (how >= 5 && how < 9) for (let i = 0; i <= random.below(3); i++) line = Buffer.from(changeBytes(line, random));
  if (how === 9) {
    const other = Buffer.from(JSON.stringify(random.pick(corpus)));
    line = Buffer.concat([line.subarray(0, random.below(line.length)), other.subarray(random.below(other.length))]);
  }
  return line;
}

/** Every command with right values, every line that the daemon itself writes. */
async function makeCorpus(daemon: TestDaemon): Promise<object[]> {
  const scene = await setScene(daemon);
  const { client } = scene;
  const sessions = [scene.idleId, scene.busyId, ...(await Promise.all(Array.from({ length: 6 }, () => newSession(client))))];
  const events = await listenTo(daemon, { session_id: '*', after: 0 });
  await say(client, sessions[2]!, 'call 2 tools');
  await events.until((line) => line.type === 'agent_end' && line.payload.session_id === sessions[2]);
  const commands = Object.entries(samplesOf(scene)).flatMap(([type, payload]) =>
    orderly.includes(type)
      ? []
      : sessions.map((session_id, i) => ({
          v: '1',
          id: `f${i}`,
          type,
          payload: 'session_id' in payload ? { ...payload, session_id } : payload,
        })),
  );
  const subscribes = sessions.map((session_id) => ({
    id: 's',
    type: 'subscribe',
    payload: { session_id, after: 0, live: true, client_id: 'cli_1' },
  }));
  return [...commands, ...subscribes, ...(client.lines as object[]), ...(events.lines as object[])];
}

test(
  `${lineCount.toLocaleString('en')} mutated lines over ${connectionCount} connections: no exit, no internal_error, no growth (BERTH_SEED=${seed})`,
  async () => {
    await using daemon = await startDaemon();
    const pid = daemon.pid();
    const corpus = await makeCorpus(daemon);
    const codes = new Map<string, number>();
    let sent = 0;
    let baseline = 0;

    function count(line: RawLine): void {
      const code = line.error?.code ?? (line.ok ? 'ok' : 'event');
      codes.set(code, (codes.get(code) ?? 0) + 1);
    }

    /** Sends a batch and waits until what can be answered at once has been. False when the connection is rightly over. */
    async function exchange(client: RawClient, lines: Buffer[], onEvents: boolean): Promise<boolean> {
      const id = `sync-${sent}`;
      const sync = Buffer.from(`\n{"id":"${id}","type":"${onEvents ? 'no_such' : 'ping'}"}\n`);
      client.send(Buffer.concat([...lines.flatMap((line) => [line, Buffer.from('\n')]), sync]));
      // A line of another connection may have deleted the session that this one listens to.
      await client.until((line) => line.id === id || line.payload.reason === 'session_deleted');
      const isOver = client.lines.some((line) => line.payload.reason === 'session_deleted');
      client.lines.splice(0).forEach(count);
      return !isOver;
    }

    async function worker(index: number): Promise<void> {
      const random = createRandom(seed + index);
      const onEvents = index >= connectionCount - 2;
      const path = daemon.paths.socket + (onEvents ? '.events' : '');
      let client = await openRaw(path);
      while (sent < lineCount) {
        const lines = Array.from({ length: batchLines }, () => mutate(corpus, random));
        sent += batchLines;
        const goesOn = await exchange(client, lines, onEvents);
        if (baseline === 0 && sent > lineCount / 4) baseline = daemon.rssBytes();
        // A hello among them may have made an observer of it.
        if (!goesOn || random.chance(0.1)) {
          client.close();
          client = await openRaw(path);
        }
      }
      client.close();
    }

    const working = Promise.all(Array.from({ length: connectionCount }, (_, index) => worker(index)));
    await working.catch((cause: unknown) => {
      throw new Error(`${String(cause)}; the daemon complains: ${complaints(daemon).join('\n')}`, { cause });
    });
    const told = Object.fromEntries(codes);
    expect(told).not.toHaveProperty('internal_error');
    // They got past the door and to every kind of answer.
    for (const code of ['ok', 'invalid_command', 'invalid_payload', 'unsupported_version', 'session_not_found', 'command_rejected'])
      expect(told).toHaveProperty(code);
    expect(told.ok).toBeGreaterThan(lineCount / 50);
    await expectAlive(daemon);
    expect(daemon.pid()).toBe(pid);
    expect(complaints(daemon)).toEqual([]);
    expect(daemon.rssBytes() - baseline).toBeLessThan(48 * 1024 * 1024);
    expect(await daemon.terminate()).toBe(0);
    await daemon.start();
    const client = await daemon.raw();
    done(await client.call('list_sessions'));
    expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
  },
  sized({ short: 180_000, long: 180_000, full: 3_600_000 }),
);

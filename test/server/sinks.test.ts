import { describe, expect, test } from 'vitest';
import { allSessions, type Scope } from '../../src/core/scope.js';
import { deleteSession } from '../../src/core/settings.js';
import { limits } from '../../src/protocol/limits.js';
import { createCursors, type Cursors } from '../../src/server/cursors.js';
import type { LineSink } from '../../src/server/lines/line-sink.js';
import type { LogCursor } from '../../src/server/log-cursor.js';
import { createTestEngine, type TestEngine } from '../support/engine.js';
import { createGate } from '../support/gate-tool.js';
import type { RawLine } from '../support/raw-client.js';
import { serveEvents } from '../support/serve-events.js';

/** A part of the daemon that listens: no socket, and as slow as the test says. */
interface TestSink {
  /** As they were given, which tells whether others got the same. */
  readonly pieces: Buffer[];
  readonly lines: RawLine[];
  readonly ends: string[];
  readonly cursor: LogCursor;
  /** How many more pieces it takes. */
  room: number;
  until(fits: (line: RawLine) => boolean): Promise<RawLine>;
}

function openSink(berth: TestEngine, cursors: Cursors, scope: Scope, after = berth.store.log.head()): TestSink {
  const pieces: Buffer[] = [];
  const lines: RawLine[] = [];
  const ends: string[] = [];
  const waiting: (() => void)[] = [];
  let unfinished: Buffer[] = [];
  const sink: LineSink = {
    canTake: () => made.room > 0,
    write(bytes) {
      made.room--;
      pieces.push(bytes);
      unfinished.push(bytes);
      if (bytes.at(-1) !== 10) return;
      lines.push(JSON.parse(Buffer.concat(unfinished).toString()) as RawLine);
      unfinished = [];
      for (const resolve of waiting.splice(0)) resolve();
    },
  };
  const start = { scope, after, fromCursor: false, liveFrom: after, live: true, prelude: undefined };
  const made: TestSink = {
    pieces,
    lines,
    ends,
    cursor: cursors.open(start, sink, { onEnd: (why) => ends.push(why) }),
    room: Infinity,
    async until(fits) {
      for (let found = lines.find(fits); ; found = lines.find(fits)) {
        if (found) return found;
        await new Promise<void>((resolve) => waiting.push(resolve));
      }
    },
  };
  made.cursor.pump();
  return made;
}

const isType = (type: string) => (line: RawLine) => line.type === type;
const isDelta = isType('message_update');

function durable(lines: readonly RawLine[]): RawLine[] {
  return lines.filter(({ seq, ok }) => seq !== undefined && ok === undefined);
}

/** What open messages have said, put together of deltas; each must begin where the last one ended. */
function textsOf(lines: readonly RawLine[]): Record<string, string> {
  const texts: Record<string, string> = {};
  for (const { payload } of lines.filter(isDelta)) {
    const key = `${payload.message_id} ${String(payload.block)}`;
    expect(payload.offset).toBe(texts[key]?.length ?? 0);
    texts[key] = (texts[key] ?? '') + String(payload.delta ?? payload.thinking_delta);
  }
  return texts;
}

describe('a sink without a socket', () => {
  test('gets the lines that a client on the socket gets, one by one', async () => {
    await using berth = createTestEngine();
    await using served = await serveEvents(berth);
    const session = berth.session();
    const client = await served.subscribe({ session_id: session });
    const sink = openSink(berth, served.cursors, { sessionId: session });
    berth.prompt(session, 'ahoy');
    const call = await berth.model.next();
    for (const word of ['cast ', 'off ', '🙂']) {
      const count = sink.lines.filter(isDelta).length;
      call.say(word);
      await sink.until((line) => isDelta(line) && sink.lines.filter(isDelta).length > count);
    }
    call.end();
    await sink.until(isType('agent_end'));
    await client.until(isType('agent_end'));
    expect(client.lines.filter(({ ok }) => ok === undefined)).toEqual(sink.lines);
    expect(sink.lines.filter(isDelta)).toHaveLength(3);
  });

  test('that falls behind is told the same when it reads again: pages of the log, a long line, the rest of a message', async () => {
    await using berth = createTestEngine();
    await using served = await serveEvents(berth);
    const session = berth.session();
    const client = await served.subscribe({ session_id: session });
    const sink = openSink(berth, served.cursors, { sessionId: session });
    berth.prompt(session, 'ahoy');
    const first = await berth.model.next();
    first.say('heard ');
    await sink.until(isDelta);
    sink.room = 0;
    const before = sink.pieces.length;
    first.say('not heard').end();
    await client.until(isType('agent_end'));
    for (let i = 0; i < limits.eventPageRowsMax * 2; i++) berth.change(session, { title: `${i}` });
    berth.prompt(session, 'x'.repeat(limits.eventPieceBytes * 5));
    const second = await berth.model.next();
    second.say('one ');
    await client.until((line) => isDelta(line) && line.payload.delta === 'one ');
    second.say('two ');
    await client.until((line) => isDelta(line) && line.payload.delta === 'two ');
    expect(sink.pieces).toHaveLength(before);

    // A few pieces at a time: it stops in the middle of pages, of lines and of texts.
    while (sink.lines.at(-1)?.payload.delta !== 'one two ') {
      sink.room = 3;
      sink.cursor.pump();
      await new Promise((resolve) => setImmediate(resolve));
    }
    sink.room = Infinity;
    second.say('three').end();
    const isLast = ({ type, payload }: RawLine): boolean => type === 'message_end' && JSON.stringify(payload).includes('three');
    await sink.until(isLast);
    await client.until(isLast);
    await berth.idle(session);
    await Promise.all([sink, client].map((reader) => reader.until(({ seq }) => seq === berth.store.log.head())));
    expect(durable(sink.lines)).toEqual(durable(client.lines));
    expect(textsOf(sink.lines)).toEqual(textsOf(client.lines));
    expect(Object.values(textsOf(sink.lines))).toEqual(['heard not heard', 'one two three']);
    expect(sink.lines.filter(isDelta).length).toBeLessThan(client.lines.filter(isDelta).length);
    expect(sink.pieces.length).toBeGreaterThan(sink.lines.length);
  });

  test('hears all sessions or one, and nothing after it was stopped', async () => {
    await using berth = createTestEngine();
    const cursors = createCursors({ engine: berth.engine, now: () => berth.clock.nowMs });
    const [a, b] = [berth.session(), berth.session()];
    const [all, one, stopped] = [allSessions, { sessionId: a }, { sessionId: a }].map((scope) => openSink(berth, cursors, scope));
    stopped!.cursor.stop();
    berth.change(b, { title: 'of b' });
    berth.change(a, { title: 'of a' });
    await all!.until(({ payload }) => payload.title === 'of a');
    await one!.until(({ payload }) => payload.title === 'of a');
    expect(all!.lines.map(({ payload }) => payload.title)).toEqual(['of b', 'of a']);
    expect(one!.lines.map(({ payload }) => payload.title)).toEqual(['of a']);
    expect(stopped!.lines).toEqual([]);
  });

  test('learns that there will be nothing more when its session is deleted', async () => {
    await using berth = createTestEngine();
    const cursors = createCursors({ engine: berth.engine, now: () => berth.clock.nowMs });
    const session = berth.session();
    const [all, one] = [allSessions, { sessionId: session }].map((scope) => openSink(berth, cursors, scope));
    expect(berth.engine.commit.decide(session, deleteSession).ok).toBe(true);
    await one!.until(({ payload }) => payload.deleted === true);
    await all!.until(({ payload }) => payload.deleted === true);
    expect({ one: one!.ends, all: all!.ends }).toEqual({ one: ['session_deleted'], all: [] });
  });
});

test('a line is encoded once for all sinks: durable, delta, output and signal are the same bytes in the same memory', async () => {
  const gate = createGate();
  await using berth = createTestEngine({ tools: [gate.tool] });
  const cursors = createCursors({ engine: berth.engine, now: () => berth.clock.nowMs });
  const session = berth.session();
  const sinks = [{ sessionId: session }, { sessionId: session }, allSessions].map((scope) => openSink(berth, cursors, scope));
  const [first, ...others] = sinks;
  berth.prompt(session);
  const call = await berth.model.next();
  for (const word of ['one ', 'two ']) {
    call.say(word);
    await first!.until((line) => isDelta(line) && line.payload.delta === word);
  }
  call.call('gate', { key: 'a' }).end();
  await first!.until(isType('tool_execution_update'));
  const status = { session_id: session, params: { key: 'k', text: 'afloat' } };
  berth.engine.signals.set(session, 'k', { type: 'ui_status', payload: status });
  gate.open('a');
  (await berth.model.next()).say('done').end();
  for (const sink of sinks) await Promise.all([sink.until(isType('agent_end')), sink.until(isType('ui_status'))]);
  for (const other of others) {
    expect(other.pieces).toHaveLength(first!.pieces.length);
    for (const [index, piece] of other.pieces.entries()) expect(piece).toBe(first!.pieces[index]);
  }
  const types = new Set(first!.lines.map(({ type }) => type));
  for (const type of ['message_update', 'message_end', 'tool_execution_update', 'ui_status']) expect(types).toContain(type);
});

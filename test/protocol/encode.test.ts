import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { artifactIdOf, clipContent, clipMessage } from '../../src/protocol/clip.js';
import { textOf } from '../../src/protocol/content.js';
import { clipInputs, encodeDurable } from '../../src/protocol/encode.js';
import type { Fact } from '../../src/protocol/events.js';
import { limits } from '../../src/protocol/limits.js';
import type { ContentBlock, Message } from '../../src/protocol/messages.js';

const megabyte = 1024 * 1024;
const inTurn = { session_id: 'ses_1', run_id: 'run_1', turn_id: '1' };
const plain = { name: 'plain letters', unit: 'x' };
/** Characters and how many bytes of JSON each unit of them can be. */
const nasty = [
  plain,
  { name: 'control characters', unit: '\u0001' },
  { name: 'quotes', unit: '"' },
  { name: 'three-byte characters', unit: '\u2028' },
  { name: 'pairs', unit: '😀' },
  { name: 'lone surrogates', unit: '\ud800' },
];

function messageOf(content: ContentBlock[]): Message {
  return {
    type: 'message',
    id: 'msg_000000001abcdefgh',
    parent_id: null,
    role: 'assistant',
    text: textOf(content),
    content,
    run_id: 'run_1',
    turn_kind: 'prompt',
    created_at: '2026-11-16T02:11:03.444Z',
    usage: null,
    stop_reason: 'stop',
    model: 'offline/guide',
  };
}

function encoded(fact: Fact): string {
  return encodeDurable({ ...fact, seq: 412, ts: '2026-11-16T02:11:03.444Z' });
}

function messageEnd(content: ContentBlock[]): Fact {
  const message = messageOf(content);
  return { type: 'message_end', payload: { ...inTurn, message_id: message.id, role: 'assistant', message } };
}

function expectFits(line: string): void {
  expect(Buffer.byteLength(line)).toBeLessThan(limits.lineBytesMax);
  expect(line).not.toContain('\n');
}

describe.each(nasty)('of $name', ({ unit }) => {
  const long = unit.repeat((1.2 * megabyte) / unit.length);

  test.each([
    ['one text', [{ type: 'text', text: long }]],
    ['one thinking', [{ type: 'thinking', thinking: long }]],
    [
      'thinking, text and text',
      [
        { type: 'thinking', thinking: long },
        { type: 'text', text: long },
        { type: 'text', text: long },
      ],
    ],
    ['a call', [{ type: 'tool_call', id: 'call_1', name: 'echo', arguments: { text: long } }]],
  ] as [string, ContentBlock[]][])('a message_end with %s fits a line', (_, content) => {
    const line = encoded(messageEnd(content));
    expectFits(line);
    const { message } = (JSON.parse(line) as { payload: { message: Message } }).payload;
    expect(message.content).toHaveLength(content.length);
    expect(message.text).toBe(textOf(message.content));
    expect(message.truncated).toBe(true);
    expect(message.artifact_id).toBe(artifactIdOf(message.id));
  });

  test('a message_end with as many calls as there may be fits a line', () => {
    const args = { text: unit.repeat(Math.floor(limits.toolArgumentsBytesMax / 4 / unit.length) - 20) };
    const calls = Array.from({ length: limits.toolCallsPerMessageMax }, (_, i) => ({
      type: 'tool_call' as const,
      id: `call_${i}`,
      name: 'echo',
      arguments: args,
    }));
    expectFits(encoded(messageEnd([{ type: 'text', text: long }, ...calls])));
  });

  test('a message just below the inline bound is whole, one just above is cut', () => {
    const bytes = Buffer.byteLength(JSON.stringify(unit)) - 2;
    const fits = unit.repeat(Math.floor((limits.messageInlineBytesMax - 2) / bytes));
    const whole = clipMessage(messageOf([{ type: 'text', text: fits }]));
    expect(whole.truncated).toBeUndefined();
    expect(whole.text).toBe(fits);
    expectFits(encoded(messageEnd([{ type: 'text', text: fits }])));
    const cut = clipMessage(messageOf([{ type: 'text', text: fits + unit }]));
    expect(cut.truncated).toBe(true);
    expect(fits.startsWith(cut.text)).toBe(true);
    expect(cut.text.length).toBeGreaterThan(100_000);
  });

  test('a queue_update with the longest text fits a line and says that it is cut', () => {
    const input = { input_id: 'inp_1', kind: 'steer' as const, text: long, hold: false, revision: 1, client: null };
    const line = encoded({ type: 'queue_update', payload: { session_id: 'ses_1', op: 'added', input, paused: false } });
    expectFits(line);
    const { input: told } = (JSON.parse(line) as { payload: { input: { text: string; truncated?: true } } }).payload;
    expect(told.truncated).toBe(true);
    expect(told.text.length).toBeGreaterThan(0);
  });

  test('a queue_update that drops as much as can wait fits a line and names each input', () => {
    const bytes = Buffer.byteLength(unit);
    const text = unit.repeat(Math.floor(limits.queuedTextBytesMax / limits.queuedInputsMax / bytes));
    const dropped = Array.from({ length: limits.queuedInputsMax }, (_, i) => ({
      input_id: `i${i}`.padEnd(128, '-'),
      kind: 'steer' as const,
      text,
    }));
    const line = encoded({ type: 'queue_update', payload: { session_id: 'ses_1', op: 'dropped', dropped, paused: false } });
    expectFits(line);
    const told = (JSON.parse(line) as { payload: { dropped: { input_id: string }[] } }).payload.dropped;
    expect(told.map(({ input_id }) => input_id)).toEqual(dropped.map(({ input_id }) => input_id));
  });

  test('a tool_execution_end with a long result fits a line', () => {
    const ended = { tool_call_id: 'c', tool_name: 'echo', message_id: 'msg_1', is_error: false, skipped: false, duration_ms: 1 };
    expectFits(encoded({ type: 'tool_execution_end', payload: { ...inTurn, ...ended, result: long } }));
  });

  test('a tool_execution_start with the longest arguments fits a line', () => {
    const args = { text: unit.repeat(Math.floor(limits.toolArgumentsBytesMax / unit.length)) };
    expectFits(
      encoded({ type: 'tool_execution_start', payload: { ...inTurn, tool_call_id: 'c', tool_name: 'echo', title: 'Echo', args } }),
    );
  });
});

test('the longest message there can be fits a line, whatever escapes it needs', () => {
  expectFits(encoded(messageEnd([{ type: 'text', text: '\u0001'.repeat(limits.messageTextUnitsMax) }])));
});

test.each([plain, nasty[1]!])('what is not text is bounded too, of $name', ({ unit }) => {
  const long = unit.repeat(Math.floor((limits.lineBytesMax - 100) / (Buffer.byteLength(JSON.stringify(unit)) - 2)));
  const answered = { session_id: 'ses_1', run_id: 'run_1', request_id: 'req_1', by: 'a client', outcome: 'answered' as const };
  expectFits(encoded({ type: 'ui_resolved', payload: { ...answered, result: long } }));
  expectFits(encoded(messageEnd([{ type: 'thinking', thinking: 'hm', thinking_signature: long }])));
  expectFits(encoded(messageEnd([{ type: 'text', text: 'a', junk: long }])));
});

describe('cutting', () => {
  test('a pair is never cut in two, wherever the bound falls', () => {
    for (const before of ['', 'x']) {
      const [block] = clipContent([{ type: 'text', text: before + '😀'.repeat(megabyte) }]);
      if (block?.type !== 'text') throw new Error('a text stays a text');
      expect(block.text.isWellFormed()).toBe(true);
      expect(block.text.length).toBeGreaterThan(100_000);
    }
    for (const lead of ['', 'x']) {
      const [cut] = clipInputs([{ text: lead + '😀'.repeat(megabyte) }]);
      expect(cut?.text.isWellFormed()).toBe(true);
    }
  });

  test('what does not fit is cut or emptied, never left out', () => {
    const content: ContentBlock[] = [
      { type: 'text', text: 'x'.repeat(2 * megabyte) },
      { type: 'image', data: 'AAAA'.repeat(megabyte), mime_type: 'image/png' },
      { type: 'tool_call', id: 'c', name: 'echo', arguments: { text: 'y'.repeat(megabyte) } },
      { type: 'thinking', thinking: 'z'.repeat(megabyte) },
      { type: 'text', text: 'the end' },
    ];
    const cut = clipContent(content);
    expect(cut.map(({ type }) => type)).toEqual(content.map(({ type }) => type));
    expect(JSON.stringify(cut).length).toBeLessThan(limits.messageInlineBytesMax);
  });

  test('a short message is left as it is', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        const message = messageOf([{ type: 'text', text }]);
        expect(clipMessage(message)).toEqual(message);
      }),
    );
  });

  test('a message that is cut already is not cut again', () => {
    const once = clipMessage(messageOf([{ type: 'text', text: 'x'.repeat(2 * megabyte) }]));
    expect(clipMessage(once)).toEqual(once);
  });

  test('inputs that fit are left as they are, and later ones still name themselves when nothing is left', () => {
    const inputs = [
      { id: 1, text: 'a' },
      { id: 2, text: 'x'.repeat(megabyte) },
      { id: 3, text: 'b' },
    ];
    const cut = clipInputs(inputs);
    expect(cut.map(({ id }) => id)).toEqual([1, 2, 3]);
    expect(cut[0]).toEqual(inputs[0]);
    expect(cut[1]).toMatchObject({ truncated: true });
    expect(cut[2]).toEqual({ id: 3, text: '', truncated: true });
  });
});

test('a durable event says its seq twice, as seq and in its id, and is one line', () => {
  const line = encoded({ type: 'agent_start', payload: { session_id: 'ses_1', run_id: 'run_1' } });
  expect(JSON.parse(line)).toEqual({
    v: '1',
    id: 'evt-412',
    seq: 412,
    type: 'agent_start',
    ts: '2026-11-16T02:11:03.444Z',
    payload: { session_id: 'ses_1', run_id: 'run_1' },
  });
});

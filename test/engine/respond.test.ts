import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { limits } from '../../src/protocol/limits.js';
import { createEchoTool } from '../../src/providers/offline/echo.js';
import { toolText, type Tool } from '../../src/tools/port.js';
import { createTestEngine, type TestEngine } from '../support/engine.js';
import type { ModelCall } from '../support/scripted-model.js';
import { zodParameters } from '../../src/tools/zod-parameters.js';

function lastMessage(berth: TestEngine, session: string) {
  const { leafId } = berth.store.load(session) ?? { leafId: null };
  return { message: berth.store.entries.find(leafId ?? '')!, content: berth.store.entries.contentOf(leafId ?? '')! };
}

async function ask(berth: TestEngine, answer: (call: ModelCall) => void): Promise<string> {
  const session = berth.session();
  berth.prompt(session);
  answer(await berth.model.next());
  return session;
}

function results(berth: TestEngine, session: string) {
  return berth.events(session).flatMap((event) => (event.type === 'tool_execution_end' ? [event.payload] : []));
}

describe('a run', () => {
  test('is told in the canonical order', async () => {
    await using berth = createTestEngine({ tools: [createEchoTool()] });
    const session = await ask(berth, (call) => call.begin().say('I echo').call('echo', { text: 'x' }).end());
    (await berth.model.next()).say('done').end();
    await berth.idle(session);
    expect(berth.told(session)).toEqual([
      'session_update',
      'agent_start',
      'turn_start 1 prompt',
      'message_start user',
      'message_end user',
      'message_start assistant',
      'message_end assistant',
      'tool_execution_start call_1_1',
      'tool_execution_end call_1_1',
      'message_start tool_result',
      'message_end tool_result',
      'turn_end 1',
      'turn_start 2 tool_results',
      'message_start assistant',
      'message_end assistant',
      'turn_end 2',
      'agent_end completed',
    ]);
  });

  test('says that a response begins when it begins, not at its first word', async () => {
    await using berth = createTestEngine();
    const session = berth.session();
    berth.prompt(session);
    const call = await berth.model.next();
    expect(berth.told(session).at(-1)).toBe('message_end user');
    call.begin();
    await berth.until(session, () => (berth.told(session).at(-1) === 'message_start assistant' ? true : undefined));
    call.say('x').end();
    await berth.idle(session);
  });

  test('of a model that has nothing to say completes with a warning, and the message that stayed empty is discarded', async () => {
    await using berth = createTestEngine();
    for (const answer of [
      (call: ModelCall) => call.end(),
      (call: ModelCall) => call.begin().end(),
      (call: ModelCall) => call.say('').end(),
    ]) {
      const session = await ask(berth, answer);
      await berth.idle(session);
      expect(berth.told(session).slice(-5)).toEqual([
        'message_start assistant',
        'message_end assistant discarded empty',
        'warning',
        'turn_end 1',
        'agent_end completed',
      ]);
      expect(berth.history(session)).toEqual(['user: go']);
    }
  });

  test('keeps what the model thought, and its signature', async () => {
    await using berth = createTestEngine();
    const session = await ask(berth, (call) => call.think('hm', 0).think('m', 0, 'sig').say('yes', 1).end());
    await berth.idle(session);
    expect(lastMessage(berth, session)).toMatchObject({
      message: { text: 'yes', stop_reason: 'stop', model: 'scripted/model' },
      content: [
        { type: 'thinking', thinking: 'hmm', thinking_signature: 'sig' },
        { type: 'text', text: 'yes' },
      ],
    });
    berth.prompt(session, 'again');
    const next = await berth.model.next();
    expect(next.request.messages[1]?.content[0]).toMatchObject({ type: 'thinking', thinking_signature: 'sig' });
    next.end();
    await berth.idle(session);
  });

  test('keeps whole characters, wherever the deltas cut them', async () => {
    await using berth = createTestEngine();
    const session = await ask(berth, (call) => {
      for (const unit of 'a🙂é🙂') for (let i = 0; i < unit.length; i++) call.say(unit.charAt(i));
      call.say('\ud83d').end();
    });
    await berth.idle(session);
    expect(berth.history(session)[1]).toBe('assistant: a🙂é🙂\ufffd');
  });

  test('sums usage over its turns and tells it', async () => {
    await using berth = createTestEngine({ tools: [createEchoTool()] });
    const usage = { input: 10, output: 2, cache_read: 1, cache_write: 0, cost_usd: 0.25 };
    const session = await ask(berth, (call) => call.call('echo', { text: 'x' }).end('tool_use', usage));
    (await berth.model.next()).say('done').end('stop', usage);
    await berth.idle(session);
    const sums = berth.events(session).flatMap((event) => (event.type === 'usage_update' ? [event.payload] : []));
    expect(sums).toMatchObject([
      { input: 10, output: 2, cost_usd: 0.25 },
      { input: 20, output: 4, cache_read: 2, cost_usd: 0.5 },
    ]);
    expect(berth.events(session).at(-1)).toMatchObject({ type: 'agent_end', payload: { usage: { input: 20 } } });
    expect(berth.store.load(session)?.usage).toMatchObject({ input: 20, output: 4 });
  });
});

describe('a provider that fails', () => {
  const ways: [string, (call: ModelCall) => void, string][] = [
    ['before it began', (call) => call.fail('no', 'overloaded'), 'no'],
    ['after it began', (call) => call.begin().fail('no'), 'no'],
    ['in mid-sentence', (call) => call.say('half').fail('no'), 'no'],
    [
      'by throwing',
      (call) => call.say('half').throwError(new Error('bad bytes')),
      "the provider's adapter threw an exception, which is a bug in berth",
    ],
  ];

  test.each(ways)('fails its run and nothing else: %s', async (_when, answer, why) => {
    await using berth = createTestEngine();
    const session = berth.session();
    berth.prompt(session);
    const call = await berth.model.next();
    berth.submit(session, 'follow_up', 'later');
    answer(call);
    await berth.idle(session);
    const state = berth.store.load(session);
    expect(state).toMatchObject({ paused: true, lastRun: { outcome: 'failed', error: { code: 'provider_error' } } });
    expect(state?.lastRun?.error?.message).toContain(why);
    expect(state?.inputs.map(({ text }) => text)).toEqual(['later']);
    expect(berth.told(session).slice(-3)).toEqual(['error', 'queue_update paused', 'agent_end failed']);
    expect(berth.engine.live.openIn({ sessionId: session })).toEqual([]);
    berth.prompt(session, 'again');
    (await berth.model.next()).say('fine').end();
    (await berth.model.next()).say('and later').end();
    await berth.idle(session);
    expect(berth.store.load(session)?.lastRun?.outcome).toBe('completed');
  });

  test('keeps what it had said', async () => {
    await using berth = createTestEngine();
    const session = await ask(berth, (call) => call.say('half an ans').fail('no'));
    await berth.idle(session);
    expect(lastMessage(berth, session).message).toMatchObject({ text: 'half an ans', stop_reason: 'error' });
  });

  test('that nobody has for the model is told so', async () => {
    await using berth = createTestEngine();
    const session = berth.session({ model: 'nobody/nothing' });
    berth.prompt(session);
    await berth.idle(session);
    expect(berth.store.load(session)?.lastRun?.error).toMatchObject({
      code: 'provider_error',
      message: expect.stringContaining('nobody/nothing'),
    });
  });
});

describe('nonsense from a model', () => {
  test('gets an error result for each call, and the run goes on', async () => {
    await using berth = createTestEngine({ tools: [createEchoTool()] });
    const session = await ask(berth, (call) =>
      call
        .call('no_such_tool', {}, 'a')
        .call('__proto__', '{"__proto__":{"polluted":true}}', 'b')
        .call('echo', '{"text":"never en', 'c')
        .call('echo', '[1]', 'd')
        .call('echo', { text: 5 }, 'e')
        .call('echo', { text: 'fine' }, 'same')
        .call('echo', { text: 'the same id' }, 'same')
        .call('echo', { text: 'odd id' }, '"quoted"\n\u2028')
        .call('echo', '', '')
        .call('', {}, '')
        .end(),
    );
    const next = await berth.model.next();
    const ends = results(berth, session);
    expect(ends.map(({ is_error }) => is_error)).toEqual([true, true, true, true, true, false, false, false, true, true]);
    expect(new Set(ends.map(({ tool_call_id }) => tool_call_id)).size).toBe(10);
    expect(ends[0]?.result).toContain('no_such_tool');
    expect(ends[2]?.result).toContain('not a JSON object');
    expect(ends[4]?.result).toMatch(/do not fit echo.*text/);
    expect(({} as { polluted?: boolean }).polluted).toBeUndefined();
    // What the model is told has exactly one result for each call, in order.
    const calls = next.request.messages.flatMap(({ content }) =>
      content.flatMap((block) => (block.type === 'tool_call' ? [block.id] : [])),
    );
    expect(next.request.messages.flatMap(({ toolCallId }) => toolCallId ?? [])).toEqual(calls);
    next.say('sorry').end();
    await berth.idle(session);
    expect(berth.store.load(session)?.lastRun?.outcome).toBe('completed');
  });

  test('of a thousand calls in one message is capped', async () => {
    await using berth = createTestEngine({ tools: [createEchoTool()] });
    const session = await ask(berth, (call) => {
      for (let i = 0; i < 1_000; i++) call.call('echo', { text: String(i) });
      call.end();
    });
    (await berth.model.next()).say('many').end();
    await berth.idle(session);
    expect(results(berth, session)).toHaveLength(limits.toolCallsPerMessageMax);
  });

  test('a message with more parts than anybody needs is cut, and none of its calls is run', async () => {
    await using berth = createTestEngine({ tools: [createEchoTool()] });
    const session = await ask(berth, (call) => {
      for (let i = 0; i < 2 * limits.messageBlocksMax; i++) call.call('echo', { text: String(i) });
      call.end();
    });
    await berth.idle(session);
    expect(results(berth, session)).toEqual([]);
    expect(berth.store.load(session)?.lastRun).toMatchObject({
      outcome: 'failed',
      error: { message: 'the answer was truncated: it has more than 1024 content blocks' },
    });
  });

  test('arguments that are too long are an error result, not a crash', async () => {
    await using berth = createTestEngine({ tools: [createEchoTool()] });
    const session = await ask(berth, (call) => call.call('echo', { text: 'x'.repeat(limits.toolArgumentsBytesMax) }).end());
    (await berth.model.next()).say('ok').end();
    await berth.idle(session);
    expect(results(berth, session)).toMatchObject([{ is_error: true, result: 'The arguments are too long.' }]);
  });

  test('a message without end is stopped at the bound with length, and its calls are left out', async () => {
    await using berth = createTestEngine({ tools: [createEchoTool()] });
    const piece = 'x'.repeat(1024 * 1024);
    let ended = false;
    const session = await ask(berth, (call) => {
      call.call('echo', { text: 'never' });
      for (let i = 0; i < 20; i++) call.say(piece, 0);
      call.signal.addEventListener('abort', () => (ended = true));
      call.end();
    });
    await berth.idle(session);
    const { message, content } = lastMessage(berth, session);
    expect(message).toMatchObject({ stop_reason: 'length', truncated: true });
    expect(content).toHaveLength(1);
    const whole = content[0]?.type === 'text' ? content[0].text.length : 0;
    expect(whole).toBeGreaterThanOrEqual(limits.messageTextUnitsMax);
    expect(whole).toBeLessThan(limits.messageTextUnitsMax + piece.length);
    expect(ended).toBe(false);
    expect(results(berth, session)).toEqual([]);
  });
});

describe('a tool', () => {
  function createTool(name: string, run: Tool['run']): Tool {
    return { name, description: name, parameters: zodParameters(z.unknown()), readOnly: false, resumable: false, title: () => name, run };
  }

  test('that throws, rejects or returns late fails its own call; other sessions go on', async () => {
    const tools = [
      createTool('throws', () => {
        throw new Error('at once');
      }),
      createTool('rejects', () => Promise.reject(new Error('later'))),
      createTool('throws_no_error', () => {
        // eslint-disable-next-line @typescript-eslint/only-throw-error -- that is what a bad tool does
        throw 'a string';
      }),
      createEchoTool() as Tool,
    ];
    await using berth = createTestEngine({ tools });
    const sessions = await Promise.all(
      ['throws', 'rejects', 'throws_no_error', 'echo'].map((name) => ask(berth, (call) => call.call(name, { text: 'fine' }).end())),
    );
    await Promise.all(sessions.map(async () => (await berth.model.next()).say('ok').end()));
    for (const session of sessions) await berth.idle(session);
    expect(sessions.map((session) => results(berth, session)[0])).toMatchObject([
      { is_error: true, result: 'The tool failed with an exception: at once' },
      { is_error: true, result: 'The tool failed with an exception: later' },
      { is_error: true, result: 'The tool failed with an exception: a string' },
      { is_error: false, result: 'fine' },
    ]);
    for (const session of sessions) expect(berth.store.load(session)?.lastRun?.outcome).toBe('completed');
  });

  test('that is not active in the session is not run', async () => {
    await using berth = createTestEngine({ tools: [createEchoTool()] });
    const session = berth.session({ active_tools: [] });
    berth.prompt(session);
    const call = await berth.model.next();
    expect(call.request.tools).toEqual([]);
    call.call('echo', { text: 'x' }).end();
    (await berth.model.next()).say('ok').end();
    await berth.idle(session);
    expect(results(berth, session)).toMatchObject([{ is_error: true, result: expect.stringContaining('not active') }]);
  });

  test('whose result is very long has it cut and says how much', async () => {
    const long = createTool('long', () => Promise.resolve(toolText('é'.repeat(1_000_000))));
    await using berth = createTestEngine({ tools: [long] });
    const session = await ask(berth, (call) => call.call('long').end());
    const next = await berth.model.next();
    const text = next.request.messages.at(-1)?.content[0];
    expect(text?.type === 'text' && Buffer.byteLength(text.text)).toBeLessThan(limits.toolResultBytesMax + 100);
    expect(text?.type === 'text' && text.text).toMatch(/\d+ more characters were truncated\]$/);
    next.say('ok').end();
    await berth.idle(session);
  });

  test('sees its session, directory and signal, and how long it took is told', async () => {
    let seen: unknown;
    const look = createTool('look', (_args, { sessionId, runId, toolCallId, cwd, signal }) => {
      seen = { sessionId, runId, toolCallId, cwd, aborted: signal.aborted };
      return Promise.resolve(toolText('ok'));
    });
    await using berth = createTestEngine({ tools: [look] });
    const session = berth.session({ cwd: '/srv/ship' });
    const run = berth.prompt(session);
    (await berth.model.next()).call('look', {}, 'c1').end();
    (await berth.model.next()).say('ok').end();
    await berth.idle(session);
    expect(seen).toEqual({ sessionId: session, runId: run, toolCallId: 'c1', cwd: '/srv/ship', aborted: false });
    expect(results(berth, session)[0]?.duration_ms).toBeGreaterThanOrEqual(0);
  });
});

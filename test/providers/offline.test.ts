import { getEventListeners } from 'node:events';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { ContentBlock } from '../../src/protocol/messages.js';
import { scriptReply } from '../../src/providers/offline/offline-script.js';
import * as offline from '../../src/providers/offline/offline-provider.js';
import type { ModelDelta, ModelMessage, ModelRequest } from '../../src/providers/port.js';
import { processorMs } from '../support/processor-time.js';
import { oneByOne } from './asking.js';

const allTools = ['clock', 'echo', 'ask_user'];
const never = new AbortController().signal;

function user(text: string): ModelMessage {
  return { role: 'user', content: [{ type: 'text', text }] };
}

function assistant(...content: ContentBlock[]): ModelMessage {
  return { role: 'assistant', content };
}

function called(id: string, name = 'echo', args: Record<string, unknown> = {}): ContentBlock {
  return { type: 'tool_call', id, name, arguments: args };
}

function result(toolName: string, text: string, isError = false): ModelMessage {
  return { role: 'tool_result', toolCallId: 'call_1', toolName, isError, content: [{ type: 'text', text }] };
}

const answered = [user('hello'), assistant({ type: 'text', text: 'Hello.' })];

function request(messages: ModelMessage[] | string, tools = allTools): ModelRequest {
  return {
    model: 'offline/guide',
    sessionId: 'ses_x',
    system: '',
    thinking: 'off',
    messages: typeof messages === 'string' ? [user(messages)] : messages,
    tools: tools.map((name) => ({ name, description: name, parameters: {} })),
  };
}

/** The provider, with every delta by itself. */
function createOfflineProvider(options: offline.OfflineOptions): {
  stream(request: ModelRequest, signal: AbortSignal): AsyncGenerator<ModelDelta, void>;
} {
  const provider = offline.createOfflineProvider(options);
  return { stream: (asked, signal) => oneByOne(provider.stream(asked, signal)) };
}

async function collect(stream: AsyncIterable<ModelDelta>): Promise<ModelDelta[]> {
  const deltas: ModelDelta[] = [];
  for await (const delta of stream) deltas.push(delta);
  return deltas;
}

function ask(messages: ModelMessage[] | string, tools = allTools): Promise<ModelDelta[]> {
  return collect(createOfflineProvider({ wordsPerSecond: 0 }).stream(request(messages, tools), never));
}

function words(deltas: ModelDelta[]): string[] {
  return deltas.flatMap((delta) => (delta.type === 'text' ? [delta.text] : []));
}

async function askText(messages: ModelMessage[] | string, tools = allTools): Promise<string> {
  return words(await ask(messages, tools)).join('');
}

function calls(deltas: ModelDelta[]): { id: string; name: string; json: string; pieces: number }[] {
  return deltas.flatMap((delta) => {
    if (delta.type !== 'tool_call') return [];
    const pieces = deltas.flatMap((other) => (other.type === 'tool_arguments' && other.block === delta.block ? [other.json] : []));
    return [{ id: delta.id, name: delta.name, json: pieces.join(''), pieces: pieces.length }];
  });
}

async function askCalls(text: string): Promise<unknown[]> {
  return calls(await ask(text)).map(({ name, json }) => [name, JSON.parse(json)]);
}

/** A clock that moves only when somebody sleeps, and then by `lateMs` too much. */
function createFakeTime(lateMs = 0) {
  let nowMs = 5_000;
  const sleeps: number[] = [];
  return {
    sleeps,
    now: () => nowMs,
    pass: (ms: number) => (nowMs += ms),
    sleep: async (ms: number) => {
      sleeps.push(ms);
      nowMs += ms + lateMs;
    },
  };
}

function countTimers(): number {
  return process.getActiveResourcesInfo().filter((resource) => resource === 'Timeout').length;
}

/** The test runner has short timers of its own, so this waits a little for them. */
async function untilTimers(count: number): Promise<void> {
  const endMs = performance.now() + 20_000;
  while (countTimers() > count && performance.now() < endMs) await new Promise((resolve) => setImmediate(resolve));
  expect(countTimers()).toBeLessThanOrEqual(count);
}

describe('a reply', () => {
  test('is the same for the same text and history', async () => {
    for (const text of ['hello', 'think about boats', 'call 7 tools', 'ask me', 'call nonsense', 'fail late']) {
      expect(await ask([...answered, user(text)])).toEqual(await ask([...answered, user(text)]));
    }
  });

  test('begins once and ends once', async () => {
    for (const text of ['hello', 'say x', 'stream 3 words', 'think', 'call 2 tools', 'ask me', 'call nonsense']) {
      const types = (await ask(text)).map((delta) => delta.type);
      expect(types[0]).toBe('begin');
      expect(types.at(-1)).toBe('end');
      expect(types.filter((type) => type === 'begin' || type === 'end' || type === 'failure')).toEqual(['begin', 'end']);
    }
  });

  test('counts words as tokens and costs nothing', async () => {
    const deltas = await ask([user('one two'), assistant({ type: 'text', text: ' three\nfour ' }), user('say five six seven')]);
    expect(deltas.at(-1)).toEqual({
      type: 'end',
      stopReason: 'stop',
      usage: { input: 8, output: 3, cache_read: 0, cache_write: 0, cost_usd: 0 },
    });
  });

  test('names its blocks from 0 without a hole', async () => {
    for (const text of ['hello', 'think', 'call 5 tools', 'ask me', 'call nonsense']) {
      const blocks = new Set((await ask(text)).flatMap((delta) => ('block' in delta ? [delta.block] : [])));
      expect([...blocks]).toEqual([...blocks].map((_, index) => index));
    }
  });
});

describe('on first contact', () => {
  test('the guide says that it is not a model, what it knows and how a real one is added', async () => {
    const text = await askText('please refactor my project');
    expect(text).toContain('not a model');
    expect(text).toContain('berth auth set anthropic');
    for (const phrase of [
      'say ',
      'stream 500 words',
      'think',
      'what time is it',
      'echo ',
      'with approval',
      'call 3 tools',
      'ask me',
      'fail',
    ]) {
      expect(text).toContain(phrase);
    }
    expect(text).not.toMatch(/[*_`#]/);
  });

  test('every phrase that it names is one that it knows', async () => {
    const named = (await askText('hello')).split('\n').flatMap((line) => /^ {4}(\S+(?: \S+)*) {2,}/.exec(line)?.[1] ?? []);
    expect(named.length).toBeGreaterThan(5);
    for (const phrase of named) expect(await askText([...answered, user(phrase)])).not.toContain('You said');
  });

  test('a phrase is answered, not the introduction', async () => {
    expect(await askText('say ahoy')).toBe('ahoy');
  });

  test('help brings the introduction back later', async () => {
    expect(await askText([...answered, user('Help!')])).toBe(await askText('hello'));
  });
});

describe('what it does not understand', () => {
  test('is said back, with a hint', async () => {
    const text = await askText([...answered, user('  fix the bug \n')]);
    expect(text).toMatch(/^You said: fix the bug\n.*help/);
  });

  test('is cut when it is long, never within a character', async () => {
    const text = await askText([...answered, user('🙂'.repeat(5_000))]);
    expect(text.length).toBeLessThan(600);
    expect(text.isWellFormed()).toBe(true);
  });

  test('may be no text at all', async () => {
    const image: ModelMessage = { role: 'user', content: [{ type: 'image', data: 'AAAA', mime_type: 'image/png' }] };
    expect(await askText([...answered, image])).toContain('nothing that I can read');
    expect(await askText([])).toContain('not a model');
    expect(await askText(answered)).toBe('Nothing was asked since my last answer.');
  });

  test('costs time in proportion to its length, however odd it is', async () => {
    const startMs = processorMs();
    for (const odd of [' ', '!', 'for 1', ' for ', '\u2028', 'with approval']) {
      const text = odd.repeat(1_000_000 / odd.length);
      for (const start of ['', 'say ', 'echo ', 'think about ', 'stream ', 'call ']) {
        const stop = new AbortController();
        for await (const delta of createOfflineProvider({ wordsPerSecond: 0 }).stream(request(`${start}${text}x`), stop.signal)) {
          if (delta.type === 'text') stop.abort();
        }
      }
    }
    expect(processorMs() - startMs).toBeLessThan(4_000);
  });
});

describe('several messages at once', () => {
  test('are all answered when they are words', async () => {
    expect(await askText([...answered, user('say steered'), user('say twice')])).toBe('steered\ntwice');
    expect(await askText([...answered, user('port'), user('starboard')])).toMatch(/^You said: port\nYou said: starboard\n/);
  });

  test('do not begin a deed again that was left without an answer', async () => {
    for (const left of ['fail', 'fail early', 'stream 5000 words', 'echo x for 60 seconds', 'ask me']) {
      expect(await askText([...answered, user(left), user('say on we go')])).toBe('on we go');
    }
  });

  test('end in the deed that was asked for last', async () => {
    expect(await askText([...answered, user('say hello'), user('stream 2 words')])).toBe('word1 word2');
  });

  test('after tool results are answered instead of them', async () => {
    expect(await askText([user('echo x'), assistant(called('call_1')), result('echo', 'x'), user('say steered')])).toBe('steered');
  });
});

describe('say', () => {
  test('answers exactly the rest, one delta a word', async () => {
    expect(words(await ask('say one two  three\n'))).toEqual(['one', ' two', '  three', '\n']);
    expect(await askText('\n  SAY  Ahoy\r\n\tthere\u2028🙂é\u2028x ')).toBe(' Ahoy\r\n\tthere\u2028🙂é\u2028x ');
  });

  test('with nothing to say is something not understood', async () => {
    for (const text of ['say', 'say ', 'say \n ']) expect(await askText([...answered, user(text)])).toContain('You said: say');
    expect(await askText([...answered, user('saying')])).toContain('You said: saying');
  });

  test('joins the text blocks of a message with nothing', async () => {
    const message: ModelMessage = { role: 'user', content: ['say one', ' t', 'wo'].map((text) => ({ type: 'text', text })) };
    expect(await askText([message])).toBe('one two');
  });

  test('loses no character of any text and cuts none in two', async () => {
    await fc.assert(
      fc.asyncProperty(fc.string({ unit: 'binary', maxLength: 300 }), async (text) => {
        fc.pre(text.trim() !== '');
        const deltas = words(await ask(`say ${text}`));
        expect(deltas.join('')).toBe(text);
        expect(deltas.every((delta) => delta.isWellFormed())).toBe(true);
      }),
    );
  });

  test('a word without an end comes in pieces of bounded size', async () => {
    const text = `${'🙂'.repeat(50_000)}${' '.repeat(50_000)}x`;
    const deltas = words(await ask(`say ${text}`));
    expect(deltas.join('')).toBe(text);
    expect(Math.max(...deltas.map((delta) => delta.length))).toBeLessThanOrEqual(16 * 1024);
    for (const delta of deltas) expect(delta.isWellFormed()).toBe(true);
  });
});

describe('stream', () => {
  test('sends exactly so many words, one delta each', async () => {
    expect(words(await ask('stream 3 words'))).toEqual(['word1', ' word2', ' word3']);
    expect(words(await ask('Stream 1 word.'))).toEqual(['word1']);
    expect(words(await ask('stream 1,000 words'))).toHaveLength(1_000);
  });

  test('makes a million words as they are read', async () => {
    const stream = createOfflineProvider({ wordsPerSecond: 0 }).stream(request('stream 1000000 words'), never);
    const first: ModelDelta[] = [];
    for await (const delta of stream) {
      first.push(delta);
      if (first.length === 3) break;
    }
    expect(words(first)).toEqual(['word1', ' word2']);
  });

  test('refuses a number out of bounds in words', async () => {
    for (const count of ['0', '1000001', '99999999999999999999', ',']) {
      expect(await askText(`stream ${count} words`)).toBe('I stream from 1 to 1,000,000 words.');
    }
  });
});

describe('think', () => {
  test('sends a block of thinking and then a block of text', async () => {
    for (const text of ['think', 'think about boats']) {
      const deltas = (await ask(text)).filter((delta) => 'block' in delta);
      const turn = deltas.findIndex((delta) => delta.type === 'text');
      expect(turn).toBeGreaterThan(0);
      expect(deltas.slice(0, turn).every((delta) => delta.type === 'thinking' && delta.block === 0)).toBe(true);
      expect(deltas.slice(turn).every((delta) => delta.type === 'text' && delta.block === 1)).toBe(true);
    }
    expect(await askText('think about boats')).toContain('boats');
  });
});

describe('fail', () => {
  const failure = {
    type: 'failure',
    message: 'the offline guide was asked to fail',
    cause: 'overloaded (simulated)',
  };

  test('fails as a provider does: before it begins, once it has begun, or in mid-message', async () => {
    expect(await ask('fail early')).toEqual([failure]);
    expect(await ask('fail')).toEqual([{ type: 'begin' }, failure]);
    const late = await ask('fail late');
    expect(words(late)).toHaveLength(10);
    expect(late.map((delta) => delta.type)).toEqual(['begin', ...Array<string>(10).fill('text'), 'failure']);
    expect(late.at(-1)).toEqual(failure);
  });
});

describe('a tool call', () => {
  test('is made for a plain request', async () => {
    expect(await askCalls('What time is it?')).toEqual([['clock', {}]]);
    expect(await askCalls('clock')).toEqual([['clock', {}]]);
    expect(await askCalls('what time is it in Europe/Berlin')).toEqual([['clock', { time_zone: 'Europe/Berlin' }]]);
    expect(await askCalls('echo ahoy there!')).toEqual([['echo', { text: 'ahoy there!' }]]);
    expect(await askCalls('echo ahoy for 5 seconds')).toEqual([['echo', { text: 'ahoy', seconds: 5 }]]);
    expect(await askCalls('echo ahoy for 0.5 seconds')).toEqual([['echo', { text: 'ahoy', seconds: 0.5 }]]);
    expect(await askCalls('echo ahoy with approval')).toEqual([['echo', { text: 'ahoy', confirm: true }]]);
    expect(await askCalls('echo a\nb for 1 second with approval')).toEqual([['echo', { text: 'a\nb', seconds: 1, confirm: true }]]);
  });

  test('ends the response with tool_use', async () => {
    expect((await ask('clock')).at(-1)).toMatchObject({ type: 'end', stopReason: 'tool_use' });
  });

  test('sends its arguments in two or three fragments', async () => {
    for (const text of ['clock', 'echo x', 'ask me', `echo ${'🙂'.repeat(500)}`]) {
      for (const call of calls(await ask(text))) {
        expect(call.pieces).toBeGreaterThanOrEqual(2);
        expect(call.pieces).toBeLessThanOrEqual(3);
        expect(JSON.parse(call.json)).toBeTypeOf('object');
      }
    }
  });

  test('never cuts a character of its arguments in two', async () => {
    for (let length = 1; length < 20; length += 1) {
      for (const delta of await ask(`echo ${'🙂'.repeat(length)}`)) {
        if (delta.type === 'tool_arguments') expect(delta.json.isWellFormed()).toBe(true);
      }
    }
  });

  test('comes as often as asked, clock and echo in turn', async () => {
    expect(calls(await ask('call 3 tools')).map((call) => call.name)).toEqual(['clock', 'echo', 'clock']);
    expect(calls(await ask('call 1 tool'))).toHaveLength(1);
    expect(calls(await ask('call 20 tools'))).toHaveLength(20);
    for (const count of [0, 21]) expect(await askText(`call ${count} tools`)).toBe('I make from 1 to 20 tool calls at once.');
  });

  test('asks the person in all four ways', async () => {
    const asked = calls(await ask('ask me'));
    expect(asked.map((call) => call.name)).toEqual(Array(4).fill('ask_user'));
    expect(asked.map((call) => (JSON.parse(call.json) as { method: string }).method)).toEqual(['select', 'confirm', 'input', 'editor']);
  });

  test('has an id that counts the calls of the history', async () => {
    expect(calls(await ask('call 2 tools')).map((call) => call.id)).toEqual(['call_1', 'call_2']);
    const history = [user('call 2 tools'), assistant(called('call_1'), called('call_2')), result('echo', 'x'), user('call 2 tools')];
    expect(calls(await ask(history)).map((call) => call.id)).toEqual(['call_3', 'call_4']);
  });

  test('never takes an id that the history knows', async () => {
    const history = [user('x'), assistant(called('call_2')), result('echo', 'x'), user('call 3 tools')];
    expect(calls(await ask(history)).map((call) => call.id)).toEqual(['call_3', 'call_4', 'call_5']);
    const holes = [user('x'), assistant(called('call_3'), called('call_5')), result('echo', 'x'), user('call 2 tools')];
    expect(calls(await ask(holes)).map((call) => call.id)).toEqual(['call_4', 'call_6']);
  });

  test('is not made for a tool that is not active', async () => {
    for (const [text, tools, name] of [
      ['clock', ['echo'], 'clock'],
      ['echo x', ['clock'], 'echo'],
      ['ask me', [], 'ask_user'],
      ['call 3 tools', ['clock'], 'echo'],
    ] as const) {
      const deltas = await ask(text, [...tools]);
      expect(calls(deltas)).toEqual([]);
      expect(words(deltas).join('')).toBe(`I called nothing: not active in this session: ${name}.`);
      expect(deltas.at(-1)).toMatchObject({ stopReason: 'stop' });
    }
  });
});

describe('nonsense', () => {
  test('holds unknown tools, broken and wrong arguments, an id used twice and an id with quotes', async () => {
    const made = calls(await ask('call nonsense'));
    expect(made.map((call) => call.name)).toEqual(expect.arrayContaining(['no_such_tool', '__proto__']));
    const broken = made.filter((call) => {
      try {
        JSON.parse(call.json);
        return false;
      } catch (error) {
        return error instanceof SyntaxError;
      }
    });
    expect(broken).toHaveLength(1);
    expect(new Set(made.map((call) => call.id)).size).toBe(made.length - 1);
    expect(made.some((call) => call.id.includes('"'))).toBe(true);
  });

  test('is made whatever tools are active', async () => {
    expect(calls(await ask('call nonsense', []))).toEqual(calls(await ask('call nonsense')));
  });
});

describe('tool results', () => {
  const asking = [user('echo x'), assistant(called('call_1'))];

  test('are summed up in words, and the run ends', async () => {
    const deltas = await ask([...asking, result('echo', 'ahoy')]);
    expect(words(deltas).join('')).toBe('echo said: ahoy');
    expect(deltas.at(-1)).toMatchObject({ type: 'end', stopReason: 'stop' });
  });

  test('tell a failure from a success', async () => {
    expect(await askText([...asking, result('echo', 'stopped', true)])).toBe('echo failed: stopped');
    expect(await askText([...asking, result('echo', '')])).toBe('echo said: (nothing)');
  });

  test('are all named, but only those of the last response', async () => {
    const history = [...asking, result('echo', 'old'), assistant(called('call_2'), called('call_3'))];
    const text = await askText([...history, result('ask_user', 'The person chose: north'), result('ask_user', 'The person said no.')]);
    expect(text).toBe('2 calls are done.\nask_user said: The person chose: north\nask_user said: The person said no.');
  });

  test('are bounded, however long and many', async () => {
    const text = await askText([...asking, ...Array<ModelMessage>(64).fill(result('echo', '🙂'.repeat(10_000)))]);
    expect(text.length).toBeLessThan(6_000);
    expect(text).toMatch(/and 44 more$/);
    expect(text.isWellFormed()).toBe(true);
  });
});

describe('pace', () => {
  async function spokenAt(wordsPerSecond: number, count: number, time: ReturnType<typeof createFakeTime>): Promise<number[]> {
    const startMs = time.now();
    const at: number[] = [];
    for await (const delta of createOfflineProvider({ wordsPerSecond, ...time }).stream(request(`stream ${count} words`), never)) {
      if (delta.type === 'text') at.push(time.now() - startMs);
    }
    return at;
  }

  test('is one word after the other, the first at once', async () => {
    expect(await spokenAt(100, 5, createFakeTime())).toEqual([0, 10, 20, 30, 40]);
  });

  test('holds although timers are late', async () => {
    const at = await spokenAt(300, 3_001, createFakeTime(7));
    expect(at.at(-1)).toBeGreaterThanOrEqual(10_000);
    expect(at.at(-1)).toBeLessThan(10_020);
  });

  test('makes up for at most 50 words after a long pause and then goes on as before', async () => {
    const time = createFakeTime();
    const at: number[] = [];
    for await (const delta of createOfflineProvider({ wordsPerSecond: 100, ...time }).stream(request('stream 200 words'), never)) {
      if (delta.type !== 'text') continue;
      at.push(time.now());
      if (at.length === 10) time.pass(3_600_000);
    }
    const gaps = at.slice(1).map((ms, index) => ms - at[index]!);
    expect(gaps.filter((gap) => gap === 0)).toHaveLength(49);
    expect(gaps.slice(-100).every((gap) => gap === 10)).toBe(true);
  });

  test('goes on with a sleep that does not sleep', async () => {
    const provider = createOfflineProvider({ wordsPerSecond: 1, sleep: async () => {} });
    expect(words(await collect(provider.stream(request('stream 100 words'), never)))).toHaveLength(100);
  });

  test('as fast as possible lets other work go on', async () => {
    let turns = 0;
    let streaming = true;
    const count = () => {
      turns += 1;
      if (streaming) setImmediate(count);
    };
    setImmediate(count);
    await ask('stream 1000 words');
    streaming = false;
    expect(turns).toBeGreaterThanOrEqual(99);
  });

  test('must be a speed', () => {
    for (const wordsPerSecond of [Number('fast'), -1, Infinity])
      expect(() => createOfflineProvider({ wordsPerSecond })).toThrow(RangeError);
  });
});

test('an answer that was cut several times goes on where the last part stopped', async () => {
  const whole = await askText('stream 30 words');
  const parts = [whole.slice(0, 40), whole.slice(40, 75), whole.slice(75, 76)];
  const history = [user('stream 30 words')];
  for (const [at, part] of parts.entries()) {
    history.push(assistant({ type: 'text', text: part }), user('Go on from where you stopped.'));
    expect(await askText(history)).toBe(whole.slice(parts.slice(0, at + 1).join('').length));
  }
});

describe('an abort', () => {
  test('before the start leaves nothing to say', async () => {
    expect(await collect(createOfflineProvider({ wordsPerSecond: 0 }).stream(request('hello'), AbortSignal.abort()))).toEqual([]);
  });

  test('ends a stream at its next group of words when nothing slows it', async () => {
    const stop = new AbortController();
    let groups = 0;
    for await (const _ of offline.createOfflineProvider({ wordsPerSecond: 0 }).stream(request('stream 1000000 words'), stop.signal)) {
      groups += 1;
      if (groups === 4) stop.abort();
    }
    expect(groups).toBe(4);
  });

  test('ends a stream that waits for its next word, and leaves neither timer nor listener', async () => {
    const stop = new AbortController();
    const timers = countTimers();
    const deltas: ModelDelta[] = [];
    let abortedMs = Infinity;
    for await (const delta of createOfflineProvider({ wordsPerSecond: 0.01 }).stream(request('stream 9 words'), stop.signal)) {
      deltas.push(delta);
      if (delta.type !== 'text') continue;
      setImmediate(() => {
        expect(getEventListeners(stop.signal, 'abort')).toHaveLength(1);
        abortedMs = performance.now();
        stop.abort();
      });
    }
    // The next word would come after 100 s.
    expect(performance.now() - abortedMs).toBeLessThan(20_000);
    expect(words(deltas)).toEqual(['word1']);
    expect(getEventListeners(stop.signal, 'abort')).toEqual([]);
    await untilTimers(timers);
  });

  test('that never comes costs no listener either, over many streams on one signal', async () => {
    const stop = new AbortController();
    const provider = createOfflineProvider({ wordsPerSecond: 2_000 });
    for (let n = 0; n < 20; n += 1) await collect(provider.stream(request('stream 3 words'), stop.signal));
    for await (const delta of provider.stream(request('stream 30 words'), stop.signal)) if (delta.type === 'text') break;
    expect(getEventListeners(stop.signal, 'abort')).toEqual([]);
  });
});

describe('deeds in the directory', () => {
  test.each([
    ['run ls', [['bash', { command: 'ls' }]]],
    ['Run sleep 100', [['bash', { command: 'sleep 100' }]]],
    ['run make -j2 && echo done; ls', [['bash', { command: 'make -j2 && echo done; ls' }]]],
    ['run sleep 9 in the background', [['bash', { command: 'sleep 9', background: true }]]],
    ['run curl x.y with the network', [['bash', { command: 'curl x.y', network: true }]]],
    ['read README.md', [['read', { path: 'README.md' }]]],
    ['read "a b.txt"', [['read', { path: 'a b.txt' }]]],
    ['write two words to notes.txt', [['write', { path: 'notes.txt', content: 'two words\n' }]]],
    ['list files', [['ls', {}]]],
    ['search for boats in src', [['grep', { pattern: 'boats', path: 'src', literal: true }]]],
    ['find README.md', [['glob', { pattern: 'README.md' }]]],
    [
      'plan sail, land',
      [
        [
          'todo',
          {
            items: [
              { text: 'sail', state: 'pending' },
              { text: 'land', state: 'pending' },
            ],
          },
        ],
      ],
    ],
    [
      'edit notes.txt: ahoy -> hello',
      [
        ['read', { path: 'notes.txt' }],
        ['edit', { path: 'notes.txt', edits: [{ old_text: 'ahoy', new_text: 'hello' }] }],
      ],
    ],
  ])('%s', (text, wanted) => {
    const tools = ['bash', 'read', 'write', 'edit', 'ls', 'grep', 'glob', 'todo'].map((name) => ({
      name,
      description: '',
      parameters: {},
    }));
    const message: ModelMessage = { role: 'user', content: [{ type: 'text', text }] };
    const deltas = [...scriptReply({ messages: [message], tools })];
    const names = deltas.flatMap((delta) => (delta.type === 'tool_call' ? [[delta.block, delta.name] as const] : []));
    const asked = names.map(([block, name]) => {
      const json = deltas.flatMap((delta) => (delta.type === 'tool_arguments' && delta.block === block ? [delta.json] : [])).join('');
      return [name, JSON.parse(json) as unknown];
    });
    expect(asked).toEqual(wanted);
  });

  test('an edit that does not say what to change is told how to', () => {
    const message: ModelMessage = { role: 'user', content: [{ type: 'text', text: 'edit' }] };
    const text = [...scriptReply({ messages: [message], tools: [] })]
      .flatMap((delta) => (delta.type === 'text' ? [delta.text] : []))
      .join('');
    expect(text).toContain('->');
  });
});

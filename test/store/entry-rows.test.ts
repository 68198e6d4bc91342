import { describe, expect, test } from 'vitest';
import { artifactIdOf } from '../../src/protocol/clip.js';
import { limits } from '../../src/protocol/limits.js';
import { message as messageShape, type ContentBlock, type Message } from '../../src/protocol/messages.js';
import { createTestEngine, type TestEngine } from '../support/engine.js';
import { processorMs } from '../support/processor-time.js';

interface Seed {
  id: string;
  parentId: string | null;
  content?: ContentBlock[];
  role?: Message['role'];
}

function insert(berth: TestEngine, session: string, ...seeds: Seed[]): void {
  berth.write(() => {
    for (const { id, parentId, content, role } of seeds) {
      const blocks = content ?? [{ type: 'text', text: `text of ${id}` }];
      berth.store.write.entries.insert(
        session,
        {
          type: 'message',
          id,
          parent_id: parentId,
          role: role ?? 'user',
          text: blocks.map((block) => (block.type === 'text' ? block.text : '')).join(''),
          content: blocks,
          run_id: 'run_1',
          turn_kind: 'prompt',
          created_at: '',
          usage: null,
          stop_reason: null,
          model: null,
        },
        berth.clock.nowMs,
      );
    }
  });
}

/** A session with a straight path of messages m0, m1, … */
function createPath(berth: TestEngine, count: number): string {
  const session = berth.session();
  insert(
    berth,
    session,
    ...Array.from({ length: count }, (_, i) => ({
      id: `m${i}`,
      parentId: i === 0 ? null : `m${i - 1}`,
      role: i % 2 === 0 ? ('user' as const) : ('assistant' as const),
    })),
  );
  return session;
}

function ids(page: { messages: { id: string }[] }): string[] {
  return page.messages.map(({ id }) => id);
}

describe('a page of messages', () => {
  test('is the newest of the path, oldest first, and says whether there is more', async () => {
    await using berth = createTestEngine();
    createPath(berth, 10);
    const { entries } = berth.store;
    expect(ids(entries.page({ leafId: 'm9', limit: 3 }))).toEqual(['m7', 'm8', 'm9']);
    expect(entries.page({ leafId: 'm9', limit: 3 }).hasMore).toBe(true);
    expect(entries.page({ leafId: 'm9', limit: 10 }).hasMore).toBe(false);
    expect(entries.page({ leafId: null, limit: 10 })).toEqual({ messages: [], hasMore: false });
  });

  test('before a message ends with the one before it; pages meet without gap or overlap', async () => {
    await using berth = createTestEngine();
    createPath(berth, 25);
    const { entries } = berth.store;
    const seen: string[] = [];
    let page = entries.page({ leafId: 'm24', limit: 7 });
    for (;;) {
      seen.unshift(...ids(page));
      if (!page.hasMore) break;
      page = entries.page({ leafId: 'm24', limit: 7, before: seen[0]! });
    }
    expect(seen).toEqual(Array.from({ length: 25 }, (_, i) => `m${i}`));
    expect(entries.page({ leafId: 'm24', limit: 7, before: 'm0' })).toEqual({ messages: [], hasMore: false });
  });

  test('after a message begins with the next one on the path to the leaf', async () => {
    await using berth = createTestEngine();
    createPath(berth, 10);
    const { entries } = berth.store;
    expect(entries.page({ leafId: 'm9', limit: 3, after: 'm2' })).toMatchObject({ hasMore: true });
    expect(ids(entries.page({ leafId: 'm9', limit: 3, after: 'm2' }))).toEqual(['m3', 'm4', 'm5']);
    expect(ids(entries.page({ leafId: 'm9', limit: 99, after: 'm7' }))).toEqual(['m8', 'm9']);
    expect(entries.page({ leafId: 'm9', limit: 99, after: 'm9' })).toEqual({ messages: [], hasMore: false });
  });

  test('stops before a line would be too long, and has at least one message', async () => {
    await using berth = createTestEngine();
    const session = berth.session();
    const big: ContentBlock[] = [{ type: 'text', text: 'x'.repeat(500_000) }];
    insert(berth, session, ...Array.from({ length: 8 }, (_, i) => ({ id: `b${i}`, parentId: i === 0 ? null : `b${i - 1}`, content: big })));
    for (const request of [
      { leafId: 'b7', limit: 500 },
      { leafId: 'b7', limit: 500, after: 'b0' },
    ]) {
      const page = berth.store.entries.page(request);
      expect(page.hasMore).toBe(true);
      expect(page.messages.length).toBeGreaterThan(0);
      expect(Buffer.byteLength(page.messages.map(({ json }) => json).join())).toBeLessThan(limits.lineBytesMax - 64 * 1024);
    }
  });

  test('has every message as it is shown elsewhere, whatever it holds', async () => {
    await using berth = createTestEngine();
    const session = berth.session();
    const { entries } = berth.store;
    const plain = { type: 'message', role: 'user', run_id: 'run_1', turn_kind: 'prompt', created_at: '' } as const;
    const nothing = { usage: null, stop_reason: null, model: null };
    const texts = ['', '"quoted" \\ \n \t \u0000 \u001f \u007f \u2028 é 🙂 \ud800', 'x'.repeat(limits.messageInlineBytesMax)];
    const messages: Omit<Message, 'id' | 'parent_id'>[] = [
      ...texts.map((text) => ({ ...plain, ...nothing, text, content: [{ type: 'text' as const, text }] })),
      {
        ...plain,
        role: 'assistant',
        usage: { input: 1, output: 2, cache_read: 3, cache_write: 4, cost_usd: 0.1 },
        stop_reason: 'tool_use',
        model: 'a/"b"',
        text: 'é',
        content: [
          { type: 'thinking', thinking: '\u0000', thinking_signature: 's' },
          { type: 'text', text: 'é', phase: 'final' },
          { type: 'tool_call', id: '"\n', name: '__proto__', arguments: { 'a"': ['\u2028', 1e21, null] } },
        ],
      },
      ...[true, false].map((is_error) => ({
        ...plain,
        ...nothing,
        role: 'tool_result' as const,
        text: '1',
        content: [{ type: 'text' as const, text: '1' }],
        tool_call_id: '"\n',
        tool_name: 'é',
        is_error,
        ...(is_error
          ? { skipped: true as const }
          : { details: { diff: '-\u0000"é\u2028\n+\ud800', counts: { '__"': 1e21 }, exit_code: -1, duration_ms: 0.5 } }),
      })),
      {
        ...plain,
        ...nothing,
        role: 'compaction',
        text: 'sum',
        content: [{ type: 'text', text: 'sum' }],
        compaction: { trigger: 'manual', first_kept_entry_id: 'n0', tokens_before: 5, tokens_after: 1 },
      },
    ];
    berth.write(() => {
      messages.forEach((message, i) => {
        berth.store.write.entries.insert(
          session,
          { ...message, id: `n${i}`, parent_id: i === 0 ? null : `n${i - 1}` },
          1_700_000_000_000 + i * 333,
        );
      });
    });
    const leafId = `n${messages.length - 1}`;
    const shown = messages.map((_, i) => entries.find(`n${i}`));
    expect(new Set(shown.flatMap((message) => Object.keys(message ?? {})))).toEqual(new Set(Object.keys(messageShape.shape)));
    const down = entries.page({ leafId, limit: 99, after: 'n0' }).messages.map(({ json }): unknown => JSON.parse(json));
    expect(entries.page({ leafId, limit: 99 }).messages.map(({ json }): unknown => JSON.parse(json))).toEqual(shown);
    expect(down).toEqual(shown.slice(1));
  });

  test('ends early where the details of calls are long, so that it fits a line', async () => {
    await using berth = createTestEngine();
    const session = createPath(berth, 1);
    const diff = '\u0001'.repeat(limits.diffBytesMax);
    berth.write(({ entries }) => {
      for (let i = 1; i <= 40; i++) {
        const text = { type: 'text' as const, text: 'ok' };
        const facts = { run_id: 'run_1', turn_kind: 'prompt' as const, created_at: '', usage: null, stop_reason: null, model: null };
        const links = { id: `m${i}`, parent_id: `m${i - 1}` };
        entries.insert(
          session,
          { type: 'message', role: 'tool_result', text: 'ok', content: [text], ...facts, ...links, details: { diff } },
          0,
        );
      }
    });
    const page = berth.store.entries.page({ leafId: 'm40', limit: limits.pageRowsMax });
    const bytes = page.messages.reduce((sum, { json }) => sum + Buffer.byteLength(json), 0);
    expect(page.hasMore).toBe(true);
    expect(bytes).toBeLessThan(limits.pageBytesMax);
    expect(bytes).toBeGreaterThan(limits.pageBytesMax / 2);
  });

  test('leads through sessions that were branched off, and past what others said in between', async () => {
    await using berth = createTestEngine();
    const session = createPath(berth, 4);
    const branch = berth.session();
    insert(berth, branch, { id: 'b0', parentId: 'm2' });
    insert(berth, session, { id: 'x1', parentId: 'm0' });
    insert(berth, branch, { id: 'b1', parentId: 'b0' });
    insert(berth, session, { id: 'x2', parentId: 'x1' }, { id: 'm4', parentId: 'm3' });
    const { entries } = berth.store;
    expect(ids(entries.page({ leafId: 'b1', limit: 9 }))).toEqual(['m0', 'm1', 'm2', 'b0', 'b1']);
    expect(ids(entries.page({ leafId: 'm4', limit: 9 }))).toEqual(['m0', 'm1', 'm2', 'm3', 'm4']);
    expect(ids(entries.page({ leafId: 'x2', limit: 9 }))).toEqual(['m0', 'x1', 'x2']);
  });

  test('follows its own branch of the tree', async () => {
    await using berth = createTestEngine();
    const session = createPath(berth, 4);
    insert(berth, session, { id: 'x2', parentId: 'm1' }, { id: 'x3', parentId: 'x2' });
    const { entries } = berth.store;
    expect(ids(entries.page({ leafId: 'x3', limit: 9 }))).toEqual(['m0', 'm1', 'x2', 'x3']);
    expect([entries.isOnPath('x3', 'm1'), entries.isOnPath('x3', 'm2'), entries.isOnPath(null, 'm1')]).toEqual([true, false, false]);
    expect(entries.pathLength('x3')).toBe(4);
    expect(entries.retryPoint('m3')).toBe('m2');
    expect(berth.store.tree.nodes(session, null).nodes.map(({ id, parent_id }) => `${parent_id}>${id}`)).toEqual([
      'null>m0',
      'm0>m1',
      'm1>m2',
      'm2>m3',
      'm1>x2',
      'x2>x3',
    ]);
  });

  test('of a very long session costs what is shown, not what there is', async () => {
    await using berth = createTestEngine();
    const session = berth.session();
    const text = 'a line of some length, as people write them, '.repeat(10);
    insert(
      berth,
      session,
      ...Array.from({ length: 20_000 }, (_, i) => ({
        id: `m${i}`,
        parentId: i === 0 ? null : `m${i - 1}`,
        content: [{ type: 'text' as const, text: `${i} ${text}` }],
      })),
    );
    const { entries } = berth.store;
    const from = processorMs();
    for (let i = 0; i < 10; i++) expect(entries.page({ leafId: 'm19999', limit: 100 }).messages).toHaveLength(100);
    const newestMs = (processorMs() - from) / 10;
    for (let i = 0; i < 10; i++) expect(entries.page({ leafId: 'm19999', limit: 100, before: 'm10000' }).messages).toHaveLength(100);
    const middleMs = (processorMs() - from) / 10 - newestMs;
    expect(newestMs).toBeLessThan(50);
    expect(middleMs).toBeLessThan(50);
  });
});

describe('a message that is too long for a line', () => {
  test('is shown cut, with an artifact from which the whole can be read', async () => {
    await using berth = createTestEngine();
    const session = berth.session();
    const text = 'é🙂"\n'.repeat(300_000);
    insert(berth, session, { id: 'msg_long', parentId: null, content: [{ type: 'text', text }] });
    const shown = berth.store.entries.find('msg_long');
    expect(shown).toMatchObject({ truncated: true, artifact_id: artifactIdOf('msg_long') });
    expect(text.startsWith(shown?.text ?? '?')).toBe(true);
    expect(shown?.text.isWellFormed()).toBe(true);
    expect(Buffer.byteLength(JSON.stringify(shown))).toBeLessThan(limits.lineBytesMax);
    const total = Buffer.byteLength(text);
    const pieces: Buffer[] = [];
    for (let offset = 0; offset < total; offset += 500_000) {
      const piece = berth.engine.artifacts.read(artifactIdOf('msg_long'), offset, 500_000);
      expect(piece).toMatchObject({ totalBytes: total, mimeType: 'text/plain' });
      pieces.push(piece!.data);
    }
    expect(Buffer.concat(pieces).toString()).toBe(text);
    expect(berth.store.entries.contentOf('msg_long')).toEqual([{ type: 'text', text }]);
    expect(berth.engine.artifacts.read('art_none', 0, 10)).toBeUndefined();
  });

  test('keeps a block for each of its blocks, whatever they are', async () => {
    await using berth = createTestEngine();
    const session = berth.session();
    const content: ContentBlock[] = [
      { type: 'thinking', thinking: 't'.repeat(2_000_000), thinking_signature: 's' },
      { type: 'image', data: 'A'.repeat(400_000), mime_type: 'image/png' },
      { type: 'text', text: 'words' },
      { type: 'tool_call', id: 'c1', name: 'echo', arguments: { text: 'x'.repeat(400_000) } },
    ];
    insert(berth, session, { id: 'msg_mixed', parentId: null, content, role: 'assistant' });
    const shown = berth.store.entries.find('msg_mixed');
    expect(shown?.content.map(({ type }) => type)).toEqual(content.map(({ type }) => type));
    expect(Buffer.byteLength(JSON.stringify(shown))).toBeLessThan(limits.lineBytesMax);
    expect(berth.store.entries.contentOf('msg_mixed')).toEqual(content);
  });

  test('begins where the bound ends', async () => {
    await using berth = createTestEngine();
    const session = berth.session();
    const fits = 'x'.repeat(limits.messageInlineBytesMax - 2);
    insert(
      berth,
      session,
      { id: 'msg_fits', parentId: null, content: [{ type: 'text', text: fits }] },
      { id: 'msg_over', parentId: 'msg_fits', content: [{ type: 'text', text: `${fits}x` }] },
    );
    expect(berth.store.entries.find('msg_fits')).toMatchObject({ text: fits });
    expect(berth.store.entries.find('msg_fits')).not.toHaveProperty('truncated');
    expect(berth.store.entries.find('msg_over')).toMatchObject({ truncated: true });
  });
});

describe('content', () => {
  test('comes back as it was put in', async () => {
    await using berth = createTestEngine();
    const session = berth.session();
    const contents: ContentBlock[][] = [
      [{ type: 'text', text: 'plain' }],
      [{ type: 'text', text: '' }],
      [{ type: 'text', text: '\u0000 \u2028 🙂 "quoted" \\' }],
      [{ type: 'text', text: 'more', cache: true }],
      [
        { type: 'text', text: 'a' },
        { type: 'text', text: 'b' },
      ],
      [{ type: 'image', data: 'AA==', mime_type: 'image/png' }],
      [{ type: 'tool_call', id: '"\n', name: '__proto__', arguments: JSON.parse('{"__proto__":{"x":1}}') as Record<string, unknown> }],
    ];
    contents.forEach((content, i) => insert(berth, session, { id: `c${i}`, parentId: null, content }));
    contents.forEach((content, i) => {
      expect(JSON.stringify(berth.store.entries.contentOf(`c${i}`))).toBe(JSON.stringify(content));
    });
  });
});

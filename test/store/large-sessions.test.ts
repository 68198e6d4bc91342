import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Message } from '../../src/protocol/messages.js';
import { createTestEngine, type TestEngine } from '../support/engine.js';

const messages = 50_000;
const longBytes = 1024 * 1024;
let berth: TestEngine;

function entry(id: string, parentId: string | null, role: Message['role'], text: string): Message {
  const content: Message['content'] = [{ type: 'text', text }];
  const rest = { run_id: 'run_1', turn_kind: 'prompt', created_at: '', usage: null, stop_reason: null, model: null } as const;
  return { type: 'message', id, parent_id: parentId, role, text, content, ...rest };
}

/** A straight path of entries; the id of the n-th is `prefix` and n. */
function addPath(session: string, prefix: string, count: number, text: (i: number) => string): void {
  berth.write(() => {
    for (let i = 0; i < count; i++) {
      const parentId = i === 0 ? null : `${prefix}${i - 1}`;
      berth.store.write.entries.insert(session, entry(`${prefix}${i}`, parentId, i % 2 === 0 ? 'user' : 'assistant', text(i)), 0);
    }
  });
}

beforeAll(() => {
  berth = createTestEngine();
  const session = berth.session();
  addPath(session, 'm', messages, (i) => `message ${i}`);
  const longText = 'x'.repeat(longBytes - 100);
  addPath(session, 'long', 64, () => longText);
});
afterAll(() => berth[Symbol.asyncDispose]());

/** The least of some rounds: what it takes when nothing is in its way. */
function cpuMs(work: () => unknown): number {
  const rounds = Array.from({ length: 5 }, () => {
    const before = process.cpuUsage();
    work();
    const { user, system } = process.cpuUsage(before);
    return (user + system) / 1000;
  });
  return Math.max(0.1, Math.min(...rounds));
}

test('a page of long messages costs what is on it, not what else is on the path', () => {
  const page = (leafId: string, limit: number): unknown => berth.store.entries.page({ leafId, limit });
  const floor = cpuMs(() => page('long2', 3));
  expect(cpuMs(() => page('long63', 500))).toBeLessThan(8 * floor);
});

test('a page at either end of a very long session costs about the same', () => {
  const leafId = `m${messages - 1}`;
  const newest = cpuMs(() => berth.store.entries.page({ leafId, limit: 500 }));
  expect(cpuMs(() => berth.store.entries.page({ leafId, limit: 500, after: 'm0' }))).toBeLessThan(5 * newest);
  const { messages: oldest, hasMore } = berth.store.entries.page({ leafId, limit: 3, after: 'm0' });
  expect([oldest.map(({ id }) => id), hasMore]).toEqual([['m1', 'm2', 'm3'], true]);
});

test('where a retry begins is found without reading the whole path', () => {
  const leafId = `m${messages - 1}`;
  const floor = cpuMs(() => berth.store.entries.page({ leafId, limit: 100 }));
  expect(berth.store.entries.retryPoint(leafId)).toBe(`m${messages - 2}`);
  expect(cpuMs(() => berth.store.entries.retryPoint(leafId))).toBeLessThan(2 * floor);
});

test('where the path forks, a page goes the way of its leaf', () => {
  const session = berth.session();
  addPath(session, 'fork', 10, (i) => `fork ${i}`);
  berth.write(() => {
    for (let i = 5; i < 8; i++) {
      berth.store.write.entries.insert(session, entry(`other${i}`, i === 5 ? 'fork4' : `other${i - 1}`, 'user', 'another way'), 0);
    }
  });
  const idsAfter = (leafId: string, after: string): string[] =>
    berth.store.entries.page({ leafId, limit: 500, after }).messages.map(({ id }) => id);
  expect(idsAfter('other7', 'fork2')).toEqual(['fork3', 'fork4', 'other5', 'other6', 'other7']);
  expect(idsAfter('fork9', 'fork2')).toEqual(['fork3', 'fork4', 'fork5', 'fork6', 'fork7', 'fork8', 'fork9']);
  // The leaf was moved back: what comes after it is not on the path.
  expect(idsAfter('fork4', 'fork2')).toEqual(['fork3', 'fork4']);
  expect(berth.store.entries.isOnPath('other7', 'fork2')).toBe(true);
  expect(berth.store.entries.isOnPath('other7', 'fork5')).toBe(false);
  expect(berth.store.entries.isOnPath('fork4', 'fork5')).toBe(false);
});

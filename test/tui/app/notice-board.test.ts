import { afterEach, expect, test, vi } from 'vitest';
import { createNoticeBoard } from '../../../src/tui/app/notice-board.js';
import { outlivedBy, topicOf } from '../../../src/tui/pane/notice-topics.js';
import type { WireEvent } from '../../../src/protocol/events.js';

afterEach(() => void vi.useRealTimers());

function textsOf(board: ReturnType<typeof createNoticeBoard>): string[] {
  return board.notices().map(({ text }) => text);
}

const event = (type: WireEvent['type']): WireEvent => ({ type, payload: {} }) as unknown as WireEvent;

test('what is true for two seconds is not said for longer', () => {
  vi.useFakeTimers();
  let changes = 0;
  const board = createNoticeBoard(
    () => changes++,
    () => 0,
  );
  board.say('other');
  board.say('Esc again within 2 s', 'info', { topic: 'stop', forMs: 2_000 });
  vi.advanceTimersByTime(1_500);
  board.say('Esc again within 2 s, once more', 'info', { topic: 'stop', forMs: 2_000 });
  vi.advanceTimersByTime(1_500);
  expect(textsOf(board)).toEqual(['other', 'Esc again within 2 s, once more']);
  vi.advanceTimersByTime(600);
  expect(textsOf(board)).toEqual(['other']);
  expect(changes).toBe(5);
  expect(vi.getTimerCount()).toBe(0);
});

test('a newer notice takes the place of one about the same, and what is withdrawn twice changes nothing', () => {
  let changes = 0;
  const board = createNoticeBoard(
    () => changes++,
    () => 0,
  );
  board.say('no daemon runs', 'alarm', { topic: 'connection' });
  board.say('the daemon is back', 'info', { topic: 'connection' });
  expect(textsOf(board)).toEqual(['the daemon is back']);
  board.withdraw('connection');
  const before = changes;
  board.withdraw('connection');
  expect([textsOf(board), changes]).toEqual([[], before]);
});

test('a countdown to an attempt ends with the attempt, or with the run', () => {
  expect(topicOf(event('error'))).toBe('attempt');
  for (const type of ['message_start', 'turn_start', 'agent_end'] as const) expect(outlivedBy(event(type))).toContain('attempt');
  expect(outlivedBy(event('queue_update'))).toEqual([]);
});

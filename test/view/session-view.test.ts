import { expect, test } from 'vitest';
import type { EventPayload, EventType, WireEvent } from '../../src/protocol/events.js';
import { applyEvent, emptyView, type SessionView } from '../../src/view/session-view.js';
import { message } from './messages.js';

const inTurn = { session_id: 's', run_id: 'r', turn_id: 't' };

function durable<T extends EventType>(seq: number, type: T, payload: EventPayload<T>): WireEvent {
  return { v: '1', id: '', ts: '', type, payload, seq } as unknown as WireEvent;
}

function live<T extends EventType>(type: T, payload: EventPayload<T>): WireEvent {
  return { v: '1', id: '', ts: '', type, payload } as unknown as WireEvent;
}

function fold(events: WireEvent[], from: SessionView = emptyView('s')): SessionView {
  return events.reduce(applyEvent, from);
}

const speaking = fold([
  durable(1, 'agent_start', { session_id: 's', run_id: 'r' }),
  durable(2, 'turn_start', { ...inTurn, kind: 'prompt', input_ids: [] }),
  durable(3, 'message_start', { ...inTurn, message_id: 'm', role: 'assistant' }),
]);

function says(block: number, offset: number, delta: string): WireEvent {
  return live('message_update', { ...inTurn, message_id: 'm', block, offset, delta });
}

test('a message grows by its deltas, and one that comes twice changes nothing', () => {
  const view = fold([says(0, 0, 'hello '), says(0, 6, 'world'), says(0, 6, 'world')], speaking);
  expect(view.open).toEqual([{ id: 'm', role: 'assistant', blocks: [{ kind: 'text', text: 'hello world', toolName: undefined }] }]);
});

test('blocks have no holes, whichever is heard of first', () => {
  const [open] = fold([says(2, 0, 'third')], speaking).open;
  expect(open?.blocks.map(({ text }) => text)).toEqual(['', '', 'third']);
});

test('an ended message takes the place of what was streamed', () => {
  const ended = durable(4, 'message_end', { ...inTurn, message_id: 'm', role: 'assistant', message: message({ id: 'm', text: 'whole' }) });
  const view = fold([says(0, 0, 'who'), ended], speaking);
  expect([view.open, view.messages.map(({ text }) => text), view.seq]).toEqual([[], ['whole'], 4]);
});

test('a durable event that is folded in already changes nothing', () => {
  expect(applyEvent(speaking, durable(3, 'message_start', { ...inTurn, message_id: 'm', role: 'assistant' }))).toBe(speaking);
});

test('output of a tool that does not follow what there is replaces it, with its place', () => {
  const started = durable(4, 'tool_execution_start', { ...inTurn, tool_call_id: 'c', tool_name: 'bash', args: {}, title: 'bash' });
  const prints = (offset: number, delta: string): WireEvent =>
    live('tool_execution_update', { ...inTurn, tool_call_id: 'c', tool_name: 'bash', offset, delta });
  const view = fold([started, prints(0, 'one'), prints(3, 'two')], speaking);
  expect(view.tools).toEqual([{ id: 'c', name: 'bash', title: 'bash', output: 'onetwo', offset: 0 }]);
  expect(applyEvent(view, prints(1_000, 'far')).tools).toMatchObject([{ output: 'far', offset: 1_000 }]);
});

test('a status and a widget stand until they are emptied', () => {
  const status = (text: string): WireEvent => live('ui_status', { session_id: 's', params: { key: 'k', text } });
  const widget = (lines: string[]): WireEvent => live('ui_widget', { session_id: 's', params: { key: 'k', lines } });
  const view = fold([status('busy'), widget(['a'])]);
  expect([view.status, view.widgets]).toEqual([{ k: 'busy' }, { k: ['a'] }]);
  const empty = fold([status(''), widget([])], view);
  expect([empty.status, empty.widgets]).toEqual([{}, {}]);
});

test('a session that goes on from an earlier message shows the path up to it, or says that it must be read again', () => {
  const view = { ...emptyView('s'), messages: [message({ id: 'a' }), message({ id: 'b', parent_id: 'a' })] };
  const moved = applyEvent(view, durable(1, 'session_update', { session_id: 's', leaf_id: 'a' }));
  expect([moved.messages.map(({ id }) => id), moved.stale]).toEqual([['a'], false]);
  expect(applyEvent(view, durable(1, 'session_update', { session_id: 's', leaf_id: 'elsewhere' })).stale).toBe(true);
});

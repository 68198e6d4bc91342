import { expect, test } from 'vitest';
import { toModelMessages } from '../../src/engine/run/history.js';
import type { ContentBlock, Message, Role } from '../../src/protocol/messages.js';

interface Entry {
  role: Role;
  content: ContentBlock[];
  callId?: string;
}

function say(role: 'user' | 'assistant', text: string, ...calls: string[]): Entry {
  return {
    role,
    content: [{ type: 'text', text }, ...calls.map((id) => ({ type: 'tool_call' as const, id, name: 'echo', arguments: {} }))],
  };
}

function result(callId: string): Entry {
  return { role: 'tool_result', content: [{ type: 'text', text: `result of ${callId}` }], callId };
}

function seen(...entries: Entry[]): string[] {
  const history = entries.map(({ role, content, callId }, index) => ({
    message: {
      type: 'message',
      id: `msg_${index}`,
      role,
      ...(callId === undefined ? {} : { tool_call_id: callId, tool_name: 'echo', is_error: false }),
    } as Message,
    content,
    isBeforeSummary: false,
  }));
  return toModelMessages(history).map(({ role, toolCallId, isError }) =>
    role === 'tool_result' ? `${toolCallId}${isError ? ' not run' : ''}` : role,
  );
}

test('a whole history is given as it is', () => {
  expect(
    seen(say('user', 'a'), say('assistant', 'b', 'c1', 'c2'), result('c1'), result('c2'), say('assistant', 'd'), say('user', 'e')),
  ).toEqual(['user', 'assistant', 'c1', 'c2', 'assistant', 'user']);
});

test('a path that was cut inside tool calls is filled with results that say so', () => {
  expect(seen(say('user', 'a'), say('assistant', 'b', 'c1', 'c2', 'c3'), result('c2'), say('user', 'e'))).toEqual([
    'user',
    'assistant',
    'c2',
    'c1 not run',
    'c3 not run',
    'user',
  ]);
  expect(seen(say('user', 'a'), say('assistant', 'b', 'c1'))).toEqual(['user', 'assistant', 'c1 not run']);
});

test('a result is given once, and only behind its call', () => {
  expect(
    seen(result('c0'), say('user', 'a'), say('assistant', 'b', 'c1'), result('c1'), result('c1'), say('user', 'c'), result('c1')),
  ).toEqual(['user', 'assistant', 'c1', 'user']);
});

test('the last word is not the model’s own', () => {
  expect(seen(say('user', 'a'), say('assistant', 'b'))).toEqual(['user', 'assistant', 'user']);
  expect(seen()).toEqual([]);
});

test('the same call id may come again in a later message', () => {
  expect(seen(say('user', 'a'), say('assistant', 'b', 'c1'), result('c1'), say('assistant', 'c', 'c1'), result('c1'))).toEqual([
    'user',
    'assistant',
    'c1',
    'assistant',
    'c1',
  ]);
});

test('a history that was cut at its beginning, because it is too long, starts with a person’s words', () => {
  expect(seen(result('c0'), say('assistant', 'b', 'c1'), result('c1'), say('user', 'c'), say('assistant', 'd'), say('user', 'e'))).toEqual([
    'user',
    'assistant',
    'user',
  ]);
});

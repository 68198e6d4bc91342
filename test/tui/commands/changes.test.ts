import { describe, expect, test } from 'vitest';
import type { Message } from '../../../src/protocol/messages.js';
import { changesIn } from '../../../src/tui/commands/changes.js';
import { readShellCommand } from '../../../src/tui/commands/shell-command.js';

function message(fields: Partial<Message>): Message {
  return {
    type: 'message',
    id: 'msg_1',
    parent_id: null,
    role: 'assistant',
    text: '',
    content: [],
    run_id: 'run_1',
    turn_kind: 'prompt',
    created_at: '',
    usage: null,
    stop_reason: null,
    model: null,
    ...fields,
  };
}

const call = message({ content: [{ type: 'tool_call', id: 'c1', name: 'edit', arguments: { path: 'src/a.ts' } }] });
const result = message({
  role: 'tool_result',
  tool_call_id: 'c1',
  tool_name: 'edit',
  text: 'Edited.',
  content: [{ type: 'text', text: 'Edited.' }],
  details: { diff: '@@ -1 +1 @@\n-a\n+b\n' },
});

describe('what a session changed', () => {
  test('comes from the diffs of its file tools, with the path of the call', () => {
    expect(changesIn([call, result])).toEqual([{ path: 'src/a.ts', diff: '@@ -1 +1 @@\n-a\n+b\n' }]);
  });
});

describe('a command of a person', () => {
  test.each([
    ['!ls -la', { command: 'ls -la', isShared: true }],
    ['!!ls', { command: 'ls', isShared: false }],
    ['!', undefined],
    ['!!!wow', undefined],
    ['ls', undefined],
  ])('%j', (typed, read) => {
    expect(readShellCommand(typed)).toEqual(read);
  });
});

import { expect, test } from 'vitest';
import type { UiRequest } from '../../../src/protocol/requests/requests.js';
import { openCalls } from '../../../src/view/tools/open-calls.js';
import { emptyView, type SessionView } from '../../../src/view/session-view.js';

test('all open calls are listed: what runs with its output, what asks with its request, and what waits', () => {
  const empty = emptyView('s');
  const call = { started: false, title: null, problem: null };
  const view: SessionView = {
    ...empty,
    state: {
      ...empty.state,
      requests: [{ request_id: 'req_1', tool_call_id: 'b' } as UiRequest],
      run: {
        ...{ id: 'r', aborting: false, abortReason: null, turns: 1, turn: null, message: null, usageBefore: null },
        calls: [
          { ...call, id: 'c', place: 2, name: 'read', args: { path: 'x\u202e' } },
          { ...call, id: 'b', place: 1, name: 'write', args: { path: 'y' } },
          { ...call, id: 'a', place: 0, name: 'bash', args: { command: 'make' }, started: true, title: 'make' },
        ],
      },
    },
    tools: [{ id: 'a', name: 'bash', title: 'make', output: 'built', offset: 7 }],
  };
  expect(openCalls(view)).toEqual([
    { id: 'a', name: 'bash', headline: '$ make', state: 'running', requestId: null, output: 'built', outputOffset: 7 },
    { id: 'b', name: 'write', headline: 'write y', state: 'asking', requestId: 'req_1', output: '', outputOffset: 0 },
    { id: 'c', name: 'read', headline: 'read x<U+202E>', state: 'waiting', requestId: null, output: '', outputOffset: 0 },
  ]);
  expect(openCalls(empty)).toEqual([]);
});

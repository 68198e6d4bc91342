import { expect, test } from 'vitest';
import { createLineView } from '../../src/cli/attach/line-view.js';
import { createLineWriter } from '../../src/cli/terminal/line-writer.js';
import { createStyle } from '../../src/cli/terminal/style.js';
import { applyEvent, emptyView } from '../../src/view/session-view.js';
import type { EventPayload, EventType, WireEvent } from '../../src/protocol/events.js';
import { questionParams } from '../support/requests.js';

const inTurn = { session_id: 's', run_id: 'r', turn_id: 't' };

function watch() {
  let text = '';
  let view = emptyView('s');
  let seq = 0;
  const lines = createLineView(
    createLineWriter((piece) => (text += piece)),
    createStyle(false),
    (by) => by === 'me',
  );
  return {
    hear<T extends EventType>(type: T, payload: EventPayload<T>, live = false): void {
      const event = { v: '1', id: '', ts: '', type, payload, ...(live ? {} : { seq: ++seq }) } as unknown as WireEvent;
      view = applyEvent(view, event);
      lines.hear({ kind: 'event', event }, view);
    },
    /** What somebody is shown who attaches now. */
    opened(): string {
      let seen = '';
      createLineView(
        createLineWriter((piece) => (seen += piece)),
        createStyle(false),
        () => false,
      ).open(view, true);
      return seen;
    },
    /** What was printed since the last time. */
    printed(): string {
      const seen = text;
      text = '';
      return seen;
    },
  };
}

function question(id: string, title: string): EventPayload<'ui_request'> {
  return {
    ...inTurn,
    request_id: id,
    tool_call_id: id,
    ask_key: 'k',
    method: 'confirm',
    params: questionParams('confirm', { title }),
    expires_at: null,
  };
}

test('of several questions the one that a typed line answers is put, and the next when it is answered', () => {
  const { hear, printed } = watch();
  hear('agent_start', { session_id: 's', run_id: 'r' });
  hear('ui_request', question('req_1', 'First?'));
  hear('ui_request', question('req_2', 'Second?'));
  expect(printed()).toBe('[question] First?\n  type y or n; /skip gives no answer\n[question] waits for its turn: Second?\n');
  hear('ui_resolved', { session_id: 's', run_id: 'r', request_id: 'req_1', by: 'another', outcome: 'answered', result: true });
  expect(printed()).toBe('[question] answered: yes by another\n[question] Second?\n  type y or n; /skip gives no answer\n');
  hear('ui_resolved', { session_id: 's', run_id: 'r', request_id: 'req_2', by: 'me', outcome: 'answered', result: false });
  expect(printed()).toBe('[question] answered: no\n');
});

test('a call that never began is told by what it was to do', () => {
  const { hear, printed } = watch();
  const call = { ...inTurn, tool_call_id: 'c', tool_name: 'bash' };
  hear('agent_start', { session_id: 's', run_id: 'r' });
  hear('turn_start', { ...inTurn, kind: 'prompt', input_ids: [] });
  hear('tool_execution_start', { ...call, args: { command: 'touch x\u001b[2J' }, title: 'bash' });
  const result = { result: 'Denied by the person.', is_error: true, skipped: true, duration_ms: null };
  hear('tool_execution_end', { ...call, ...result, message_id: 'm' });
  expect(printed()).toBe('[tool] $ touch x␛[2J\n[tool] bash was skipped: Denied by the person.\n');
  hear('tool_execution_start', { ...call, tool_call_id: 'd', tool_name: 'clock', args: {}, title: 'clock' });
  expect(printed()).toBe('[tool] clock\n');
});

test('whoever attaches while calls run sees each of them once, with what it printed', () => {
  const { hear, opened } = watch();
  hear('agent_start', { session_id: 's', run_id: 'r' });
  hear('turn_start', { ...inTurn, kind: 'prompt', input_ids: [] });
  hear('message_start', { ...inTurn, message_id: 'm', role: 'assistant' });
  const content = [
    { type: 'tool_call' as const, id: 'c', name: 'bash', arguments: { command: 'make' } },
    { type: 'tool_call' as const, id: 'd', name: 'echo', arguments: { text: 'later' } },
  ];
  const message = {
    ...{
      type: 'message' as const,
      id: 'm',
      parent_id: null,
      role: 'assistant' as const,
      run_id: 'r',
      turn_kind: 'prompt' as const,
      created_at: '',
      usage: null,
    },
    ...{ stop_reason: 'tool_use' as const, model: null, text: '', content },
  };
  hear('message_end', { ...inTurn, message_id: 'm', role: 'assistant', message });
  hear('tool_execution_start', { ...inTurn, tool_call_id: 'c', tool_name: 'bash', args: { command: 'make' }, title: 'make' });
  hear('tool_execution_update', { ...inTurn, tool_call_id: 'c', tool_name: 'bash', offset: 0, delta: 'built\n' }, true);
  expect(opened()).toBe('[tool] echo text: later\n[tool] $ make\n  built\n');
});

test('a list that changes is shown when nothing is being said, and once', () => {
  const { hear, printed } = watch();
  hear('agent_start', { session_id: 's', run_id: 'r' });
  hear('turn_start', { ...inTurn, kind: 'prompt', input_ids: [] });
  hear('message_start', { ...inTurn, message_id: 'm', role: 'assistant' });
  hear('message_update', { ...inTurn, message_id: 'm', block: 0, offset: 0, delta: 'one ' }, true);
  hear('ui_widget', { session_id: 's', params: { key: 'todo', lines: ['[ ] a\u001b[2J'] } }, true);
  hear('message_update', { ...inTurn, message_id: 'm', block: 0, offset: 4, delta: 'two' }, true);
  hear('message_end', { ...inTurn, message_id: 'm', role: 'assistant', discarded: true, reason: 'aborted' });
  hear('ui_widget', { session_id: 's', params: { key: 'todo', lines: ['[ ] a\u001b[2J'] } }, true);
  expect(printed()).toBe('one two\n[todo]\n  [ ] a␛[2J\n');
  hear('ui_widget', { session_id: 's', params: { key: 'todo', lines: [] } }, true);
  expect(printed()).toBe('[todo] nothing is left\n');
});

test('what a tool says that it is doing is told when it changes, and a text that it offers once', () => {
  const { hear, opened, printed } = watch();
  hear('ui_working', { session_id: 's', params: { message: 'indexing 1 of 3' } }, true);
  hear('ui_working', { session_id: 's', params: { message: 'indexing 1 of 3' } }, true);
  expect(printed()).toBe('[status] indexing 1 of 3\n');
  expect(opened()).toContain('[status] indexing 1 of 3\n');
  hear('ui_working', { session_id: 's', params: { message: '' } }, true);
  hear('ui_set_editor_text', { session_id: 's', params: { text: 'try\u001b[2J\nthis' } }, true);
  expect(printed()).toBe('[offered] a text to send: try␛[2J this\n');
});

test('an observer is not told to type an answer, nor to resume from here', () => {
  let text = '';
  const page = createLineWriter((piece) => (text += piece));
  const lines = createLineView(page, createStyle(false), () => false, { isObserver: true });
  lines.event({ v: '1', id: '', ts: '', seq: 1, type: 'ui_request', payload: question('req_0123456789', 'Sail?') });
  const ended = {
    session_id: 'ses_0123456789',
    run_id: 'r',
    outcome: 'failed' as const,
    error: { code: 'x', message: 'no wind' },
    usage: null,
  };
  lines.event({ v: '1', id: '', ts: '', seq: 2, type: 'agent_end', payload: ended });
  expect(text).toBe('[question] Sail?\n  berth answer 0123456789 answers it\n[run] failed: no wind; berth resume 0123456789 tries again\n');
});

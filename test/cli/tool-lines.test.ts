import { expect, test } from 'vitest';
import { createLineWriter } from '../../src/cli/terminal/line-writer.js';
import { createStyle } from '../../src/cli/terminal/style.js';
import { showToolEnd, showToolMessage } from '../../src/cli/attach/tool-lines.js';
import type { EventPayload } from '../../src/protocol/events.js';
import type { Message } from '../../src/protocol/messages.js';
import { createToolOutputs } from '../../src/view/tools/tool-output.js';

function open() {
  let text = '';
  const page = createLineWriter((piece) => (text += piece));
  const outputs = createToolOutputs({
    onOutput: (callId, piece) => page.flow(`${callId} output`, piece, { indent: '  ' }),
    onSkipped: (_callId, characters) => page.line(`  [${characters} characters of its output were skipped]`),
  });
  const end = (result: string, details: Partial<EventPayload<'tool_execution_end'>> = {}): string => {
    const ended = {
      ...{ session_id: 's', run_id: 'r', turn_id: 't', tool_call_id: 'c', tool_name: 'bash', message_id: 'm' },
      ...{ result, is_error: false, skipped: false, duration_ms: 5 },
      ...details,
    };
    showToolEnd(page, createStyle(false), ended, outputs.end('c', result));
    return text;
  };
  outputs.begin('c');
  return { outputs, end, text: () => text };
}

test('the end of an output that did not come live is taken from the result', () => {
  const { outputs, end } = open();
  outputs.update('c', 0, 'one\ntw');
  outputs.update('c', 4, 'two');
  expect(end('one\ntwo\nthree\n[exit code 3]', { is_error: true, exit_code: 3 })).toBe(
    '  one\n  two\n  three\n[tool] bash failed in 5 ms: exit code 3\n',
  );
});

test('nothing is said twice when all of it came live, or when the result is another text', () => {
  const all = open();
  all.outputs.update('c', 0, 'one\n');
  expect(all.end('one\n[exit code 0]', { exit_code: 0 })).toBe('  one\n[tool] bash done in 5 ms\n');
  const other = open();
  other.outputs.update('c', 0, 'progress 1\n');
  expect(other.end('what came of it')).toBe('  progress 1\n[tool] bash done in 5 ms\n');
});

test('of a long output that was skipped through, the last lines are found in a result that leaves out the middle', () => {
  const { outputs, end } = open();
  const whole = Array.from({ length: 5_000 }, (_, n) => `line ${n}\n`).join('');
  outputs.update('c', 0, whole.slice(0, 100));
  outputs.update('c', 20_000, whole.slice(20_000, 40_000));
  const said = end(`${whole.slice(0, 1_000)}[…]\n${whole.slice(30_000)}[exit code 0]`, { exit_code: 0 });
  expect(said).toContain('[19900 characters of its output were skipped]');
  expect(said).toContain(`  ${whole.slice(39_900, 40_000).split('\n')[1]}\n`);
  expect(said.match(/more lines/g)).toHaveLength(1);
});

test('a change is shown instead of the words about it, and a kept output says how to read it', () => {
  const changed = open().end('Edited a.txt.\n\n-a\n+b', { tool_name: 'edit', diff: '-a\n+b\u001b[2J\n' });
  expect(changed).toBe('  -a\n  +b␛[2J\n[tool] edit done in 5 ms\n');
  expect(open().end('x', { artifact_id: 'art_1', counts: { bytes: 70_000 } })).toContain('  [all 70000 bytes: berth artifact art_1]\n');
  expect(open().end('x', { artifact_id: 'art_1', counts: { bytes: 70_000, dropped_bytes: 20_000 } })).toContain(
    '  [the first 50000 of 70000 bytes: berth artifact art_1]\n',
  );
  expect(open().end('Stopped.', { is_error: true, exit_code: 137, signal: 'SIGKILL' })).toContain('failed in 5 ms: ended by SIGKILL\n');
});

test('the result of an earlier call is told as it was told when it ended, with its diff in colours', () => {
  const show = (fields: Partial<Message>, linesMax = Infinity, isColoured = false): string => {
    let text = '';
    const message = { id: 'm', role: 'tool_result', run_id: 'r', tool_call_id: 'c', tool_name: 'bash', text: '', content: [], ...fields };
    showToolMessage(
      createLineWriter((piece) => (text += piece)),
      createStyle(isColoured),
      message as unknown as Message,
      linesMax,
    );
    return text;
  };
  expect(show({ text: 'one\n[exit code 3]', is_error: true, details: { exit_code: 3, duration_ms: 5 } })).toBe(
    '  one\n[tool] bash failed in 5 ms: exit code 3\n',
  );
  const edited = { tool_name: 'edit', text: 'Edited a.txt.', details: { diff: '@@ -1 +1 @@\n-a\n+b\n', duration_ms: 5 } };
  expect(show(edited)).toBe('  @@ -1 +1 @@\n  -a\n  +b\n[tool] edit done in 5 ms\n');
  expect(show(edited, 20, true)).toContain('  \u001b[31m-a\u001b[39m\n  \u001b[32m+b\u001b[39m\n');
  expect(show({ text: 'Denied by the person.', skipped: true, is_error: true })).toBe('[tool] bash was skipped: Denied by the person.\n');
  // All of a reason of several lines, and what an older daemon has kept without details.
  expect(show({ text: 'no such file\nlook elsewhere', is_error: true })).toBe(
    '  no such file\n  look elsewhere\n[tool] bash failed: no such file look elsewhere\n',
  );
  expect(show({ text: 'a\nb\nc\nd' }, 2)).toBe('  a\n  b\n  [2 more lines; berth log has them]\n[tool] bash done\n');
});

import { expect, test, vi } from 'vitest';
import { shareDaemon } from '../support/shared-daemon.js';
import { openPlace, openQuestion, runCommand, runJson, runJsonLine, runOk, startCommand } from './run-cli.js';

vi.setConfig({ testTimeout: 90_000 });

const shared = shareDaemon();

test('a text is run in a new session of this directory, and the answer is all of standard output', async () => {
  await using daemon = openPlace(shared());
  expect(await runCommand(daemon, ['run', 'say ahoy'])).toEqual({ code: 0, signal: null, stdout: 'ahoy\n', stderr: '' });
  expect(
    await runOk(daemon, ['run', '--title', 'piped', '--model', 'offline/guide', '--thinking', 'low', '--mode', 'read-only', '-'], {
      input: 'say two\nlines',
    }),
  ).toBe('two\nlines\n');
  expect(await runJsonLine(daemon, ['state', 'piped'])).toMatchObject({ cwd: daemon.workdir, thinking: 'low', approval_mode: 'read_only' });
  expect(await runJson(daemon, ['ls'])).toHaveLength(2);
  // An existing one, which is changed as the options say.
  expect(await runOk(daemon, ['run', '--session', 'piped', '--mode', 'ask', 'say three'])).toBe('three\n');
  expect(await runJsonLine(daemon, ['state', 'piped'])).toMatchObject({ approval_mode: 'ask' });
  expect(await runJson(daemon, ['ls'])).toHaveLength(2);
});

test('tools and notices are lines of standard error, and none with --quiet', async () => {
  await using daemon = openPlace(shared());
  const told = await runCommand(daemon, ['run', 'call 2 tools']);
  expect(told).toMatchObject({ code: 0, stdout: expect.stringMatching(/^2 calls are done\.\n/) });
  expect(told.stderr).toMatch(/^\[tool\] .*\n\[tool\] .*\n$/);
  expect(await runCommand(daemon, ['run', '--quiet', 'call 2 tools'])).toMatchObject({ code: 0, stderr: '' });
});

test('without a terminal approvals are denied and the model is told; --approve allows them once', async () => {
  await using daemon = openPlace(shared());
  const denied = await runCommand(daemon, ['run', 'echo this with approval']);
  expect(denied).toMatchObject({ code: 0, stdout: expect.stringMatching(/^echo failed: Denied: Nobody is there to be asked\./) });
  expect(denied.stderr).toContain('[approval] denied: ');
  expect(denied.stderr).toContain('(nobody is here to ask; --approve allow-once allows, a terminal asks)\n');
  const allowed = await runCommand(daemon, ['run', '--approve', 'allow-once', 'echo this with approval']);
  expect(allowed).toMatchObject({
    code: 0,
    stdout: 'echo said: this\n',
    stderr: expect.stringMatching(/^\[approval\] allowed once: .* \(--approve allow-once\)\n/),
  });
  expect(await runCommand(daemon, ['run', '--approve', 'always', 'say x'])).toMatchObject({
    code: 64,
    stderr: expect.stringContaining('ask, deny, allow-once'),
  });
});

test('a run that nobody here can answer is left waiting, with how to answer it', async () => {
  await using daemon = openPlace(shared());
  const { code, stdout, stderr } = await runCommand(daemon, ['run', 'ask me']);
  expect({ code, stdout }).toEqual({ code: 3, stdout: '' });
  const id = await openQuestion(daemon);
  expect(stderr).toContain(`berth: the run waits for an answer: Which way shall we sail?\nberth: berth answer ${id} --show`);
  // The same where approvals are for somebody else to answer.
  const asked = await runCommand(daemon, ['run', '--approve', 'ask', '--json', 'echo this with approval']);
  const last = JSON.parse(asked.stdout.trimEnd().split('\n').at(-1) ?? '') as unknown;
  expect({ code: asked.code, last }).toMatchObject({ code: 3, last: { type: 'asked', request: { params: { kind: 'approval' } } } });
});

test('the exit code and a line say how a run ended that did not complete', async () => {
  await using daemon = openPlace(shared());
  expect(await runCommand(daemon, ['run', 'fail'])).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/^berth: the run failed: .*; berth resume \w+ tries again\n$/),
  });
  await using long = startCommand(daemon, ['run', 'echo a b c for 300 seconds', '--title', 'long']);
  await long.untilError((text) => text.includes('[tool] Echo a b c'));
  const busy = await runCommand(daemon, ['run', '--session', 'long', 'say now']);
  expect(busy).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/^berth: a run is in progress in \w+; berth wait \w+ waits for its end, berth send \w+ --follow-up/),
  });
  await runOk(daemon, ['abort', 'long', '--reason', 'lunch']);
  expect(await long.finished()).toMatchObject({ code: 5, stderr: expect.stringContaining('berth: the run was stopped: lunch\n') });
  expect(await runCommand(daemon, ['run', '  '])).toMatchObject({ code: 64, stderr: 'berth: there is no text to send\n' });
  expect(await runCommand(daemon, ['run', 'several', 'words'])).toMatchObject({
    code: 64,
    stderr: expect.stringContaining('goes in quotes'),
  });
});

test('--json prints what was accepted, every event, and what it came to', async () => {
  await using daemon = openPlace(shared());
  const lines = await runJson(daemon, ['run', 'call 1 tool']);
  const { session_id, run_id, input_id } = lines[0]!;
  expect(lines[0]).toEqual({ type: 'accepted', session_id, run_id, input_id });
  expect(lines.at(-1)).toEqual({
    type: 'result',
    session_id,
    run_id,
    outcome: 'completed',
    error: null,
    output: expect.stringMatching(/^clock said: /),
  });
  const types = lines.map(({ type }) => type);
  expect(types).toEqual(expect.arrayContaining(['agent_start', 'tool_execution_start', 'tool_execution_end', 'agent_end']));
  const seqs = lines.flatMap(({ seq }) => (seq === undefined ? [] : [seq]));
  expect(seqs).toEqual([...new Set(seqs)].sort((a, b) => a - b));
});

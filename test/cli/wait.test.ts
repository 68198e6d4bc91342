import { expect, test, vi } from 'vitest';
import { shareDaemon } from '../support/shared-daemon.js';
import { openPlace, openQuestion, runCommand, runOk, startCommand, untilHeard } from './run-cli.js';

vi.setConfig({ testTimeout: 90_000 });

const shared = shareDaemon();

test('what holds already is not waited for, and what does not hold in time is told by the exit code', async () => {
  await using daemon = openPlace(shared());
  await runOk(daemon, ['new', '--title', 'fresh']);
  expect(await runOk(daemon, ['wait', 'fresh'])).toBe('idle: there was no run yet\n');
  await runCommand(daemon, ['send', 'fresh', 'fail', '--wait']);
  expect(await runOk(daemon, ['wait', 'fresh', '--until', 'fail'])).toMatch(/^failed: the offline guide was asked to fail/);
  const late = await runCommand(daemon, ['wait', 'fresh', '--until', 'ask', '--timeout', '0.05']);
  expect(late).toMatchObject({
    code: 124,
    stdout: '',
    stderr: expect.stringMatching(/^berth: waited 0\.05 s for session \w+, .*: ask\n$/),
  });
  const now = await runCommand(daemon, ['wait', 'fresh', '--until', 'ask', '--timeout', '0', '--json']);
  expect(now).toMatchObject({ code: 124, stdout: '', stderr: expect.stringMatching(/^\{"error":\{"code":"timeout",/) });
  expect(await runCommand(daemon, ['wait', '--until', 'done'])).toMatchObject({
    code: 64,
    stderr: expect.stringContaining('ask, end, fail'),
  });
  expect(await runCommand(daemon, ['wait', '--timeout', 'soon'])).toMatchObject({ code: 64 });
  expect(await runCommand(daemon, ['wait', 'nowhere'])).toMatchObject({ code: 1 });
});

test('a question and the end of a run are waited for, whoever answers', async () => {
  await using daemon = openPlace(shared());
  const session = (await runOk(daemon, ['new', '--title', 'asking'])).trim();
  await using asks = startCommand(daemon, ['wait', 'asking', '--until', 'ask,fail']);
  await using ends = startCommand(daemon, ['wait', session.slice(4, 14), '--until', 'fail,ask', '--json']);
  await runOk(daemon, ['send', 'asking', 'echo this with approval']);
  expect(await asks.finished()).toMatchObject({ code: 0, stdout: 'asks: Echo this text?\n' });
  const { stdout } = await ends.finished();
  expect(JSON.parse(stdout)).toEqual({
    session_id: session,
    happened: 'ask',
    seq: expect.any(Number),
    run_id: expect.stringMatching(/^run_/),
    last_run_id: null,
    outcome: null,
    requests: [expect.objectContaining({ session_id: session })],
  });
  await using completes = startCommand(daemon, ['wait', 'asking', '--json']);
  await runOk(daemon, ['answer', await openQuestion(daemon), 'a']);
  expect(JSON.parse((await completes.finished()).stdout)).toMatchObject({
    happened: 'end',
    run_id: null,
    outcome: 'completed',
    requests: [],
  });
  await using deleted = startCommand(daemon, ['wait', 'asking', '--until', 'fail']);
  await untilHeard(daemon, session);
  await runOk(daemon, ['rm', session, '--yes']);
  expect(await deleted.finished()).toMatchObject({ code: 1, stderr: 'berth: the session was deleted\n' });
});

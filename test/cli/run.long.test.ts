import { describe, expect, test, vi } from 'vitest';
import { connect } from '../../src/client/index.js';
import { missing } from '../needs.js';
import { startWithHeldModel } from '../support/held-model.js';
import { shareDaemon } from '../support/shared-daemon.js';
import { streamed } from '../support/wire.js';
import { makeHome, openPlace, poll, runJsonLine, runOk, startCommand } from './run-cli.js';
import { openScreen, type Screen } from './screen.js';

vi.setConfig({ testTimeout: 90_000 });

const shared = shareDaemon();

test('ctrl-C detaches and says how to come back; a second one stops the run', async () => {
  await using daemon = await startWithHeldModel();
  const goOn = daemon.answerNext(streamed(200), 'word100 ');
  daemon.answerNext(streamed(200), 'word100 ');
  await using left = startCommand(daemon, ['run', 'many words', '--title', 'left']);
  await left.until((text) => text.includes('word99'));
  await using stopped = startCommand(daemon, ['run', 'many words', '--title', 'stopped']);
  await stopped.until((text) => text.includes('word99'));
  for (const run of [left, stopped]) {
    run.child.kill('SIGINT');
    await run.untilError((text) => /berth: detached, and the run goes on; berth attach \w+ comes back\. Ctrl-C again/.test(text));
  }
  stopped.child.kill('SIGINT');
  expect(await stopped.finished()).toMatchObject({ code: 5, stderr: expect.stringContaining('berth: the run was stopped: ctrl-C\n') });
  expect(await left.finished()).toMatchObject({ code: 130, signal: null });
  expect(await runJsonLine(daemon, ['state', 'left'])).toMatchObject({ run_state: 'running' });
  goOn();
  expect(await runOk(daemon, ['wait', 'left'])).toBe('completed\n');
});

test('a daemon that is killed is started again: nothing is printed twice, and the run is interrupted, or goes on if its session wants that', async () => {
  await using home = makeHome({ BERTH_OFFLINE_WPS: '400' });
  const carried = (await runOk(home, ['new', '--title', 'carried'])).trim();
  await using cut = startCommand(home, ['run', 'stream 90000 words']);
  await cut.until((text) => text.includes('word20 '));
  const { pid } = await runJsonLine(home, ['daemon', 'status']);
  const client = await connect({ paths: home.paths });
  await client.call('update_session', { session_id: carried, recovery: 'continue' });
  client.close();
  await using goesOn = startCommand(home, ['run', '--session', 'carried', 'stream 400 words']);
  await goesOn.until((text) => text.includes('word20 '));
  process.kill(pid, 'SIGKILL');
  const interrupted = await cut.finished();
  expect(interrupted).toMatchObject({
    code: 6,
    stderr: expect.stringMatching(/lost connection…\n.*back\nberth: the run was interrupted: .*; berth resume \w+ continues it\n$/),
  });
  expect(interrupted.stdout.match(/\bword10 /g)).toHaveLength(1);
  const continued = await goesOn.finished();
  expect(continued).toMatchObject({ code: 0, stdout: expect.stringMatching(/ word400\n$/) });
  expect(continued.stderr).toMatch(/\[run\] goes on after run_\w+\n/);
});

describe.skipIf(missing('tmux'))('at a terminal (needs tmux)', () => {
  test('a person is asked, and what was typed before the question answers nothing', async () => {
    await using daemon = openPlace(shared());
    await using screen = await openScreen(daemon, ['run', 'ask me']);
    await screen.until((text) => text.includes('Which way shall we sail?\n  1) north'));
    await answer(screen, '2', (text) => text.includes('Cast off now?'));
    await answer(screen, '/abort', (text) => text.includes('berth: the run was stopped'));
  });

  test('ctrl-C detaches from a question as well, and a second one stops the run', async () => {
    await using daemon = openPlace(shared());
    await using screen = await openScreen(daemon, ['run', 'ask me']);
    await screen.until((text) => /type a number from 1 to 3[^]*\n> *\s*$/.test(text));
    await screen.type('C-c');
    await screen.until((text) => text.includes('berth: detached, and the run goes on'));
    await screen.type('C-c');
    await screen.until((text) => text.includes('berth: the run was stopped: ctrl-C'));
    expect(await screen.ask('#{cursor_flag}')).toBe('1');
  });
});

/** Types an answer again and again until it is taken: too soon after its question, a line answers nothing. */
async function answer(screen: Screen, typed: string, isTaken: (text: string) => boolean): Promise<void> {
  const countRefused = (text: string): number => text.split('[not sent] a question came while it was typed').length;
  await poll(async () => {
    const before = countRefused(await screen.text());
    await screen.type(typed, 'Enter');
    return screen.until((text) => isTaken(text) || countRefused(text) > before);
  }, isTaken);
}

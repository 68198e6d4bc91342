import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, test } from 'vitest';
import { program, type TestDaemon } from '../support/daemon.js';
import { startWithHeldModel, type HeldModelDaemon } from '../support/held-model.js';
import { modesLeft } from './escape-sequences.js';
import type { PtyScreen } from './pty-screen.js';
import { editorOf, idleHint, keys, newSession, openScreen, pauseFor } from './session-screens.js';

/** A daemon whose process may be another one in the end: whoever is attached starts it again when it is killed. */
async function startMortal(config: Record<string, unknown> = {}): Promise<HeldModelDaemon> {
  const daemon = await startWithHeldModel(config);
  return {
    ...daemon,
    async [Symbol.asyncDispose]() {
      await stop(daemon);
      await daemon[Symbol.asyncDispose]();
    },
  };
}

async function stop({ env }: TestDaemon): Promise<void> {
  await promisify(execFile)(process.execPath, [program, 'daemon', 'stop'], { env });
}

const banner = /reconnecting|no daemon/;

/** The screen says that the daemon is away, starts it again, and says so. */
async function killAndRevive(daemon: TestDaemon, screen: PtyScreen): Promise<void> {
  const said = screen.bytes().length;
  await daemon.kill9();
  await screen.until((text) => text.includes('the daemon is back') && !banner.test(text), 'the daemon is back');
  expect(screen.bytes().slice(said)).toMatch(banner);
}

async function userTexts(daemon: TestDaemon, session_id: string): Promise<string[]> {
  const berth = await daemon.connect();
  const read = await berth.call('get_messages', { session_id });
  berth.close();
  if (!read.ok) throw new Error(read.error.message);
  return read.payload.messages.filter(({ role }) => role === 'user').map(({ text }) => text);
}

describe('the daemon is killed', () => {
  test('while nothing runs, or stopped: it comes back, and what is sent meanwhile is marked and goes out once', async () => {
    await using daemon = await startMortal();
    const session = await newSession(daemon);
    await using screen = await openScreen(daemon, session);
    await screen.until(idleHint);
    await killAndRevive(daemon, screen);
    daemon.answerNext('aye to the first');
    daemon.answerNext('aye to the second');
    // A daemon that says goodbye was stopped by somebody, and is not started behind their back.
    await stop(daemon);
    await screen.until('no daemon runs');
    screen.send('half a text');
    await screen.until('❯ half a text');
    screen.send(keys.ctrl('c'));
    await screen.until(idleHint);
    const said = screen.bytes().length;
    screen.send('sent while away\r');
    screen.send('and a second\r');
    await screen.until('the daemon is back');
    expect(screen.bytes().slice(said)).toMatch(/◌[^]*sent while away[^]*not sent yet/);
    await screen.until((text) => text.includes('aye to the second') && !text.includes('◌'));
    screen.send(keys.up + keys.up + keys.up);
    await screen.until(() => editorOf(screen.rows()) === 'half a text', 'the text that was cleared');
    expect(await userTexts(daemon, session)).toEqual(['sent while away', 'and a second']);
  });

  test('while an answer streams: what was said is there, the run is said to be interrupted, and nothing typed is lost', async () => {
    await using daemon = await startMortal();
    const session = await newSession(daemon);
    await using screen = await openScreen(daemon, session);
    daemon.answerNext('one two three four HELD', 'HELD');
    screen.send('go\r');
    await screen.until('three four');
    screen.send('a thought');
    await screen.until('❯ a thought');
    // What streams is saved every 250 ms.
    await pauseFor(400);
    await killAndRevive(daemon, screen);
    await screen.until(/run (was )?interrupted/);
    expect(screen.text()).toContain('one two');
    expect(editorOf(screen.rows())).toBe('a thought');
    // What was written for the run that died is not sent behind its back.
    screen.send(keys.enter);
    await screen.until('The run that you wrote this for was interrupted');
    screen.send(keys.enter);
    await screen.until(() => editorOf(screen.rows()) === 'a thought', 'the text is in the editor');
    expect(await userTexts(daemon, session)).toEqual(['go']);
  });

  test('while a question is open: it is open again, and what was typed is there', async () => {
    await using daemon = await startMortal();
    const session = await newSession(daemon);
    await using screen = await openScreen(daemon, session);
    daemon.callNext('', 'bash', { command: 'touch canary' })();
    screen.send('go\r');
    await screen.until('Allow once');
    screen.send('yes a');
    await screen.until('❯ yes a');
    await killAndRevive(daemon, screen);
    await screen.until('Allow once');
    expect(editorOf(screen.rows())).toBe('yes a');
    expect(existsSync(join(daemon.workdir, 'canary'))).toBe(false);
    daemon.answerNext('it is done');
    screen.send(keys.ctrl('o'));
    await screen.until('Esc back to the editor');
    screen.send('a');
    await screen.until('it is done');
    expect(existsSync(join(daemon.workdir, 'canary'))).toBe(true);
  });

  test('while a tool runs: the call is said to be interrupted', async () => {
    await using daemon = await startMortal({ permissions: { mode: 'full' } });
    const session = await newSession(daemon);
    await using screen = await openScreen(daemon, session);
    daemon.callNext('', 'bash', { command: 'echo begun; sleep 1000' })();
    screen.send('go\r');
    await screen.until('│ begun');
    await killAndRevive(daemon, screen);
    await screen.until(/run (was )?interrupted/);
    await screen.until((text) => !/[●○⠋⠙⠸⠴⠦⠇] \$ echo begun/.test(text), 'a call that has ended');
  });

  test('while an overlay is open: it stays, and works when the daemon is back', async () => {
    await using daemon = await startMortal();
    const session = await newSession(daemon, { title: 'the other one' });
    await using screen = await openScreen(daemon, await newSession(daemon, { title: 'this one' }));
    screen.send('a draft');
    await screen.until('❯ a draft');
    screen.send(keys.ctrl('s'));
    await screen.until('the other one');
    const said = screen.bytes().length;
    await daemon.kill9();
    await screen.until(() => banner.test(screen.bytes().slice(said)) && !banner.test(screen.text()), 'a banner, and that it goes');
    expect(screen.text()).toContain(' Sessions ');
    screen.send(keys.escape);
    await screen.until(() => editorOf(screen.rows()) === 'a draft', 'the draft');
    screen.send(keys.ctrl('s'));
    await screen.until('the other one');
    screen.send('other');
    await screen.until('▸ the other one');
    screen.send(keys.enter);
    await screen.until(/^ the other one /);
    expect(session).not.toBe('');
  });
});

test('a daemon that hangs does not keep the terminal when a person leaves', async () => {
  await using daemon = await startMortal();
  await using screen = await openScreen(daemon, await newSession(daemon));
  screen.send('a draft that the daemon will not take');
  await screen.until('will not take');
  process.kill(daemon.pid(), 'SIGSTOP');
  try {
    const from = performance.now();
    screen.kill('SIGTERM');
    await screen.exited();
    expect(modesLeft(screen.bytes())).toEqual([]);
    expect(performance.now() - from).toBeLessThan(5_000);
  } finally {
    process.kill(daemon.pid(), 'SIGCONT');
  }
});

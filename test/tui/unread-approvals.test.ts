import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { shareDaemon } from '../support/shared-daemon.js';
import { openPty, type PtyScreen, type PtySetup } from './pty-screen.js';

const daemon = shareDaemon();
/** Longer than a card has to stand before its keys count. */
const readingMs = 700;

async function openSession(size: Partial<PtySetup> = {}): Promise<PtyScreen> {
  const berth = await daemon().connect();
  const made = await berth.call('new_session', { cwd: daemon().workdir });
  berth.close();
  if (!made.ok) throw new Error(made.error.message);
  const { workdir: cwd, env } = daemon();
  const screen = openPty({ args: ['attach', made.payload.session_id], cwd, env, ...size });
  await screen.until('ask for');
  return screen;
}

test('on a screen that cannot show the whole question, an allowing key shows it instead of allowing it', async () => {
  await using screen = await openSession({ columns: 40, rows: 11 });
  screen.send(`run echo ${'a'.repeat(150)}; touch unread`);
  screen.send('\r');
  await screen.until('more rows');
  await delay(readingMs);
  screen.send('a');
  await screen.until('Question');
  screen.send('\x1b');
  await screen.until((text) => !text.includes('Question'));
  expect(existsSync(join(daemon().workdir, 'unread'))).toBe(false);
  screen.send('\x0f');
  screen.send('v');
  await screen.until('Question');
  screen.send('a');
  await screen.until('exit code 0');
  expect(existsSync(join(daemon().workdir, 'unread'))).toBe(true);
});

test('a sentence that begins with the key of an answer answers nothing', async () => {
  await using screen = await openSession();
  screen.send('run touch sentence');
  screen.send('\r');
  await screen.until('Allow once');
  await delay(readingMs);
  for (const character of 'what is') {
    screen.send(character);
    await delay(30);
  }
  await screen.until('what is');
  await delay(readingMs);
  expect(existsSync(join(daemon().workdir, 'sentence'))).toBe(false);
  expect(screen.text()).toContain('Allow once');
});

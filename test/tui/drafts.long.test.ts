import { expect, test } from 'vitest';
import { shareDaemon } from '../support/shared-daemon.js';
import { editorOf, idleHint, keys, newSession, openScreen, pasted, pauseFor } from './session-screens.js';
import type { PtyScreen } from './pty-screen.js';

const daemon = shareDaemon();
/** Drafts are stored when typing pauses. */
const storedMs = 1_500;

async function untilTyped(screen: PtyScreen, text: string): Promise<void> {
  await screen.until(() => editorOf(screen.rows()) === text, text);
}

test('a draft outlives its terminal, however that ends', async () => {
  const session = await newSession(daemon());
  {
    await using killed = await openScreen(daemon(), session);
    killed.send(pasted('a plan\nof two hours'));
    await untilTyped(killed, 'a plan\nof two hours');
    await pauseFor(storedMs);
    killed.kill('SIGKILL');
    await killed.exited();
  }
  {
    await using back = await openScreen(daemon(), session);
    await back.until('your draft is back');
    await untilTyped(back, 'a plan\nof two hours');
    back.send(', and more');
    await untilTyped(back, 'a plan\nof two hours, and more');
    // Leaving stores it without a pause.
    back.kill('SIGHUP');
    await back.exited();
  }
  await using last = await openScreen(daemon(), session);
  await untilTyped(last, 'a plan\nof two hours, and more');
});

test('a draft of a screen that is open stays there, and can be taken over', async () => {
  const session = await newSession(daemon());
  await using first = await openScreen(daemon(), session);
  first.send('a thought of the first');
  await pauseFor(storedMs);
  await using second = await openScreen(daemon(), session);
  await second.until(idleHint);
  second.send('/draft\r');
  await second.until('a thought of the first');
  second.send(keys.enter);
  await untilTyped(second, 'a thought of the first');
  expect(editorOf(first.rows())).toBe('a thought of the first');
});

test('what was sent is no draft any more', async () => {
  const session = await newSession(daemon());
  {
    await using screen = await openScreen(daemon(), session);
    screen.send('say sent');
    await pauseFor(storedMs);
    screen.send(keys.enter);
    await screen.until(/❯ say sent[^]*sent[^]*❯ ask/);
    screen.kill('SIGTERM');
    await screen.exited();
  }
  await using later = await openScreen(daemon(), session);
  await later.until(/❯ say sent[^]*❯ ask/);
  expect(later.text()).not.toContain('your draft is back');
});

test('a paste of a megabyte is taken, shown as a placeholder, and sent whole', async () => {
  const session = await newSession(daemon());
  await using screen = await openScreen(daemon(), session);
  const line = 'the harbour master wrote it down, word for word, as the ships came in\n';
  const text = `say ${line.repeat(Math.ceil(1_000_000 / line.length))}LAST`;
  screen.send(pasted(text));
  await screen.until(/\[.*lines.*\]/, 'a placeholder');
  screen.send('typed behind it');
  await screen.until('typed behind it');
  screen.send(keys.enter);
  await screen.until((shown) => shown.includes('LASTtyped behind it') && shown.includes(idleHint), 'the end of the answer');
  const berth = await daemon().connect();
  const read = await berth.call('get_messages', { session_id: session, limit: 1 });
  berth.close();
  expect(read.ok && read.payload.has_more).toBe(true);
});

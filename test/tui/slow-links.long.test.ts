import { expect, test } from 'vitest';
import { startDaemon } from '../support/daemon.js';
import { shareDaemon } from '../support/shared-daemon.js';
import { editorOf, idleHint, keys, mouse, newSession, openScreen, pasted, pauseFor } from './session-screens.js';

const daemon = shareDaemon();

test('a link that takes 300 ms and splits what it carries anywhere types, edits and scrolls the same', async () => {
  await using screen = await openScreen(daemon(), await newSession(daemon()));
  screen.send('stream 400 words\r');
  await screen.until((text) => text.includes('word400') && text.includes(idleHint));
  const typed = Buffer.from(`grün🙂${keys.left}${keys.left}!${pasted('a\nb')}${mouse.wheelUp}${keys.right}${keys.right}c`);
  for (let split = 1; split < 5; split++) {
    for (let at = 0; at < typed.length; at += split) {
      // A packet waits for the one before it, and comes in pieces.
      if (at % 20 < split) await pauseFor(300);
      screen.send(typed.subarray(at, at + split));
      await pauseFor(15);
    }
    await screen.until(() => editorOf(screen.rows()) === 'grü!a\nbn🙂c', `the text in pieces of ${split}`);
    screen.send(keys.ctrl('c'));
    await screen.until(() => editorOf(screen.rows()) === '' || screen.text().includes(idleHint), 'an empty editor');
  }
});

test('a paste of a megabyte is one word, leaves the editor quick, and is sent whole or not at all', async () => {
  await using own = await startDaemon();
  const session = await newSession(own);
  await using screen = await openScreen(own, session);
  const line = 'all hands on deck, and make it quick\n';
  const text = `say ${line.repeat(Math.floor(1_000_000 / line.length))}`;
  screen.send(pasted(text));
  await screen.until(/❯ .*\[.*(lines|characters).*\]/, 'a placeholder');
  const from = performance.now();
  screen.send(' and more');
  await screen.until('and more');
  expect(performance.now() - from).toBeLessThan(2_000);
  expect(screen.bytes()).not.toContain('\x1b[3J');
  screen.send(keys.enter);
  await screen.until((shown) => shown.includes(idleHint) && shown.includes('and more'));
});

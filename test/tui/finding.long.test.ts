import { rmSync } from 'node:fs';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { seedHistory } from '../bench/seeded-history.js';
import { makeRoot, pathsIn, startDaemon, type TestDaemon } from '../support/daemon.js';
import { idleHint, keys, newSession, openScreen, transcriptOf } from './session-screens.js';
import type { PtyScreen } from './pty-screen.js';

const messages = 2_000;
let daemon: TestDaemon;
let long: string;
const root = makeRoot();
beforeAll(async () => {
  long = seedHistory(pathsIn(root).stateDir, messages);
  daemon = await startDaemon({ root });
});
afterAll(async () => {
  await daemon[Symbol.asyncDispose]();
  rmSync(root, { recursive: true, force: true });
});

function firstShown(screen: PtyScreen): string {
  return transcriptOf(screen.rows()).find((row) => row.includes('Message')) ?? '';
}

test('a long session says how much of it is shown, and pages come while one scrolls up to its first message', async () => {
  await using screen = await openScreen(daemon, long);
  await screen.until(/showing \d+ of 2,000/);
  await screen.until('Message 1999.');
  screen.send('\x1b<');
  for (let pages = 0; !screen.text().includes('Message 0.'); pages++) {
    expect(pages).toBeLessThan(200);
    const before = screen.text();
    screen.send('\x1b<');
    await screen.until((text) => text !== before || text.includes('Message 0.'), 'an older page');
  }
  await screen.until((text) => text.includes('Message 0.') && !text.includes('showing'));
  screen.send('\x1b>');
  await screen.until((text) => text.includes('Message 1999.') && !text.includes('more below'));
});

test('/ searches, n and N go on and back, also into pages that are not loaded', async () => {
  await using screen = await openScreen(daemon, long);
  await screen.until('Message 1999.');
  screen.send(keys.shiftTab);
  await screen.until(' transcript ');
  screen.send('/');
  await screen.until('Search this session');
  screen.send('Message 19\r');
  // The newest match is near the end, and those before it follow.
  await screen.until('▌Message 1999.');
  screen.send('/');
  await screen.until('Search this session');
  screen.send(`${keys.ctrl('u')}Message 77.\r`);
  await screen.until(() => firstShown(screen).includes('Message 77.'), 'a match that was not loaded');
  screen.send('n');
  await screen.until('nothing further down has “Message 77.”');
  screen.send('/');
  await screen.until('Search this session');
  screen.send(`${keys.ctrl('u')}Message 8\r`);
  await screen.until(() => /Message 8\d?\./.test(firstShown(screen)), 'a match above');
  const match = firstShown(screen);
  screen.send('n');
  await screen.until(() => firstShown(screen) !== match && /Message 8\d*\./.test(firstShown(screen)), 'the next match');
  screen.send('N');
  await screen.until(() => firstShown(screen) === match, 'the match before');
});

test('the palette does what is chosen in it, and shows every key', async () => {
  await using screen = await openScreen(daemon, await newSession(daemon));
  await screen.until(idleHint);
  screen.send('?');
  await screen.until(/^ Help +\d+$/m);
  screen.send('rename');
  await screen.until(/▸ Rename this session +\/rename title/);
  screen.send(keys.enter);
  await screen.until('❯ /rename');
  screen.send('harbour\r');
  await screen.until(/^ harbour /);
  screen.send(keys.ctrl('p'));
  await screen.until('What can be done');
  screen.send('redraw');
  await screen.until(/Redraw the screen +Ctrl-L/);
  screen.send(keys.escape);
  await screen.until(idleHint);
});

test('sessions are chosen by their title and by what was said in them, and each keeps its draft', async () => {
  const other = await newSession(daemon, { title: 'the quiet one' });
  const berth = await daemon.connect();
  await berth.call('prompt', { session_id: other, text: 'say xylophone', wait: true });
  berth.close();
  await using screen = await openScreen(daemon, await newSession(daemon, { title: 'the loud one' }));
  screen.send('a draft of the loud one');
  await screen.until('a draft of the loud one');
  screen.send(keys.ctrl('s'));
  await screen.until(' Sessions ');
  screen.send('xylophone');
  await screen.until(/the quiet one.*“/, 'a session found by its text');
  screen.send(keys.enter);
  await screen.until(/^ the quiet one [^]*❯ say xylophone/);
  screen.send(keys.ctrl('s'));
  await screen.until(' Sessions ');
  screen.send('the loud');
  await screen.until('▸ the loud one');
  screen.send(keys.enter);
  await screen.until(/^ the loud one [^]*❯ a draft of the loud one/);
});

test('one key goes to the session that has waited for a person the longest', async () => {
  const asking = await newSession(daemon, { title: 'it asks' });
  await using screen = await openScreen(daemon, await newSession(daemon, { title: 'here' }));
  await screen.until(idleHint);
  const berth = await daemon.connect();
  await berth.call('prompt', { session_id: asking, text: 'ask me', wait: false });
  berth.close();
  await screen.until('1 session asks you');
  screen.send(keys.altN);
  await screen.until(/^ it asks [^]*┃ Which way shall we sail\?/);
});

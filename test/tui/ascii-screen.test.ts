import { expect, test } from 'vitest';
import { shareDaemon } from '../support/shared-daemon.js';
import { foreignSequences, modesLeft } from './escape-sequences.js';
import { idleHint, keys, newSession, attach } from './session-screens.js';

const daemon = shareDaemon();

test.each([
  ['the locale C', { LC_ALL: 'C' }],
  ['the Linux console', { TERM: 'linux' }],
])('%s gets nothing but ASCII, on the screen and in its title, and wraps again afterwards', async (_, env) => {
  await using screen = attach(daemon(), await newSession(daemon(), { title: 'Grüße' }), { env });
  await screen.until(idleHint);
  screen.send('say schön …');
  await screen.until('say sch?n ~');
  screen.send(keys.enter);
  await screen.until(/> say sch\?n ~[^]*sch\?n/);
  expect(screen.title()).toMatch(/^. Gr\?\?e - berth$/);
  expect(screen.modes()).toMatchObject({ wraparoundMode: false });
  screen.send(keys.ctrl('c') + keys.ctrl('c'));
  await screen.exited();
  const [drawn = ''] = screen.bytes().split('\x1b[?1049l');
  expect(drawn.match(/[^\0-\x7f]/gu)).toBeNull();
  expect(foreignSequences(screen.bytes())).toEqual([]);
  expect(modesLeft(screen.bytes())).toEqual([]);
  expect(screen.modes()).toMatchObject({ wraparoundMode: true });
});

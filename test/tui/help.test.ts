import { expect, test } from 'vitest';
import { shareDaemon } from '../support/shared-daemon.js';
import { allActions } from '../../src/tui/keys/actions.js';
import { helpTexts } from '../../src/tui/commands/help-texts.js';
import { marks } from '../../src/tui/rows/marks.js';
import { keys, newSession, openScreen } from './session-screens.js';

const daemon = shareDaemon();

test('? groups what can be done by where, has every key, command and sign, and finds by typing', async () => {
  await using screen = await openScreen(daemon(), await newSession(daemon()), { columns: 100, rows: 180 });
  screen.send('?');
  const text = await screen.until(/ Help [^]*LANG=C/);
  const headings = [
    ...['In the editor', 'Everywhere', 'At a question', 'In the transcript', 'In the queue', 'While writing', 'Commands'],
    ...helpTexts(false).map(({ group }) => group),
  ];
  const found = headings.map((heading) => text.split('\n').findIndex((row) => row.startsWith(` ${heading}`)));
  expect(found).not.toContain(-1);
  expect([...found].sort((a, b) => a - b)).toEqual(found);
  for (const { label } of allActions) expect(text).toContain(label);
  for (const word of ['/permissions', '/diff', '@path', '!!command', 'berth reset', 'config.json', marks.kept, marks.held, 'Shift-Tab'])
    expect(text).toContain(word);
  screen.send('held');
  await screen.until((shown) => /▸ .*⏸/.test(shown) && !shown.includes('In the editor'));
  screen.send(keys.ctrl('u') + 'figures');
  await screen.until((shown) => !shown.includes('⏸'));
  screen.send(keys.ctrl('u') + 'context window');
  await screen.until('▸ How full the context window is');
  screen.send(keys.enter);
  await screen.until(' Context ');
});

test.each<[number, number, RegExp]>([
  [40, 12, /A lone key answers when the card has stood for 400 ms and nothing is typed/],
  [20, 6, /A lone/],
])('on %i×%i the help can be searched and read', async (columns, rows, whole) => {
  await using screen = await openScreen(daemon(), await newSession(daemon()), { columns, rows });
  screen.send('?');
  await screen.until(' Help');
  screen.send('400 ms');
  const text = await screen.until('▸ A lone');
  expect(text.replaceAll(/[^a-z0-9]+/gi, ' ')).toMatch(whole);
});

test('what an overlay has to say is seen while it is open', async () => {
  await using screen = await openScreen(daemon(), await newSession(daemon()));
  screen.send('write ahoy to unseen.txt\r');
  await screen.until('Deny with a reason');
  screen.send(keys.ctrl('o'));
  await screen.until('Esc back to the editor');
  screen.send('r');
  await screen.until('Enter ok');
  screen.send(keys.enter);
  await screen.until('· say why, or close this with Esc');
  screen.send('because');
  await screen.until('> because');
  screen.send(keys.escape);
  await screen.until('Esc back to the editor');
  screen.send('r');
  await screen.until('> because');
});

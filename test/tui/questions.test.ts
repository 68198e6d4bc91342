import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { shareDaemon } from '../support/shared-daemon.js';
import { editorOf, keys, newSession, openScreen, pauseFor } from './session-screens.js';

const daemon = shareDaemon();
/** How long a question has to stand, and nobody to type, before a key answers it; with some room. */
const readMs = 600;

function fileOf(name: string): string {
  return join(daemon().workdir, name);
}

test('what is typed at intervals while a question arrives answers nothing, is kept, and goes out with Enter', async () => {
  const session = await newSession(daemon());
  await using screen = await openScreen(daemon(), session);
  screen.send('run touch canary\r');
  for (const character of 'yes allow 1') {
    screen.send(character);
    await pauseFor(20);
  }
  await screen.until('Allow once');
  for (const character of ' a s w d r 1 2 y n') {
    screen.send(character);
    await pauseFor(20);
  }
  await screen.until(() => editorOf(screen.rows()) === 'yes allow 1 a s w d r 1 2 y n', 'all of it in the editor');
  screen.send(keys.enter);
  await screen.until((text) => /✓ yes allow 1 a s w d r 1 2 y n +steer/.test(text) && text.includes('Allow once'), 'it waits as a steer');
  expect(existsSync(fileOf('canary'))).toBe(false);
});

test('a lone key is typed while the card is new, and answers once it could be read', async () => {
  const session = await newSession(daemon());
  await using screen = await openScreen(daemon(), session);
  screen.send('run touch answered\r');
  await screen.until('Allow once');
  screen.send('a');
  await screen.until('you are typing: Ctrl-O answers');
  expect(editorOf(screen.rows())).toBe('a');
  screen.send(keys.ctrl('u'));
  await screen.until('press a key to answer');
  await pauseFor(readMs);
  expect(existsSync(fileOf('answered'))).toBe(false);
  screen.send('a');
  await screen.until('✓ $ touch answered');
  expect(existsSync(fileOf('answered'))).toBe(true);
});

test('a call is denied with a reason that the model gets', async () => {
  const session = await newSession(daemon());
  await using screen = await openScreen(daemon(), session);
  screen.send('write ahoy to denied.txt\r');
  await screen.until('Deny with a reason');
  screen.send(keys.ctrl('o'));
  await screen.until('Esc back to the editor');
  screen.send('r');
  await screen.until('Enter ok');
  screen.send('use the other file\r');
  const text = await screen.until((shown) => shown.includes('ask for something') && shown.includes('use the other file'));
  expect(text).toMatch(/⊘ write denied\.txt/);
  expect(existsSync(fileOf('denied.txt'))).toBe(false);
});

test('an approval in one screen closes the card of the other, which says by whom', async () => {
  const session = await newSession(daemon());
  await using first = await openScreen(daemon(), session);
  await using second = await openScreen(daemon(), session);
  first.send('write ahoy to shared.txt\r');
  await Promise.all([first.until('Allow once'), second.until('Allow once')]);
  second.send(keys.ctrl('o'));
  await second.until('Esc back to the editor');
  second.send('a');
  const text = await first.until((shown) => !shown.includes('Allow once') && shown.includes('answered'));
  expect(text).toMatch(/the question was answered: allow_once by berth on pts/);
  await first.until('Created shared.txt');
  expect(readFileSync(fileOf('shared.txt'), 'utf8')).toBe('ahoy\n');
});

test('questions of each kind are answered by keys, a choice, a line and a text of several lines', async () => {
  const session = await newSession(daemon());
  await using screen = await openScreen(daemon(), session);
  screen.send('ask me\r');
  await screen.until('┃ Which way shall we sail?');
  screen.send(keys.ctrl('o'));
  await screen.until('Esc back to the editor');
  screen.send('2');
  await screen.until('┃ Cast off now?');
  screen.send(keys.ctrl('o'));
  await screen.until('Esc back to the editor');
  screen.send('y');
  await screen.until('┃ What is the ship called?');
  screen.send(keys.ctrl('o'));
  await screen.until('Enter ok');
  screen.send('Mary Rose\r');
  await screen.until('┃ Write the first line of the log.');
  screen.send(keys.ctrl('o'));
  await screen.until('new line');
  screen.send('calm\x0aseas\r');
  const text = await screen.until((shown) => shown.includes('ask for something') && shown.includes('said:'));
  for (const answer of ['south', 'Mary Rose', 'Day 1: calm']) expect(text).toContain(answer);
});

test('keys of the transcript answer no question', async () => {
  await using screen = await openScreen(daemon(), await newSession(daemon()));
  screen.send('ask me\r');
  await screen.until('┃ Which way shall we sail?');
  screen.send(keys.ctrl('o'));
  await screen.until('Esc back to the editor');
  screen.send('1');
  await screen.until('┃ Cast off now?');
  screen.send(keys.shiftTab);
  await screen.until(' transcript ');
  await pauseFor(readMs);
  screen.send('n');
  await screen.until('Search this session');
  screen.send(keys.escape);
  await screen.until((text) => !text.includes('Search this session'));
  expect(screen.text()).toContain('┃ Cast off now?');
});

import { expect, test } from 'vitest';
import { shareDaemon } from '../support/shared-daemon.js';
import type { PtyScreen } from './pty-screen.js';
import { editorOf, idleHint, keys, mouse, newSession, openScreen, pasted, pauseFor, transcriptOf } from './session-screens.js';

const daemon = shareDaemon({ config: { permissions: { mode: 'full' } } });

/** The row of the screen that has a text. */
function rowOf(screen: PtyScreen, text: string): number {
  const row = screen.rows().findIndex((one) => one.includes(text));
  if (row < 0) throw new Error(`no row has ${text}:\n${screen.text()}`);
  return row;
}

/** A whole run that somebody else began; resolves when the screen shows its end. */
async function say(screen: PtyScreen, session: string, text: string, until: string): Promise<void> {
  const berth = await daemon().connect();
  const said = await berth.call('prompt', { session_id: session, text, wait: true });
  berth.close();
  if (!said.ok) throw new Error(said.error.message);
  await screen.until((shown) => shown.includes(until) && shown.includes(idleHint), until);
}

/** What was put on the clipboard, oldest first. */
function copied(screen: PtyScreen): string[] {
  return [...screen.bytes().matchAll(/\]52;c;([^]*?)\x07/g)].map(([, data = '']) => Buffer.from(data, 'base64').toString()); // eslint-disable-line no-control-regex
}

test('the wheel scrolls and comes back to follow, and what arrives meanwhile does not move the reader', async () => {
  const session = await newSession(daemon());
  await using screen = await openScreen(daemon(), session);
  await say(screen, session, 'stream 2000 words', 'word2000');
  const end = transcriptOf(screen.rows());
  screen.send(mouse.wheelUp.repeat(10));
  await screen.until('more below');
  const before = transcriptOf(screen.rows());
  expect(before).not.toEqual(end);
  await say(screen, session, 'say something new', 'more below');
  expect(transcriptOf(screen.rows())).toEqual(before);
  screen.send(mouse.wheelDown.repeat(20));
  await screen.until((text) => text.includes('something new') && !text.includes('more below'));
});

test('a click folds and unfolds a tool block, which stays where it is, and z does so for all like it and is remembered', async () => {
  const session = await newSession(daemon());
  await using screen = await openScreen(daemon(), session);
  await say(screen, session, 'run seq 100 105', 'bash said');
  const row = rowOf(screen, '$ seq 100 105');
  expect(screen.text()).toContain('103');
  screen.send(mouse.press(row, 4) + mouse.release(row, 4));
  await screen.until((text) => !text.includes('│ 103'), 'a folded block');
  expect(rowOf(screen, '$ seq 100 105')).toBe(row);
  screen.send(mouse.press(row, 4) + mouse.release(row, 4));
  await screen.until('│ 103');
  expect(rowOf(screen, '$ seq 100 105')).toBe(row);

  screen.send(keys.shiftTab + keys.up);
  await screen.until(' transcript ');
  screen.send('z');
  await screen.until((text) => !text.includes('│ 103'), 'a folded block');
  screen.send(keys.ctrl('d'));
  await screen.exited();
  await using later = await openScreen(daemon(), session);
  await later.until('$ seq 100 105');
  expect(later.text()).not.toContain('│ 103');
});

test('dragging selects, and copies logical text: wrapped lines whole, without gutters', async () => {
  const session = await newSession(daemon());
  await using screen = await openScreen(daemon(), session, { columns: 40, rows: 20 });
  const words = 'one two three four five six seven eight nine ten eleven twelve';
  await say(screen, session, `say ${words}`, 'twelve');
  const rows = screen.rows();
  const first = rows.findLastIndex((row) => row.startsWith('one two'));
  const last = rows.findLastIndex((row) => row.includes('twelve'));
  expect(last).toBeGreaterThan(first);
  screen.send(mouse.press(first, 0) + mouse.drag(first, 10) + mouse.drag(last, 39) + mouse.release(last, 39));
  await screen.until('62 characters sent to your terminal');
  expect(copied(screen)).toEqual([words]);
  screen.send(mouse.press(first, 4) + mouse.drag(first, 6) + mouse.release(first, 6));
  await screen.until('3 characters sent');
  expect(copied(screen).at(-1)).toBe('two');
  // The prompt has a gutter of two columns.
  const prompt = rows.findIndex((row) => row.startsWith('❯ say'));
  screen.send(mouse.press(prompt, 0) + mouse.drag(first - 2, 39) + mouse.release(first - 2, 39));
  await screen.until(`${words.length + 4} characters sent`);
  expect(copied(screen).at(-1)).toBe(`say ${words}`);
});

test('y copies the chosen message, and a text that a terminal would drop is not pretended to be copied', async () => {
  const session = await newSession(daemon());
  await using screen = await openScreen(daemon(), session);
  await say(screen, session, 'say **bold** and `code`', 'bold and code');
  screen.send(keys.shiftTab);
  await screen.until(' transcript ');
  screen.send('y');
  await screen.until('characters sent');
  expect(copied(screen)).toEqual(['**bold** and `code`']);
  screen.send(keys.escape);
  await screen.until((text) => !text.includes(' transcript '), 'the editor has the keyboard');
  await say(screen, session, 'stream 15000 words', 'word15000');
  screen.send(keys.shiftTab);
  await screen.until(' transcript ');
  screen.send('y');
  await screen.until('too long for the clipboard of a terminal');
  expect(copied(screen)).toHaveLength(1);
});

test('Ctrl and an arrow goes from prompt to prompt, and Alt with < and > to both ends', async () => {
  const session = await newSession(daemon());
  await using screen = await openScreen(daemon(), session);
  for (const name of ['alpha', 'beta', 'gamma']) {
    await say(screen, session, `say ${name}`, name);
    await say(screen, session, 'stream 400 words', 'word400');
  }
  const top = (): string => transcriptOf(screen.rows()).find((row) => row !== '') ?? '';
  for (const prompt of ['❯ stream 400 words', '❯ say gamma', '❯ stream 400 words', '❯ say beta']) {
    screen.send('\x1b[1;5A');
    await screen.until(() => top() === prompt, prompt);
  }
  screen.send('\x1b[1;5B');
  await screen.until(() => top() === '❯ stream 400 words', 'the prompt after');
  screen.send('\x1b<');
  await screen.until(() => top() === '❯ say alpha', 'the first message');
  screen.send('\x1b>');
  await screen.until((text) => text.includes('word400') && !text.includes('more below'));
});

test('a link that delivers every byte apart types, edits and scrolls the same', async () => {
  const session = await newSession(daemon());
  await using screen = await openScreen(daemon(), session);
  await say(screen, session, 'stream 2000 words', 'word2000');
  const sendApart = async (bytes: string): Promise<void> => {
    for (const byte of Buffer.from(bytes)) {
      screen.send(Buffer.of(byte));
      await pauseFor(10);
    }
  };
  await sendApart(`grün🙂${keys.left}${keys.left}!${pasted('a\nb')}`);
  await screen.until(() => editorOf(screen.rows()) === 'grü!a\nbn🙂', 'what was typed and pasted');
  await sendApart(mouse.wheelUp);
  await screen.until('more below');
  await sendApart('\x1b>');
  await screen.until((text) => !text.includes('more below'));
  expect(editorOf(screen.rows())).toBe('grü!a\nbn🙂');
});

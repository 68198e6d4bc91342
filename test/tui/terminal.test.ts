import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { shareDaemon } from '../support/shared-daemon.js';
import { modesLeft } from './escape-sequences.js';
import type { PtyScreen } from './pty-screen.js';
import { attach, editorOf, idleHint, keys, newSession, openScreen, pasted, transcriptOf } from './session-screens.js';

const daemon = shareDaemon();

/** The terminal is as it was before: nothing that a shell would trip over, and nothing that only the emulator knows. */
function expectRestored(screen: PtyScreen): void {
  expect(modesLeft(screen.bytes())).toEqual([]);
  expect(screen.isAlternate()).toBe(false);
  expect(screen.modes()).toEqual({
    applicationCursorKeysMode: false,
    applicationKeypadMode: false,
    bracketedPasteMode: false,
    insertMode: false,
    mouseTrackingMode: 'none',
    originMode: false,
    reverseWraparoundMode: false,
    sendFocusMode: false,
    synchronizedOutputMode: false,
    wraparoundMode: true,
  });
  expect(screen.bytes()).not.toContain('\x1b[3J');
}

describe('the terminal is given back', () => {
  test.each(['SIGTERM', 'SIGHUP'] as const)('on %s', async (signal) => {
    await using screen = await openScreen(daemon(), await newSession(daemon()));
    screen.send('a half text');
    await screen.until('a half text');
    screen.kill(signal);
    await screen.exited();
    expectRestored(screen);
    expect(screen.text()).toContain('comes back');
  });

  test('on an error that nobody catches, which is told where it can be read', async () => {
    const fault = join(daemon().root, 'fault.cjs');
    writeFileSync(fault, `process.on('SIGUSR2', () => setImmediate(() => { throw new Error('the mast broke'); }));`);
    await using screen = await openScreen(daemon(), await newSession(daemon()), { env: { NODE_OPTIONS: `--require ${fault}` } });
    screen.kill('SIGUSR2');
    const { exitCode } = await screen.exited();
    expectRestored(screen);
    expect(exitCode).toBe(70);
    expect(screen.text()).toContain('the mast broke');
  });
});

describe('any terminal', () => {
  test('a resize shows the same at every size, and below 20×6 says that it is too small', async () => {
    await using screen = await openScreen(daemon(), await newSession(daemon()));
    screen.send('say zebrafinch\r');
    await screen.until((text) => /zebrafinch[^]*zebrafinch/.test(text) && text.includes(idleHint));
    for (const [columns, rows] of [
      [40, 12],
      [250, 80],
      [20, 6],
      [100, 30],
    ] as const) {
      screen.resize(columns, rows);
      await screen.until(
        () =>
          /^❯/m.test(screen.text()) &&
          screen.rows().length === rows &&
          screen.rows().findIndex((row) => row === '─'.repeat(columns)) === rows - 3,
        `an editor at the bottom of ${columns}×${rows}`,
      );
      if (rows > 6) await screen.until(/zebrafinch[^]*zebrafinch/);
    }
    screen.resize(19, 6);
    await screen.until('too small: 19×6');
    screen.resize(60, 5);
    await screen.until('too small: 60×5, at least 20×6');
    screen.resize(100, 30);
    await screen.until(/zebrafinch[^]*zebrafinch[^]*❯ ask for something/);
    expect(screen.bytes()).not.toContain('\x1b[3J');
  });

  test('NO_COLOR takes all colours, and leaves what attributes say', async () => {
    const session = await newSession(daemon(), { title: 'monochrome' });
    await using screen = await openScreen(daemon(), session, { env: { NO_COLOR: '1' } });
    screen.send('say zebrafinch\r');
    await screen.until((text) => /zebrafinch[^]*zebrafinch/.test(text) && text.includes(idleHint));
    const cells = screen.cells().flat();
    expect(cells.filter(({ foreground, background }) => foreground !== undefined || background !== undefined)).toEqual([]);
    expect(cells.some(({ reverse }) => reverse)).toBe(true);
  });

  test('without NO_COLOR only the colours of the palette are used', async () => {
    await using screen = await openScreen(daemon(), await newSession(daemon()));
    await screen.until(idleHint);
    const colours = new Set(
      screen
        .cells()
        .flat()
        .flatMap(({ foreground, background }) => [foreground, background])
        .filter((colour) => colour !== undefined),
    );
    expect(colours.size).toBeGreaterThan(0);
    for (const colour of colours) expect(colour).toBeLessThan(16);
  });

  test('TERM=dumb gets the plain view, line by line', async () => {
    const session = await newSession(daemon());
    await using screen = attach(daemon(), session, { env: { TERM: 'dumb' } });
    await screen.until('offline/guide');
    screen.send('say zebrafinch\r');
    await screen.until(/zebrafinch[^]*zebrafinch/);
    expect(screen.isAlternate()).toBe(false);
    expect(screen.bytes()).not.toContain('\x1b[?1049h');
  });
});

describe('what a terminal sends', () => {
  test('a paste is never sent by the line ends in it, and goes out whole', async () => {
    await using screen = await openScreen(daemon(), await newSession(daemon()));
    screen.send(pasted('say one\r\ntwo\rthree'));
    await screen.until(() => editorOf(screen.rows()) === 'say one\ntwo\nthree', 'three lines in the editor');
    screen.send(keys.enter);
    await screen.until(
      () => transcriptOf(screen.rows()).join('\n').includes('❯ say one\n  two\n  three\n\none\ntwo\nthree'),
      'one message of three lines, and its answer',
    );
  });

  test('letters of every script, emoji and combined ones are typed as they are', async () => {
    await using screen = await openScreen(daemon(), await newSession(daemon()));
    const typed = 'grün 日本語 🙂 e\u0301 שלום';
    screen.send(typed);
    await screen.until(() => editorOf(screen.rows()) === typed, 'all of them');
  });
});

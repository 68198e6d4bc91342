import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { describe, expect, test } from 'vitest';
import { shareDaemon } from '../support/shared-daemon.js';
import type { TestDaemon } from '../support/daemon.js';
import { openPty, type PtyScreen, type PtySetup } from './pty-screen.js';

const daemon = shareDaemon();

async function newSession(): Promise<string> {
  const berth = await daemon().connect();
  const made = await berth.call('new_session', { cwd: daemon().workdir });
  berth.close();
  if (!made.ok) throw new Error(made.error.message);
  return made.payload.session_id;
}

function attach(session: string, more: Partial<PtySetup> = {}): PtyScreen {
  const { workdir: cwd, env }: TestDaemon = daemon();
  return openPty({ args: ['attach', session], cwd, env, ...more });
}

/** The transcript alone: what is between the header and the line above the editor. */
function transcriptOf(rows: readonly string[]): string[] {
  return rows.slice(
    1,
    rows.findIndex((row) => row.startsWith('──')),
  );
}

describe('the screen of a session', () => {
  test('a prompt is typed, answered and still there for a screen that comes later, row for row', async () => {
    const session = await newSession();
    await using first = attach(session);
    await first.until('ask for something');
    expect(first.isAlternate()).toBe(true);
    first.send('say zebrafinch');
    first.send('\r');
    await first.until(/zebrafinch[^]*zebrafinch/);
    await first.until((text) => !/answering|thinking/.test(text));
    await using second = attach(session);
    await second.until(/zebrafinch[^]*zebrafinch/);
    // Notices come and go between the transcript and the editor.
    await second.until(() => isDeepStrictEqual(transcriptOf(second.rows()), transcriptOf(first.rows())), 'the same transcript');
  });

  test('what is typed while a question arrives answers nothing and stays in the editor', async () => {
    const session = await newSession();
    await using screen = attach(session);
    await screen.until('ask for something');
    screen.send('run touch canary');
    screen.send('\r');
    for (const character of 'yes allow 1') screen.send(character);
    const text = await screen.until('Allow once');
    for (const character of ' a s w 1 2 y') screen.send(character);
    await screen.until('yes allow 1 a s w 1 2 y');
    expect(text).toContain('touch canary');
    expect(existsSync(join(daemon().workdir, 'canary'))).toBe(false);
  });

  test('an approval in one screen closes the card of the other, which says by whom', async () => {
    const session = await newSession();
    await using first = attach(session);
    await using second = attach(session);
    await Promise.all([first.until('ask for something'), second.until('ask for something')]);
    first.send('run echo approved-here');
    first.send('\r');
    await Promise.all([first.until('Allow once'), second.until('Allow once')]);
    // The card has the keyboard once it is focused on purpose.
    second.send('\x0f');
    await second.until('press a key to answer');
    second.send('a');
    const text = await first.until((shown) => !shown.includes('Allow once') && shown.includes('answered'));
    expect(text).toMatch(/the question was answered: allow_once by berth on pts/);
    await first.until('approved-here');
  });

  test('no byte deletes the scrollback, and leaving restores every mode', async () => {
    const session = await newSession();
    await using screen = attach(session);
    await screen.until('ask for something');
    screen.resize(60, 20);
    await screen.until('ask for');
    screen.resize(100, 30);
    screen.send('\x03\x03');
    await screen.exited();
    expect(screen.isAlternate()).toBe(false);
    expect(screen.bytes()).not.toContain('\x1b[3J');
    expect(screen.text()).toContain('berth attach');
  });

  test('keys of the transcript answer no question', async () => {
    const session = await newSession();
    await using screen = attach(session);
    await screen.until('ask for something');
    screen.send('ask me\r');
    await screen.until('north');
    screen.send('\x0f');
    await screen.until('press a key to answer');
    screen.send('1');
    await screen.until('Cast off now?');
    screen.send('\x1b');
    screen.send('\x1b[Z');
    await screen.until(' transcript ');
    screen.send('n');
    await screen.until('Search this session');
    screen.send('\x1b');
    await screen.until((text) => !text.includes('Search this session'));
    expect(screen.text()).toContain('Cast off now?');
  });
});

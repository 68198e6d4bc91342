import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startWithHeldModel, type HeldModelDaemon } from '../support/held-model.js';
import { foreignSequences, splitWritten } from './escape-sequences.js';
import { idleHint, keys, newSession, openScreen } from './session-screens.js';

let daemon: HeldModelDaemon;
beforeAll(async () => {
  daemon = await startWithHeldModel({ permissions: { mode: 'full' } });
});
afterAll(() => daemon[Symbol.asyncDispose]());

/** Each would change a title, a clipboard, a colour or the screen, or ask the terminal something, if it got there; the words tell them apart. */
const attacks = [
  '\x1b]0;PWNED\x07',
  '\x1b]52;c;UFdORUQ=\x07',
  '\x9d0;PWNED\x9c',
  '\x1b[2J\x1b[3J\x1b[H',
  '\x9b31m',
  '\x1b[48;2;1;2;3m',
  '\x1bP$q"p\x1b\\',
  '\x1b_Gi=1;UFdORUQ=\x1b\\',
  '\x1b_pi:c\x07',
  '\x1b]8;;http://evil.example\x07link\x1b]8;;\x07',
  '\x1b[?1049l',
  '\x1b[6n\x1b[c',
  '\x08\x08\x08\r\x0b\x0c\x7f',
  '\u202eevil\u2066',
  '\x1b',
].join(' PART ');

/** Nothing was written that the frontend does not write by itself, and no text has what acts on a terminal. */
function expectClean(bytes: string): void {
  expect(foreignSequences(bytes)).toEqual([]);
  const texts = splitWritten(bytes).flatMap(({ kind, bytes: text }) => (kind === 'text' || kind === 'osc' ? [text] : []));
  expect(texts.filter((text) => /[\u202a-\u202e\u2066-\u2069]/.test(text))).toEqual([]);
  expect(texts.filter((text) => /^\x1b\](0;PWNED|52;c;UFdORUQ=|8;)/.test(text))).toEqual([]); // eslint-disable-line no-control-regex
}

test('hostile text of a model, streaming and ended, stays text', async () => {
  await using screen = await openScreen(daemon, await newSession(daemon));
  const goOn = daemon.answerNext(
    `begin ${attacks}\n\n\`\`\`sh\n${attacks}\n\`\`\`\n\n| a | b |\n|---|---|\n| ${attacks} | c |\n\nEND`,
    'END',
  );
  screen.send('go\r');
  await screen.until('PART');
  goOn();
  await screen.until((text) => text.includes('END') && text.includes(idleHint));
  screen.send(keys.pageUp);
  await screen.until('begin');
  expectClean(screen.bytes());
});

test('hostile output and arguments of tools, and names of files, stay text', async () => {
  await using screen = await openScreen(daemon, await newSession(daemon));
  const name = `evil${attacks.replaceAll(/[/\0]/g, '')}`.slice(0, 60);
  writeFileSync(join(daemon.workdir, name), attacks);
  daemon.callNext('', 'bash', { command: `cat evil* # ${attacks}` })();
  daemon.callNext('', 'read', { path: name })();
  daemon.callNext('', 'write', { path: `${name}2`, content: attacks })();
  daemon.callNext('', attacks.slice(0, 40), { [attacks]: attacks })();
  daemon.answerNext('DONE');
  screen.send('go\r');
  await screen.until('Allow once');
  screen.send(keys.ctrl('o'));
  await screen.until('Esc back to the editor');
  screen.send('v');
  await screen.until('Esc close');
  screen.send(keys.escape);
  await screen.until('Esc back to the editor');
  screen.send('a');
  await screen.until((text) => text.includes('DONE') && text.includes(idleHint));
  screen.send('@evil');
  await screen.until('▸ ');
  expectClean(screen.bytes());
});

test('hostile names of a session and of another client, and messages of others, stay text', async () => {
  const other = await daemon.connect({ client: { name: `mate ${attacks}`.slice(0, 60), kind: `cli${attacks}`.slice(0, 30) } });
  const session = await newSession(daemon, { title: `title ${attacks}`.slice(0, 100) });
  const attached = await other.attach(session);
  const heard = (async () => {
    for await (const { kind } of attached) if (kind === 'gone') break;
  })();
  await using screen = await openScreen(daemon, session);
  await screen.until('with mate');
  const goOn = daemon.answerNext('one two', 'two');
  const sent = await other.call('prompt', { session_id: session, text: `ahoy ${attacks}`, wait: false });
  expect(sent.ok).toBe(true);
  await screen.until('one');
  await other.call('follow_up', { session_id: session, text: `later ${attacks}` });
  await screen.until('✓ later');
  screen.send('/clients\r');
  await screen.until('Clients');
  screen.send(keys.escape);
  await screen.until('✓ later');
  screen.send(keys.ctrl('s'));
  await screen.until(' Sessions ');
  expectClean(screen.bytes());
  expect(screen.title()).toContain('title');
  await other.call('abort', { session_id: session, reason: attacks.slice(0, 60) });
  goOn();
  attached.close();
  await heard;
});

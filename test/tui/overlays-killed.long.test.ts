import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { program } from '../support/daemon.js';
import { startWithHeldModel } from '../support/held-model.js';
import { editorOf, keys, newSession, openScreen } from './session-screens.js';

const banner = /reconnecting|no daemon/;

/** Each overlay by how it is opened, what it shows, and whether a call asks meanwhile. */
test.each<[string, string[], RegExp, { asks?: boolean }]>([
  ['the help', ['?'], / Help/, {}],
  ['the palette', [keys.ctrl('p')], / What can be done/, {}],
  ['the sessions', [keys.ctrl('s')], / Sessions/, {}],
  ['the models', ['/model\r'], / Model /, {}],
  ['the rules', ['/permissions\r'], / Rules/, {}],
  ['the tree', ['/tree\r'], / Messages/, {}],
  ['the changes', ['/diff\r'], / Changes since/, {}],
  ['the figures', ['/stats\r'], / Figures/, {}],
  ['the clients', ['/clients\r'], / Clients/, {}],
  ['the drafts', ['/draft\r'], / Drafts/, {}],
  ['a new name', ['/rename\r'], / Rename this session/, {}],
  ['the search', [keys.shiftTab, '/'], / Search/, {}],
  ['a whole question', [keys.ctrl('o'), 'v'], / Question /, { asks: true }],
  ['a reason', [keys.ctrl('o'), 'r'], /keep the text for later/, { asks: true }],
])(
  'the daemon is killed while %s is open: it is said, Esc closes it, and the screen goes on',
  async (_, opening, shown, { asks = false }) => {
    await using daemon = await startWithHeldModel();
    const session = await newSession(daemon);
    await using screen = await openScreen(daemon, session);
    if (asks) daemon.callNext('', 'bash', { command: 'touch canary' })();
    else daemon.answerNext('the first answer');
    screen.send('go\r');
    await screen.until(asks ? 'Allow once' : (text) => text.includes('the first answer') && text.includes('ask for something'));
    for (const [at, part] of opening.entries()) {
      screen.send(part);
      if (at + 1 < opening.length) await screen.until(asks ? 'Esc back to the editor' : ' transcript ');
    }
    await screen.until(shown);
    const said = screen.bytes().length;
    await daemon.kill9();
    try {
      await screen.until((text) => banner.test(screen.bytes().slice(said)) && !banner.test(text), 'a banner, and that it goes');
      expect(screen.text()).toMatch(shown);
      screen.send(keys.escape);
      await screen.until((text) => !shown.test(text), 'the overlay is closed');
      screen.send(pastedText);
      await screen.until(() => editorOf(screen.rows()) === 'typed after it', 'the editor has the keyboard');
      if (asks) await screen.until('Allow once');
    } finally {
      // The daemon that runs now was started by the screen.
      await promisify(execFile)(process.execPath, [program, 'daemon', 'stop'], { env: daemon.env });
    }
  },
);

const pastedText = '\x1b[200~typed after it\x1b[201~';

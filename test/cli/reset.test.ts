import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, test, vi } from 'vitest';
import { restoreSequence } from '../../src/view/terminal/restore-sequence.js';
import { missing } from '../needs.js';
import { program } from '../support/daemon.js';
import { makeHome, poll, runCommand } from './run-cli.js';
import { openTerminal, quote } from './screen.js';

vi.setConfig({ testTimeout: 90_000 });

test('without a terminal there is nothing to repair, and no daemon is started', async () => {
  await using home = makeHome();
  const { code, stderr } = await runCommand(home, ['reset'], { detached: true });
  expect({ code, stderr }).toEqual({ code: 1, stderr: 'berth: there is no terminal here to repair; run berth reset in it\n' });
  expect(await runCommand(home, ['daemon', 'status'])).toMatchObject({ code: 69 });
});

test('nothing of what was on the screen is wiped', () => {
  expect(restoreSequence).not.toContain('\u001b[3J');
  expect(restoreSequence).not.toContain('\u001bc');
  expect(restoreSequence).not.toContain('\u001b[2J');
});

describe.skipIf(missing('tmux'))('in a terminal (needs tmux)', () => {
  test('what a killed program left is undone: screen, cursor, mouse, keys, paste and echo', async () => {
    await using home = makeHome();
    const left = '\\033[?1049h\\033[?25l\\033[?1000h\\033[?1003h\\033[?1006h\\033[?2004h\\033[?1h\\033=';
    const wait = join(home.root, 'go-on');
    const reset = quote(process.execPath, program, 'reset');
    await using terminal = await openTerminal(
      home,
      `echo before; stty raw -echo; printf '${left}'; while [ ! -e ${wait} ]; do sleep 0.02; done; ${reset} </dev/null >${home.root}/out 2>&1; echo $? >${home.root}/code; exec sleep 1000`,
      { LC_ALL: 'C.UTF-8' },
    );
    const modes = '#{alternate_on} #{cursor_flag} #{mouse_any_flag} #{keypad_cursor_flag} #{keypad_flag}';
    await poll(
      () => terminal.ask(modes),
      (seen) => seen === '1 0 1 1 1',
    );
    await promisify(execFile)('touch', [wait]);
    await poll(
      () => terminal.ask(modes),
      (seen) => seen === '0 1 0 0 0',
    );
    const tty = await terminal.ask('#{pane_tty}');
    const settings = await poll(
      async () => (await promisify(execFile)('stty', ['-a', '-F', tty])).stdout.split(/\s+/),
      (seen) => seen.includes('echo'),
    );
    expect(settings).toEqual(expect.arrayContaining(['icanon', 'opost', 'icrnl', 'isig', 'iutf8']));
    expect(await terminal.text()).toContain('before\n');
    const code = await poll(
      () => readFileSync(join(home.root, 'code'), 'utf8'),
      (seen) => seen !== '',
    );
    expect({ code, printed: readFileSync(join(home.root, 'out'), 'utf8') }).toEqual({ code: '0\n', printed: '' });
  });
});

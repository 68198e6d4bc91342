import { spawnSync } from 'node:child_process';
import { constants, openSync, writeSync } from 'node:fs';
import { isatty } from 'node:tty';
import { restoreSequence } from '../../../view/terminal/restore-sequence.js';
import { exit, Refused } from '../../exit.js';
import type { Subcommand } from '../../subcommand.js';

export const reset: Subcommand = {
  usage: 'reset',
  hosts: 'ignored',
  summary: 'Repair a terminal that a killed full-screen program left behind: echo, cursor, mouse, keys and screen.',
  notes:
    'It needs no daemon and clears nothing: what is on the screen and in the scrollback stays. Where the enter key has no effect,\n' +
    'type berth reset and then ctrl-J, even if you do not see it.',
  examples: { 'berth reset': 'after kill -9 of a full-screen program' },
  run() {
    const terminal = openTerminalDevice();
    if (terminal === undefined) throw new Refused('there is no terminal here to repair; run berth reset in it');
    writeSync(terminal, restoreSequence);
    // In `sane`, the erase key deletes bytes.
    const { error } = spawnSync('stty', ['sane', ...(isUtf8(process.env) ? ['iutf8'] : [])], { stdio: [terminal, 'ignore', 'ignore'] });
    if (error) {
      throw new Refused(
        `the modes of the terminal are repaired, but not echo and line editing, because stty does not start: ${error.message}`,
        {
          cause: error,
        },
      );
    }
    return Promise.resolve(exit.ok);
  },
};

function isUtf8({ LC_ALL, LC_CTYPE, LANG }: NodeJS.ProcessEnv): boolean {
  const locale = [LC_ALL, LC_CTYPE, LANG].find((name) => name !== undefined && name !== '') ?? '';
  return /utf-?8/i.test(locale);
}

/** The terminal of this session, wherever the standard streams lead. */
function openTerminalDevice(): number | undefined {
  try {
    return openSync('/dev/tty', constants.O_RDWR | constants.O_NOCTTY);
  } catch (error) {
    if (!['ENXIO', 'ENOENT', 'EACCES', 'ENODEV'].includes(String((error as NodeJS.ErrnoException).code))) throw error;
    return [2, 1, 0].find((descriptor) => isatty(descriptor));
  }
}

import { spawnSync } from 'node:child_process';
import { isatty } from 'node:tty';
import { ok, warn, type Finding } from './finding.js';

const tuning = { answerMs: 400, tmuxMs: 2_000, escapeMsMax: 50 } as const;

/** What the terminal frontend needs of this terminal. */
export async function checkTerminal(env: NodeJS.ProcessEnv): Promise<Finding[]> {
  if (!isatty(0) || !isatty(1)) return [ok('terminal', 'none here: berth prints line by line')];
  const term = env.TERM ?? '';
  if (term === '' || term === 'dumb')
    return [warn('terminal', `TERM is ${term === '' ? 'not set' : 'dumb'}: berth prints line by line`, 'export TERM=xterm-256color')];
  const { columns, rows } = process.stdout;
  const keyboard = await asksForKeys();
  return [
    ok('terminal', `${term}, ${columns}×${rows}`),
    checkLocale(env),
    keyboard
      ? ok('keyboard', 'tells all keys apart (kitty protocol)')
      : ok('keyboard', 'cannot tell Shift-Enter from Enter; Ctrl-J and \\ Enter begin a new line anywhere'),
    ...(env.TMUX ? checkTmux() : []),
  ];
}

function checkLocale(env: NodeJS.ProcessEnv): Finding {
  const locale = [env.LC_ALL, env.LC_CTYPE, env.LANG].find((value) => value !== undefined && value !== '') ?? '';
  if (/utf-?8/i.test(locale)) return ok('locale', locale);
  return warn('locale', `${locale === '' ? 'none is set' : `${locale} is not UTF-8`}: only ASCII is shown`, 'export LANG=C.UTF-8');
}

/** Whether the terminal knows the kitty keyboard protocol: it answers that question before the one about its attributes, or not at all. */
function asksForKeys(): Promise<boolean> {
  const { stdin } = process;
  return new Promise((resolve) => {
    let heard = '';
    function done(): void {
      clearTimeout(timer);
      stdin.off('data', onData).pause().setRawMode(false);
      // eslint-disable-next-line no-control-regex -- an answer of a terminal begins with ESC
      resolve(/\u001b\[\?\d+u/.test(heard));
    }
    function onData(data: Buffer): void {
      heard += data.toString('latin1');
      // eslint-disable-next-line no-control-regex -- an answer of a terminal begins with ESC
      if (/\u001b\[\?[\d;]*c/.test(heard)) done();
    }
    const timer = setTimeout(done, tuning.answerMs);
    stdin.setRawMode(true).resume().on('data', onData);
    process.stdout.write('\u001b[?u\u001b[c');
  });
}

interface TmuxOption {
  name: string;
  isSet(value: string): boolean;
  line: string;
  cost: string;
}

const tmuxOptions: TmuxOption[] = [
  {
    name: 'set-clipboard',
    isSet: (value) => value === 'on',
    line: 'set -s set-clipboard on',
    cost: 'what is copied in berth does not reach the clipboard',
  },
  {
    name: 'extended-keys',
    isSet: (value) => value === 'on' || value === 'always',
    line: 'set -s extended-keys on',
    cost: 'Shift-Enter is Enter',
  },
  { name: 'focus-events', isSet: (value) => value === 'on', line: 'set -s focus-events on', cost: 'berth rings also while you look at it' },
  {
    name: 'escape-time',
    isSet: (value) => Number(value) <= tuning.escapeMsMax,
    line: 'set -s escape-time 10',
    cost: 'Esc takes half a second',
  },
];

function checkTmux(): Finding[] {
  const missing = tmuxOptions.filter(({ name, isSet }) => {
    const { stdout, status } = spawnSync('tmux', ['show-options', '-gsv', name], { encoding: 'utf8', timeout: tuning.tmuxMs });
    return status === 0 && !isSet(stdout.trim());
  });
  if (missing.length === 0) return [ok('tmux', 'set up')];
  return missing.map(({ name, line, cost }) => warn('tmux', `${name}: ${cost}`, `add to ~/.tmux.conf: ${line}`));
}

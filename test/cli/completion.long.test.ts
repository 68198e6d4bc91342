import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { describe, expect, test, vi } from 'vitest';
import { missing } from '../needs.js';
import { shareDaemon } from '../support/shared-daemon.js';
import { openPlace, runOk } from './run-cli.js';
import { openTerminal } from './screen.js';
import { shellEnv } from './shell-env.js';

vi.setConfig({ testTimeout: 90_000 });

const shared = shareDaemon();

describe.skipIf(missing('tmux'))('in a terminal (needs tmux)', () => {
  test('bash inserts what is completed, and lists what could be meant with what it is', async () => {
    await using daemon = openPlace(shared());
    const env = { ...shellEnv(daemon), PS1: '% ' };
    await runOk(daemon, ['new', '--title', 'the only one']);
    await using terminal = await openTerminal(daemon, 'exec bash --norc --noprofile -i', env);
    await terminal.type('source <(berth completion bash); echo rea""dy', 'Enter');
    await terminal.until((text) => text.includes('\nready\n'));
    await terminal.type('berth att', 'Tab');
    await terminal.until((text) => text.includes('% berth attach '));
    await terminal.type('th', 'Tab');
    await terminal.until((text) => text.includes('% berth attach the\\ only\\ one '));
    await terminal.type('C-u', 'berth re', 'Tab', 'Tab');
    await terminal.until((text) => /\nreplay {2}\(Play the log of a session again/.test(text));
  });
});

describe.skipIf(missing('fish'))('in fish (needs fish)', () => {
  test('the same is completed', async () => {
    await using daemon = openPlace(shared());
    const env = shellEnv(daemon);
    const session = (await runOk(daemon, ['new', '--title', 'a title'])).trim().slice(4, 14);
    const lines = [
      'berth resu',
      'berth permissions dis',
      'berth run --appr',
      'berth run --approve ',
      'berth attach ',
      'berth attach a',
      'berth new --mode=re',
      'berth mode . f',
    ];
    const script = ['berth completion fish | source', ...lines.map((line) => `complete -C '${line}'; echo`)].join('\n');
    const { stdout } = await promisify(execFile)('fish', ['--no-config', '-c', script], { env, cwd: daemon.workdir });
    const words = stdout.split('\n\n').map((part) => part.split('\n').flatMap((line) => line.split('\t')[0] ?? []));
    expect(words.slice(0, lines.length)).toEqual([
      ['resume'],
      ['distrust'],
      ['--approve'],
      ['allow-once', 'ask', 'deny'],
      [session],
      ['a title'],
      ['--mode=read_only'],
      ['full'],
    ]);
  });
});

describe.skipIf(missing('zsh') || missing('tmux'))('in zsh (needs zsh and tmux)', () => {
  test('the same is completed', async () => {
    await using daemon = openPlace(shared());
    const env = { ...shellEnv(daemon), PS1: '%% ' };
    await runOk(daemon, ['new', '--title', 'the only one']);
    await using terminal = await openTerminal(daemon, 'exec zsh -f -i', env);
    await terminal.type('autoload -U compinit; compinit -D; source <(berth completion zsh); echo rea""dy', 'Enter');
    await terminal.until((text) => text.includes('\nready\n'));
    await terminal.type('berth att', 'Tab');
    await terminal.until((text) => text.includes('% berth attach '));
    await terminal.type('the', 'Tab');
    await terminal.until((text) => text.includes('% berth attach the\\ only\\ one '));
    await terminal.type('--obs', 'Tab');
    await terminal.until((text) => text.includes('one --observe '));
    await terminal.type('C-u', 'berth new --mode=aut', 'Tab');
    await terminal.until((text) => text.includes('% berth new --mode=auto_edit '));
    await terminal.type('C-u', 'berth re', 'Tab');
    await terminal.until((text) => /\nreplay {2}-- Play the log of a session again/.test(text));
  });
});

import { configPath } from '../../../machine/config-path.js';
import { printable, printableLine } from '../../../view/printable.js';
import { exit } from '../../exit.js';
import { shortenHome } from '../../home-path.js';
import type { Cli, Subcommand } from '../../subcommand.js';
import { readStdin } from '../../terminal/stdin.js';
import { loadSettings, orSettingRefused } from './load-settings.js';

interface Args {
  key: string;
  value: string;
}

export const configSet: Subcommand = {
  usage: 'config set <key> <value>',
  hosts: 'refused',
  summary: 'Set a key of config.json. Comments and order stay.',
  notes:
    'VALUE is JSON, or a text; - reads it from standard input. A value that the config cannot have is refused, and nothing is written.\n' +
    'A daemon that runs uses it at once; sessions keep what they were made with. A link is followed, and the mode of the file stays.',
  examples: {
    'berth config set permissions.mode auto_edit': 'for new sessions',
    'berth config set limits.model_attempts 4': 'a number',
    'berth config set sandbox.writable \'["~/.cache/go-build"]\'': 'a list',
  },
  async run({ key, value }: Args, cli) {
    const { changeSetting } = await loadSettings();
    const given = value === '-' ? { value: (await readStdin(cli.notice)).replace(/\r?\n$/, ''), isTyped: false } : { value, isTyped: true };
    const { changed, left } = orSettingRefused(await changeSetting(cli.paths.configDir, key, given));
    cli.print(`${changed ? 'set' : 'was set already:'} ${printableLine(key)} in ${fileText(cli)}`);
    noticeLeft(cli, left);
    return exit.ok;
  },
};

export const configUnset: Subcommand = {
  usage: 'config unset <key>',
  hosts: 'refused',
  summary: 'Remove a key from config.json, so that its default counts. Comments and order stay.',
  examples: {
    'berth config unset permissions.mode': 'back to the default',
  },
  async run({ key }: Pick<Args, 'key'>, cli) {
    const { changeSetting } = await loadSettings();
    const { changed, left } = orSettingRefused(await changeSetting(cli.paths.configDir, key, 'unset'));
    cli.print(`${changed ? 'removed' : 'was not set:'} ${printableLine(key)} ${changed ? 'from' : 'in'} ${fileText(cli)}`);
    noticeLeft(cli, left);
    return exit.ok;
  },
};

function fileText({ paths }: Cli): string {
  return printable(shortenHome(configPath(paths.configDir)));
}

function noticeLeft(cli: Cli, left: readonly { message: string; line: number; column: number }[]): void {
  for (const { message, line, column } of left) cli.notice(printableLine(`still wrong at line ${line}, column ${column}: ${message}`));
}

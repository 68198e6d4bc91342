import { configPath } from '../../../machine/config-path.js';
import { printable, printableLine } from '../../../view/printable.js';
import { exit, type ExitCode } from '../../exit.js';
import { shortenHome } from '../../home-path.js';
import type { Cli, Subcommand } from '../../subcommand.js';
import { loadSettings, orSettingRefused } from './load-settings.js';

interface Args {
  json?: true;
}

export const configCheck: Subcommand = {
  usage: 'config check',
  hosts: 'refused',
  summary: 'Say what is wrong with config.json, as path:line:column. The exit code is 1 when something is.',
  options: { '--json': 'print one problem a line as JSON' },
  notes: 'Files that the config names and rules that never match are told by berth daemon status.',
  examples: {
    'berth config check': 'before a commit of your dotfiles',
  },
  run: ({ json }: Args, cli) => checkConfigFile(cli, json === true),
};

/** Prints the problems of config.json. */
export async function checkConfigFile(cli: Cli, json: boolean): Promise<ExitCode> {
  const { checkSettings } = await loadSettings();
  const { problems, isMissing } = orSettingRefused(checkSettings(cli.paths.configDir));
  const path = configPath(cli.paths.configDir);
  for (const { message, line, column } of problems) {
    if (json) cli.printJson({ path, line, column, message });
    else cli.print(`${printable(path)}:${line}:${column}: ${printableLine(message)}`);
  }
  if (problems.length > 0) return exit.refused;
  if (!json) cli.print(`${printable(shortenHome(path))} ${isMissing ? 'does not exist: the defaults count' : 'is right'}`);
  return exit.ok;
}

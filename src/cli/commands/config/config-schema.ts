import { configPath } from '../../../machine/config-path.js';
import { printable } from '../../../view/printable.js';
import { exit } from '../../exit.js';
import type { Subcommand } from '../../subcommand.js';
import { loadSettings } from './load-settings.js';

export const configSchema: Subcommand = {
  usage: 'config schema',
  hosts: 'ignored',
  summary: 'Print the JSON Schema of config.json, with which editors complete and check it.',
  notes: 'Name the file that you keep it in as "$schema" in config.json: "$schema": "./config.schema.json"',
  examples: {
    'berth config schema > ~/.config/berth/config.schema.json': 'beside config.json',
  },
  async run(_args, cli) {
    cli.print((await loadSettings()).settingsSchemaText().trimEnd());
    return exit.ok;
  },
};

export const configPathCommand: Subcommand = {
  usage: 'config path',
  hosts: 'refused',
  summary: 'Print where config.json is, or would be.',
  examples: {
    'cat "$(berth config path)"': 'what is in it',
  },
  run(_args, cli) {
    cli.print(printable(configPath(cli.paths.configDir)));
    return Promise.resolve(exit.ok);
  },
};

import { readAuthFile } from '../../../machine/auth-file.js';
import type { Setting } from '../../../machine/config/settings.js';
import { printable, printableLine } from '../../../view/printable.js';
import { alignColumns } from '../../terminal/columns.js';
import { exit } from '../../exit.js';
import type { Cli, Subcommand } from '../../subcommand.js';
import { loadSettings, orSettingRefused } from './load-settings.js';

interface Args {
  key?: string;
  reveal?: true;
  json?: true;
}

/** The variables that hold keys of the built-in providers. */
const variables = { anthropic: 'ANTHROPIC_API_KEY', openai: 'OPENAI_API_KEY' };

export const configGet: Subcommand = {
  usage: 'config get [key]',
  hosts: 'refused',
  summary: 'Print the value of a key and where it comes from: config.json, the default, auth.json or the environment.',
  options: {
    '--reveal': 'show keys of providers and values of headers, too',
    '--json': 'print one key a line as JSON',
  },
  notes:
    'Without KEY, all of them. A name with dots is quoted: providers."my.host".api. The value of a single key is alone on standard output.\n' +
    'Keys of providers that auth.json or the environment of this shell has are never shown.',
  examples: {
    'berth config get': 'everything',
    'berth config get permissions': 'a part of it',
    'berth config get limits.runs_at_once': 'one value',
  },
  async run({ key, reveal, json }: Args, cli) {
    const { getSettings } = await loadSettings();
    const { settings } = orSettingRefused(getSettings(cli.paths.configDir, key, { reveal: reveal === true }));
    const [only] = settings;
    if (json) {
      for (const { description: _description, line, ...setting } of settings) {
        cli.printJson({ ...setting, value: setting.value ?? null, ...(line === undefined ? {} : { line }) });
      }
      if (key === undefined) for (const { name, source } of keysElsewhere(cli, settings)) cli.printJson({ key: name, value: null, source });
    } else if (only && only.key === key) printOne(cli, only);
    else {
      const rows = settings.map((setting) => [setting.key, textOf(setting.value), placeOf(setting)]);
      if (key === undefined) rows.push(...keysElsewhere(cli, settings).map(({ name, text }) => [name, '[hidden]', text]));
      for (const line of alignColumns(rows.map((cells) => cells.map(printableLine)))) cli.print(line);
    }
    return exit.ok;
  },
};

function printOne(cli: Cli, setting: Setting): void {
  const { value, source, description } = setting;
  if (value === undefined) cli.notice(printable(`${setting.key} is not set. ${description}`));
  else {
    cli.print(printable(textOf(value)));
    if (source === 'default') cli.notice('this is the default');
  }
}

function textOf(value: unknown): string {
  if (value === undefined) return '-';
  return typeof value === 'string' ? value : JSON.stringify(value);
}

function placeOf({ source, line }: Setting): string {
  if (source === 'file') return `config.json, line ${line}`;
  return source === 'default' ? 'default' : 'not set';
}

/** The keys of providers that config.json does not have. */
function keysElsewhere({ paths }: Cli, settings: readonly Setting[]): { name: string; source: string; text: string }[] {
  const stored = readAuthFile(paths.configDir).providers;
  const keyOf = (provider: string): string => `providers.${provider}.api_key`;
  const inEnvironment = Object.entries(variables).filter(
    ([provider, variable]) => (process.env[variable] ?? '').trim() !== '' && !stored.includes(provider),
  );
  return [
    ...stored.map((provider) => ({ name: keyOf(provider), source: 'auth_file', text: 'auth.json' })),
    ...inEnvironment.map(([provider, variable]) => ({
      name: keyOf(provider),
      source: 'environment',
      text: `${variable} in the environment of this shell; the daemon sees its own`,
    })),
  ].filter(({ name }) => !settings.some(({ key, source }) => key === name && source === 'file'));
}

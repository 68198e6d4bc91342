import { AuthFileRefused, authPath, readAuthFile, type AuthFile } from '../../../machine/auth-file.js';
import { printable, printableLine } from '../../../view/printable.js';
import { alignColumns, clipColumns } from '../../terminal/columns.js';
import { exit } from '../../exit.js';
import { shortenHome } from '../../home-path.js';
import type { Subcommand } from '../../subcommand.js';

interface Args {
  json?: true;
}

const layout = { nameColumnsMax: 64 } as const;
const variables = { anthropic: 'ANTHROPIC_API_KEY', openai: 'OPENAI_API_KEY' };

export const authList: Subcommand = {
  usage: 'auth list',
  hosts: 'refused',
  alias: 'ls',
  summary: 'Say which providers have a key that was kept with berth auth set. Nothing of a key is shown.',
  options: { '--json': 'print one key a line as JSON' },
  notes:
    'anthropic and openai are there without any config; a provider that config.json names can have a key too.\n' +
    'ANTHROPIC_API_KEY and OPENAI_API_KEY are looked up in this shell. The daemon sees those it was started with.\n' +
    'A key in config.json counts before one that is kept here; berth models says which providers can be used.',
  examples: {
    'berth auth list': 'which providers have a key',
  },
  run({ json }: Args, { paths: { configDir }, print, printJson }) {
    const path = authPath(configDir);
    const file = readAuthFile(configDir);
    const kept = file.providers.map((provider) => ({ provider, usable: isUsable(file, provider) }));
    const set = Object.entries(variables).filter(([, variable]) => (process.env[variable] ?? '').trim() !== '');
    if (json) {
      for (const { provider, usable } of kept) printJson({ provider, source: 'file', path, usable });
      for (const [provider, variable] of set) printJson({ provider, source: 'environment', variable });
      return Promise.resolve(exit.ok);
    }
    const rows = [
      ...kept.map(({ provider, usable }) => [provider, shortenHome(path) + (usable ? '' : ' (cannot be used; set it again)')]),
      ...set.map(([provider, variable]) => [provider, `${variable} in the environment of this shell; the daemon sees its own`]),
    ];
    const cells = rows.map(([name = '', from = '']) => [clipColumns(printableLine(name), layout.nameColumnsMax), printable(from)]);
    for (const line of alignColumns(cells)) print(line);
    if (rows.length === 0) print('No keys are kept. Add one with berth auth set anthropic or berth auth set openai.');
    return Promise.resolve(exit.ok);
  },
};

function isUsable(file: AuthFile, provider: string): boolean {
  try {
    return file.keyOf(provider) !== undefined;
  } catch (error) {
    if (error instanceof AuthFileRefused) return false;
    throw error;
  }
}

import { authPath, removeKey } from '../../../machine/auth-file.js';
import { printable } from '../../../view/printable.js';
import { checkProvider } from './auth-set.js';
import { exit, Refused } from '../../exit.js';
import { shortenHome } from '../../home-path.js';
import type { Subcommand } from '../../subcommand.js';

interface Args {
  provider: string;
}

export const authRm: Subcommand = {
  usage: 'auth rm <provider>',
  hosts: 'refused',
  summary: 'Remove the API key of a provider.',
  notes:
    'PROVIDER is one that berth auth list says is in auth.json. A running daemon does without the key from its next request on;\n' +
    'one that it was started with in ANTHROPIC_API_KEY or OPENAI_API_KEY stays.',
  examples: {
    'berth auth rm openai': 'forget it',
  },
  async run({ provider }: Args, { paths: { configDir }, print }) {
    checkProvider(provider);
    const path = printable(shortenHome(authPath(configDir)));
    if (!(await removeKey(configDir, provider)))
      throw new Refused(`there is no key for ${provider} in ${path}; berth auth list says which there are`);
    print(`removed the key for ${provider} from ${path}`);
    return exit.ok;
  },
};

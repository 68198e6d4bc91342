import { printable } from '../../../view/printable.js';
import { exit } from '../../exit.js';
import { orRefused } from '../../refusals.js';
import type { Subcommand } from '../../subcommand.js';

interface Args {
  id: string[];
  json?: true;
}

export const permissionsRm: Subcommand = {
  usage: 'permissions rm <id...>',
  summary: 'Remove rules that were added or remembered.',
  options: { '--json': 'print one answer a line as JSON' },
  notes: 'ID is what berth permissions ls lists. Rules of a config file have none; they are changed there.',
  examples: {
    'berth permissions rm 3 4': 'two rules that berth permissions ls lists',
  },
  async run({ id: ids, json }: Args, cli) {
    const berth = await cli.connect();
    let wrong = 0;
    for (const permission_id of new Set(ids)) {
      const reply = await berth.call('remove_permission', { permission_id });
      if (!reply.ok && reply.error.code === 'invalid_payload') {
        wrong++;
        cli.printError(`berth: there is no rule ${printable(permission_id)}; see berth permissions ls`);
        continue;
      }
      const done = orRefused(reply);
      if (json) cli.printJson(done);
      else cli.print(`removed ${printable(done.permission_id)}`);
    }
    return wrong === 0 ? exit.ok : exit.refused;
  },
};

import { readConfigText } from '../../../machine/config-text.js';
import type { Berth } from '../../../client/connect.js';
import type { ReplyPayload } from '../../../protocol/commands/commands.js';
import { printable, printableLine } from '../../../view/printable.js';
import { confirm } from '../../terminal/confirm.js';
import { currentDirectory, toDirectory } from '../../directory.js';
import { exit, Refused } from '../../exit.js';
import { shortenHome } from '../../home-path.js';
import { orRefused } from '../../refusals.js';
import type { Cli, Subcommand } from '../../subcommand.js';

interface Args {
  dir?: string;
  yes?: true;
  json?: true;
}

type Config = NonNullable<ReplyPayload<'list_permissions'>['workspace_config']>;

export const permissionsTrust: Subcommand = {
  usage: 'permissions trust [dir]',
  hosts: 'refused',
  summary: "Let a directory's own config count, as it is now.",
  options: { '-y, --yes': 'do not ask', '--json': 'print the answer as JSON' },
  notes: [
    'DIR is this directory unless told. Its .berth/config.json is shown first; it counts for nothing until somebody trusts it, and not',
    'any more once it has changed. berth permissions distrust takes it back.',
  ].join('\n'),
  examples: {
    'berth permissions trust': 'this directory, after you have read its config',
    'berth permissions trust ~/src/app --yes': 'another, unread',
  },
  async run({ dir, yes, json }: Args, cli) {
    const cwd = dir === undefined ? currentDirectory() : toDirectory(dir);
    const berth = await cli.connect();
    const { own, warnings } = await findConfig(berth, cwd);
    const path = printableLine(shortenHome(own.path));
    if (own.problem !== null) throw new Refused(`${path} cannot be used: ${own.problem}`);
    const show = json ? cli.printError : cli.print;
    const text = readShown(own);
    show(`${path}${own.trusted === true ? ' (trusted already)' : ''} says:`);
    for (const line of printable(text).replace(/\n$/, '').split('\n')) show(`  ${line}`);
    for (const warning of warnings.filter((one) => one.startsWith(own.path))) show(printableLine(warning));
    if (!yes && own.trusted !== true) {
      if (!process.stdin.isTTY) throw new Refused(`${path} would count from now on; say so with --yes`);
      if (!(await confirm('Trust it? [y/N] '))) throw new Refused('nothing was changed');
    }
    return setTrust(cli, berth, { cwd, digest: own.digest, trusted: true }, json);
  },
};

export const permissionsDistrust: Subcommand = {
  usage: 'permissions distrust [dir]',
  hosts: 'refused',
  summary: "Let a directory's own config count for nothing.",
  options: { '--json': 'print the answer as JSON' },
  notes: 'DIR is this directory unless told. Nobody is asked about it again until it changes; berth permissions trust takes it back.',
  examples: {
    'berth permissions distrust': 'this directory',
  },
  async run({ dir, json }: Args, cli) {
    const cwd = dir === undefined ? currentDirectory() : toDirectory(dir);
    const berth = await cli.connect();
    const { digest } = (await findConfig(berth, cwd)).own;
    return setTrust(cli, berth, { cwd, digest, trusted: false }, json);
  },
};

async function findConfig(berth: Berth, cwd: string): Promise<{ own: Config; warnings: string[] }> {
  const { workspace, workspace_config: own, warnings = [] } = orRefused(await berth.call('list_permissions', { cwd }));
  if (!own) throw new Refused(`${shortenHome(workspace)} has no config of its own (.berth/config.json)`);
  return { own, warnings };
}

/** The text of the config file, if it has the digest that the daemon reported. */
function readShown({ path, digest }: Config): string {
  const text = readConfigText(path, digest);
  if (text === undefined) throw new Refused(`${path} was changed just now; look at it again`);
  return text;
}

async function setTrust(
  cli: Cli,
  berth: Berth,
  wanted: { cwd: string; digest: string; trusted: boolean },
  json: true | undefined,
): Promise<typeof exit.ok> {
  const done = orRefused(await berth.call('set_trust', wanted));
  if (json) cli.printJson(done);
  else
    cli.print(
      `the config of ${printableLine(shortenHome(done.workspace))} ${done.trusted ? 'counts until it changes' : 'counts for nothing'}`,
    );
  return exit.ok;
}

import { NoDaemon } from '../../../client/errors.js';
import { formatAge } from '../../../view/durations.js';
import type { ReplyPayload } from '../../../protocol/commands/commands.js';
import { printable } from '../../../view/printable.js';
import { formatBytes } from '../../byte-size.js';
import { alignColumns } from '../../terminal/columns.js';
import { exit } from '../../exit.js';
import { shortenHome } from '../../home-path.js';
import { orRefused } from '../../refusals.js';
import type { Subcommand } from '../../subcommand.js';
import { refuseIdleService } from './idle-service.js';

type StoreFacts = NonNullable<ReplyPayload<'get_daemon'>['store']>;

interface Args {
  json?: true;
}

export const daemonStatus: Subcommand = {
  usage: 'daemon status',
  summary: 'Say whether a daemon runs, and where its things are.',
  options: { '--json': 'print what is known as JSON' },
  notes: 'The exit code is 69 when none runs.',
  examples: {
    'berth daemon status': 'pid, socket, log and config',
  },
  async run({ json }: Args, cli) {
    try {
      await refuseIdleService(cli.paths);
      const berth = await cli.connect({ autostart: false });
      const found = orRefused(await berth.call('get_daemon'));
      if (json) {
        cli.printJson({ running: true, ...found });
        return exit.ok;
      }
      const rows = [
        [
          'running',
          `version ${found.version}, pid ${found.pid}, for ${formatAge(Date.now() - Date.parse(found.started_at))}${found.draining ? ', takes no new runs' : ''}`,
        ],
        ['socket', found.socket],
        ...(typeof found.unit === 'string' ? [['service', `${found.unit} of systemd`]] : []),
        ...(found.peer_check === undefined ? [] : [['other users', peerChecks[found.peer_check]]]),
        ['data', found.state_dir],
        ['log', found.log_file],
        ['config', found.config_dir],
        ...(found.config_problem === null
          ? []
          : [['config not read', `${found.config_problem}; the one before it counts until it is mended`]]),
        ...(found.config_stale === true && found.config_problem === null
          ? [['config changed', 'config.json was changed after it was read; berth daemon reload reads it']]
          : []),
        ...(found.config_warnings ?? []).map((warning) => ['config warning', warning]),
        ...(found.store ? [['store', storeText(found.store)]] : []),
        ...(found.store?.warnings ?? []).map((warning) => ['store warning', warning]),
        ['model', found.model],
        ['now', `${count(found.sessions, 'session')}, ${count(found.runs, 'run')} in progress, ${count(found.clients, 'client')}`],
      ];
      for (const line of alignColumns(rows.map(([name = '', value = '']) => [name, printable(shortenHome(value))]))) cli.print(line);
      return exit.ok;
    } catch (error) {
      if (error instanceof NoDaemon && json) cli.printJson({ running: false, socket: cli.paths.socket });
      throw error;
    }
  },
};

const peerChecks = {
  directory: 'kept out by the owner and mode of the socket directory',
  credentials: 'kept out by their credentials',
};

function storeText({ db_bytes, wal_bytes, artifact_bytes, log_bytes, free_bytes }: StoreFacts): string {
  const parts = [
    `database ${formatBytes(db_bytes + wal_bytes)}`,
    `long outputs ${formatBytes(artifact_bytes)}`,
    `log ${formatBytes(log_bytes)}`,
  ];
  return `${parts.join(', ')}; ${formatBytes(free_bytes)} free on the disk`;
}

function count(many: number, what: string): string {
  return `${many} ${what}${many === 1 ? '' : 's'}`;
}

import { printableJson } from '../../../view/printable.js';
import { homeOrRoot } from '../../../machine/home.js';
import { currentDirectory, toDirectory } from '../../directory.js';
import { toErrorLine } from '../../error-line.js';
import { exit } from '../../exit.js';
import type { Subcommand } from '../../subcommand.js';

interface Args {
  workdir?: string;
  check?: true;
  json?: true;
}

export const daemonRun: Subcommand = {
  usage: 'daemon run',
  hosts: 'refused',
  summary: 'Be the daemon, in the foreground.',
  options: {
    '--workdir <dir>': 'where sessions work that name no directory (default: this one; under a service, the home directory)',
    '--check': 'only find out whether it could start here, beside one that runs, and say why not',
    '--json': 'say that it is ready, or why not, as JSON',
  },
  notes: 'One line on standard output says that it is ready. SIGTERM stops it, SIGHUP makes it read its config again.',
  examples: {
    'berth daemon run --workdir ~/src': 'for a service manager',
    'berth daemon run --check': 'could it start?',
  },
  async run({ workdir, check, json }: Args, cli) {
    const { paths } = cli;
    const onRefused = (code: string, sentence: string): boolean =>
      process.stderr.write(json ? toErrorLine(code, sentence) : `berth: ${sentence}\n`);
    const dir = toDirectory(workdir ?? defaultWorkdir());
    const { checkDaemon, runDaemon } = await import('../../../daemon/main.js');
    if (check) {
      const exitCode = await checkDaemon({ paths, onRefused });
      if (exitCode === exit.ok) cli.print(json ? printableJson({ startable: true }) : 'a daemon can start here');
      process.exit(exitCode);
    }
    // The daemon handles uncaught exceptions itself.
    process.removeAllListeners('uncaughtException');
    // Through process.stdout, whose EPIPE the daemon ignores.
    const ready = json ? printableJson({ ready: true, socket: paths.socket, pid: process.pid }) : `berth is ready on ${paths.socket}`;
    const onReady = (): boolean => process.stdout.write(`${ready}\n`);
    process.exit(await runDaemon({ paths, workdir: dir, onReady, onRefused }));
  },
};

/** systemd (INVOCATION_ID) starts services in /, which is no workspace. */
function defaultWorkdir(): string {
  return process.env.INVOCATION_ID === undefined ? currentDirectory() : homeOrRoot(process.env);
}

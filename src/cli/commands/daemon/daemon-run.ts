import { printableJson } from '../../../view/printable.js';
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
  summary: 'Be the daemon, in the foreground.',
  options: {
    '--workdir <dir>': 'where sessions work that name no directory (default: this one; under a service, the home directory)',
    '--check': 'only find out whether it could start here, beside one that runs, and say why not',
    '--json': 'say that it is ready, or why not, as JSON',
  },
  notes: 'One line on standard output says that it is ready. SIGTERM stops it, SIGHUP makes it read its config again.',
  async run({ workdir, check, json }: Args, cli) {
    const { paths } = cli;
    const onRefused = (code: string, sentence: string): boolean =>
      process.stderr.write(json ? toErrorLine(code, sentence) : `berth: ${sentence}\n`);
    const dir = toDirectory(workdir ?? (await defaultWorkdir()));
    const { checkDaemon, runDaemon } = await import('../../../daemon/main.js');
    if (check) {
      const exitCode = await checkDaemon({ paths, onRefused });
      if (exitCode === exit.ok) cli.print(json ? printableJson({ startable: true }) : 'a daemon can start here');
      process.exit(exitCode);
    }
    // From here on the daemon says itself what a bug does.
    process.removeAllListeners('uncaughtException');
    // Through the stream, whose errors the daemon passes over: that nobody reads is no reason to stop.
    const ready = json ? printableJson({ ready: true, socket: paths.socket, pid: process.pid }) : `berth is ready on ${paths.socket}`;
    const onReady = (): boolean => process.stdout.write(`${ready}\n`);
    process.exit(await runDaemon({ paths, workdir: dir, onReady, onRefused }));
  },
};

/** systemd starts services in the root directory, which is nobody's workspace. */
async function defaultWorkdir(): Promise<string> {
  return process.env.INVOCATION_ID === undefined ? currentDirectory() : (await import('node:os')).homedir();
}

import { currentDirectory, toDirectory } from './directory.js';
import type { Subcommand } from './subcommand.js';

interface Args {
  workdir?: string;
}

export const daemonRun: Subcommand = {
  usage: 'daemon run',
  summary: 'Be the daemon, in the foreground.',
  options: { '--workdir <dir>': 'where sessions work that name no directory (default: this one; under a service, the home directory)' },
  notes: 'One line on standard output says that it is ready. SIGTERM stops it, SIGHUP makes it read its config again.',
  async run({ workdir }: Args, { paths }) {
    const dir = toDirectory(workdir ?? (await defaultWorkdir()));
    const { runDaemon } = await import('../daemon/main.js');
    // From here on the daemon says itself what a bug does.
    process.removeAllListeners('uncaughtException');
    // Through the stream, whose errors the daemon passes over: that nobody reads is no reason to stop.
    const onReady = (): boolean => process.stdout.write(`berth is ready on ${paths.socket}\n`);
    process.exit(await runDaemon({ paths, workdir: dir, onReady }));
  },
};

/** systemd starts services in the root directory, which is nobody's workspace. */
async function defaultWorkdir(): Promise<string> {
  return process.env.INVOCATION_ID === undefined ? currentDirectory() : (await import('node:os')).homedir();
}

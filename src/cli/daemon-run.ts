import { resolvePaths } from '../client/paths.js';
export async function runDaemonCommand(): Promise<number> {
  const { runDaemon } = await import('../daemon/main.js');
  const code = await runDaemon({
    paths: resolvePaths({}, process.env),
    workdir: process.cwd(),
    onReady: () => process.stdout.write('ready\n'),
  });
  process.exit(code);
}

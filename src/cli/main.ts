import { runDaemonCommand } from './daemon-run.js';
process.exitCode = await runDaemonCommand();

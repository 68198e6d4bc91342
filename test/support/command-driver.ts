import { appendFileSync } from 'node:fs';
import { createBashTool } from '../../src/tools/shell/bash.js';
import { confine, memoryLedger, testProcesses } from './commands.js';
import { trees, withSeconds } from './process-trees.js';
import { watchStalls } from './processor-time.js';
import { parseArgs, toolContext, workspaceReach } from './tool-context.js';

/**
 * A small stand-in for the daemon, to be killed or measured: `crash <dir> <kind> <seconds>` starts all trees, notes them in `<dir>/ledger`
 * and says `ready`; `flood <dir> <kind> <command>` runs one command and tells what it cost.
 */
const [task = '', dir = '', kind = '', argument = ''] = process.argv.slice(2);
const confinement = confine(kind as 'sandbox' | 'bare', dir);
const context = { cwd: dir, reach: { ...workspaceReach(dir), confinement } };

if (task === 'crash') {
  const ledger = { ...memoryLedger(), note: (row: unknown): void => appendFileSync(`${dir}/ledger`, `${JSON.stringify(row)}\n`) };
  const bash = createBashTool({ processes: testProcesses(dir, {}, { ledger }) });
  const waiting = trees.filter((tree) => !tree.leaves && (kind !== 'bare' || tree.notBare === undefined));
  let ready = 0;
  for (const [i, tree] of waiting.entries()) {
    let heard = '';
    const output = (text: string): void => {
      if (heard.includes('ready')) return;
      heard += text;
      if (heard.includes('ready') && ++ready === waiting.length) process.stdout.write('ready\n');
    };
    void bash.run({ command: withSeconds(tree.command, Number(argument)) }, toolContext({ ...context, toolCallId: `call_${i}`, output }));
  }
} else {
  const bash = createBashTool({ processes: testProcesses(dir) });
  await bash.run({ command: 'echo warm' }, toolContext(context));
  globalThis.gc?.();
  const longestStallMs = watchStalls();
  const before = process.memoryUsage.rss();
  let most = before;
  let shown = 0;
  let pieces = 0;
  const watch = setInterval(() => (most = Math.max(most, process.memoryUsage.rss())), 10);
  const output = (text: string): void => {
    shown += text.length;
    pieces++;
  };
  const fromMs = performance.now();
  const { content, isError, details } = await bash.run(parseArgs(bash, JSON.parse(argument)), toolContext({ ...context, output }));
  const ms = performance.now() - fromMs;
  clearInterval(watch);
  most = Math.max(most, process.memoryUsage.rss());
  const block = content[0];
  const text = block?.type === 'text' ? block.text : '';
  process.stdout.write(JSON.stringify({ grownBytes: most - before, stallMs: longestStallMs(), ms, shown, pieces, text, isError, details }));
}

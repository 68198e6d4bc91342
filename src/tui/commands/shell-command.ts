import { spawn } from 'node:child_process';
import { limits } from '../../protocol/limits.js';
import { printable } from '../../view/printable.js';
import type { PaneParts } from '../pane/session-pane.js';
import { createViewer } from '../overlays/viewer.js';
import { span, type Row } from '../rows/row.js';
import { wrapSpans } from '../rows/wrap.js';

const layout = { labelUnits: 40 } as const;

/** A `!command` of a person's own, or `!!command`, whose output is not shared. */
export function readShellCommand(text: string): { command: string; isShared: boolean } | undefined {
  const [, bangs = '', command = ''] = /^(!!?)([^!][^]*)$/.exec(text.trim()) ?? [];
  return command.trim() === '' ? undefined : { command: command.trim(), isShared: bangs === '!' };
}

/**
 * Runs a command as the person, in the directory of the session and with the environment of this terminal. What it prints is shown, and
 * unless it is not to be shared, put into the editor as an attachment of the next message.
 */
export function runShellCommand(parts: PaneParts, command: string, isShared: boolean): void {
  const { context, editor } = parts;
  const { cwd } = parts.view().state;
  let output = '';
  let dropped = 0;
  let outcome: string | undefined;
  const child = spawn(context.env.SHELL ?? '/bin/sh', ['-c', command], { cwd, stdio: ['ignore', 'pipe', 'pipe'], detached: true });

  function stop(): void {
    if (outcome !== undefined || child.pid === undefined) return;
    try {
      process.kill(-child.pid, 'SIGTERM');
    } catch (error) {
      // Race: the command has ended by itself.
      if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
    }
  }

  function take(text: string): void {
    const room = limits.sharedOutputUnitsMax - output.length;
    output += text.slice(0, Math.max(0, room));
    dropped += Math.max(0, text.length - Math.max(0, room));
    context.invalidate();
  }

  function end(how: string): void {
    if (outcome !== undefined) return;
    outcome = how;
    const missing = dropped === 0 ? '' : `\n… ${dropped} more characters were left out`;
    if (isShared)
      editor.addText(`output of ${command.slice(0, layout.labelUnits)}`, `$ ${command}\n${printable(output)}${missing}\n(${how})\n`);
    context.notice(`${how}${isShared ? '; its output goes with your next message' : ''}`);
    context.invalidate();
  }

  for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', take);
  child.on('error', (error) => end(`it could not be started: ${error.message}`));
  child.on('close', (code, signal) => end(signal === null ? `exit code ${code}` : `ended by ${signal}`));
  context.open(
    createViewer({
      title: `$ ${command}`,
      follows: true,
      rows: (columns): Row[] => [
        ...wrapSpans([span(printable(output))], columns, { anywhere: true }),
        ...wrapSpans([span(outcome ?? 'running; Esc stops it', 'muted')], columns),
      ],
      close: context.closeOverlay,
      onClosed: stop,
    }),
  );
}

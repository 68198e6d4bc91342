import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { PaneParts } from '../pane/session-pane.js';

/** Writes the text in `$VISUAL` or `$EDITOR`, which has the terminal meanwhile. */
export function openExternalEditor({ context, editor }: PaneParts): void {
  const program = context.env.VISUAL ?? context.env.EDITOR ?? '';
  if (program.trim() === '') return context.notice('set VISUAL or EDITOR to write in an editor of your own', 'alarm');
  const folder = mkdtempSync(join(tmpdir(), 'berth-'));
  const file = join(folder, 'message.md');
  try {
    writeFileSync(file, editor.text(), { mode: 0o600 });
    // The variable may hold arguments, and a shell is what everyone else reads it with.
    const { status, error } = context.lend(() => spawnSync('/bin/sh', ['-c', `${program} "$1"`, 'sh', file], { stdio: 'inherit' }));
    if (error) return context.notice(`${program} could not be started: ${error.message}`, 'alarm');
    if (status !== 0) return context.notice(`${program} ended with ${status ?? 'a signal'}: the text stays as it was`, 'alarm');
    editor.setText(readFileSync(file, 'utf8').replace(/\n$/, ''));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

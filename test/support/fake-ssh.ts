import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isAlive } from '../cli/run-cli.js';

/**
 * A program that is called as ssh is, and runs the command in a shell of this machine. `before` are lines of that shell that run first, as
 * those of a .bashrc do. What it was called with is in the file `arguments`, a line for each call, and its processes, which become the command,
 * are in `pids`.
 */
export function makeFakeSsh(dir: string, before = ''): string {
  mkdirSync(dir, { recursive: true });
  const path = join(dir, 'fake-ssh');
  const script = [
    '#!/bin/sh',
    `printf '%s|' "$@" >> '${dir}/arguments'; echo >> '${dir}/arguments'`,
    `echo $$ >> '${dir}/pids'`,
    'while [ "$1" != -- ]; do shift; done; shift',
    before,
    'exec sh -c "exec $*"',
    '',
  ].join('\n');
  writeFileSync(path, script);
  chmodSync(path, 0o755);
  return path;
}

/** What was started through the fake ssh of a directory and still runs. */
export function runningIn(dir: string): number[] {
  const pids = readFileSync(join(dir, 'pids'), 'utf8').trim().split('\n').map(Number);
  return pids.filter(isAlive);
}

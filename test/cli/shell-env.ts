import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { program } from '../support/daemon.js';
import type { Place } from './run-cli.js';
import { quote } from './screen.js';

/** The environment of a shell that finds `berth`. */
export function shellEnv(place: Place): Record<string, string> {
  const bin = join(place.root, 'bin');
  mkdirSync(bin, { recursive: true });
  const file = join(bin, 'berth');
  writeFileSync(file, `#!/bin/sh\nexec ${quote(process.execPath, program)} "$@"\n`);
  chmodSync(file, 0o755);
  return { ...place.env, PATH: `${bin}:${place.env.PATH}`, LC_ALL: 'C.UTF-8' };
}

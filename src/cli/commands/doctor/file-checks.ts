import { chmodSync, lstatSync, type Stats } from 'node:fs';
import { dirname, join } from 'node:path';
import { authPath } from '../../../machine/auth-file.js';
import type { Paths } from '../../../machine/paths.js';
import { shortenHome } from '../../home-path.js';
import { fail, ok, type Finding } from './finding.js';

interface Expected {
  path: string;
  kind: 'directory' | 'file' | 'socket';
  mode: number;
}

/** Owner, kind and mode of our own directories, files and sockets. What is not there yet is made right later. */
export function checkFiles({ socket, stateDir, configDir }: Paths): Finding[] {
  const expected: Expected[] = [
    { path: dirname(socket), kind: 'directory', mode: 0o700 },
    { path: socket, kind: 'socket', mode: 0o600 },
    { path: `${socket}.events`, kind: 'socket', mode: 0o600 },
    { path: stateDir, kind: 'directory', mode: 0o700 },
    { path: join(stateDir, 'berth.db'), kind: 'file', mode: 0o600 },
    { path: join(stateDir, 'berth.log'), kind: 'file', mode: 0o600 },
    { path: authPath(configDir), kind: 'file', mode: 0o600 },
  ];
  const found = expected.flatMap((one) => checkFile(one));
  const sound = expected.filter(({ path }) => statOf(path)).length - found.length;
  const places = [socket, stateDir, configDir].map(shortenHome).join(', ');
  return [...(sound > 0 ? [ok('files', `${places}: ${sound} are yours alone`)] : [ok('files', `${places}: not made yet`)]), ...found];
}

function statOf(path: string): Stats | undefined {
  return lstatSync(path, { throwIfNoEntry: false });
}

function isOfKind(stat: Stats, kind: Expected['kind']): boolean {
  return kind === 'directory' ? stat.isDirectory() : kind === 'socket' ? stat.isSocket() : stat.isFile();
}

function checkFile({ path, kind, mode }: Expected): Finding[] {
  const stat = statOf(path);
  if (!stat) return [];
  if (stat.isSymbolicLink()) return [];
  if (!isOfKind(stat, kind)) return [fail('files', `${path} is no ${kind}`, `mv ${path} ${path}.old`)];
  if (stat.uid !== process.getuid?.()) return [fail('files', `${path} belongs to user ${stat.uid}, not to you`)];
  if ((stat.mode & 0o077 & ~mode) === 0) return [];
  const wanted = mode.toString(8);
  const finding = fail('files', `${path} is open to other users (mode ${(stat.mode & 0o777).toString(8)})`, `chmod ${wanted} ${path}`);
  // A directory that is shared, such as /tmp, is not ours to close.
  return [(stat.mode & 0o1000) !== 0 ? finding : { ...finding, mend: () => chmodSync(path, mode) }];
}

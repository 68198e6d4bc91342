import { createHash } from 'node:crypto';
import { readSmallFile } from '../files/small-file.js';
import { limits } from '../protocol/limits.js';

/** The text of a workspace's own config, if the file still has the digest that the daemon told. Undefined when it is another by now. */
export function readConfigText(path: string, digest: string): string | undefined {
  const file = readSmallFile(path, { bytesMax: limits.workspaceConfigBytesMax, followLinks: false });
  if (!('bytes' in file) || createHash('sha256').update(file.bytes).digest('hex') !== digest) return undefined;
  return file.bytes.toString('utf8');
}

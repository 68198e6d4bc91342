import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { readSmallFile, readSmallText } from './bounded-read.js';
import { limits } from '../protocol/limits.js';

/** The text of a workspace's config, if the file still has the digest of the trust request. Undefined when the file has changed. */
export function readConfigText(path: string, digest: string): string | undefined {
  const file = readSmallFile(path, { bytesMax: limits.workspaceConfigBytesMax, followLinks: false });
  if (!('bytes' in file) || createHash('sha256').update(file.bytes).digest('hex') !== digest) return undefined;
  return file.bytes.toString('utf8');
}

/** Whether config.json has a key of this name anywhere. A heuristic without parsing: only the daemon validates the file. */
export function configNames(configDir: string, key: string): boolean {
  const text = readSmallText(join(configDir, 'config.json'), { bytesMax: limits.configFileBytesMax, followLinks: true }) ?? '';
  return text.split(JSON.stringify(key)).some((after, at) => at > 0 && /^\s*:/.test(after));
}

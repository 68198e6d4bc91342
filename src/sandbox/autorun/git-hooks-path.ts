import { dirname, resolve } from 'node:path';
import { readSmallText } from '../../machine/bounded-read.js';
import { limits } from '../../protocol/limits.js';
import { isWithin } from '../bubblewrap.js';

/**
 * The `core.hooksPath` of a repository's own config, if it is below one of the roots. A hooks directory that contains the repository itself is
 * left out: as a read-only mount it would make everything read-only.
 */
export function readHooksPath(gitFolder: string, roots: readonly string[]): string[] {
  const config = readSmallText(`${gitFolder}/config`, { bytesMax: limits.workspaceConfigBytesMax, followLinks: false });
  const named = hooksPathIn(config ?? '');
  if (named === undefined || named === '' || named.startsWith('~')) return [];
  const path = resolve(dirname(gitFolder), named);
  const isBelowRoot = roots.some((root) => path !== root && isWithin(path, root));
  return isBelowRoot && !isWithin(gitFolder, path) ? [path] : [];
}

const header = /^\[\s*([^\s"\]]+)\s*("(?:[^"\\]|\\.)*")?\s*\]/;
const setting = /^hookspath\s*=\s*(.*)$/i;
const valuePart = /"((?:[^"\\]|\\.)*)"|\\(.)|([^"\\#;]+)|[#;].*$/g;

/** The last `core.hooksPath` of a git config. Included files are not read. */
export function hooksPathIn(config: string): string | undefined {
  let isCore = false;
  let found: string | undefined;
  for (const whole of config.split(/\r?\n/)) {
    let line = whole.trim();
    const section = header.exec(line);
    if (section) {
      isCore = section[1]?.toLowerCase() === 'core' && section[2] === undefined;
      line = line.slice(section[0].length).trim();
    }
    const value = isCore ? setting.exec(line)?.[1] : undefined;
    if (value !== undefined) found = unquote(value);
  }
  return found;
}

function unquote(value: string): string {
  const parts = value.matchAll(valuePart);
  const text = [...parts].map(([, quoted, escaped, plain]) => quoted?.replaceAll(/\\(.)/g, '$1') ?? escaped ?? plain ?? '').join('');
  return text.trim();
}

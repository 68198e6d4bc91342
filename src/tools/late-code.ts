import { randomInt } from 'node:crypto';
import { constants } from 'node:fs';
import { open } from 'node:fs/promises';
import { basename, dirname } from 'node:path';
import { limits } from '../protocol/limits.js';
import { toBuffer, toText, type BytePath } from './byte-paths.js';
import { entriesOf, isGone, isOfSystem, type Opener } from './closed-folders.js';
import { isFault } from './file-paths.js';
import { isHarmlessGitConfig } from './git-config.js';
import { seesGitFolder } from './git-folders.js';
import type { LateCode } from './late-code-look.js';
import { readWhole } from './pinned-files.js';

/** What became of code that nobody was asked about. */
export interface HeldCode {
  /** How it is called now. */
  renamed: string[];
  /** It is still where it was. */
  stuck: string[];
  /** There is more than was looked at, and there was not before. */
  isPartial: boolean;
}

export const nothingHeld: HeldCode = { renamed: [], stuck: [], isPartial: false };

/** Whether there is anything to say about it. */
export function isHeld({ renamed, stuck, isPartial }: HeldCode): boolean {
  return renamed.length + stuck.length > 0 || isPartial;
}

/** Takes late code out of the way of those programs: it is kept under another name beside it. */
export async function holdLateCode(opener: Opener, late: Iterable<LateCode>): Promise<Pick<HeldCode, 'renamed' | 'stuck'>> {
  const renamed: string[] = [];
  const stuck: string[] = [];
  for (const { path, isShut } of late) {
    try {
      if (isShut) stuck.push(toText(path));
      else if (!(await isHarmless(opener, path))) renamed.push(toText(await putAside(opener, path)));
    } catch (error) {
      if (!isOfSystem(error)) throw error;
      if (!isGone(error)) stuck.push(toText(path));
    }
  }
  return { renamed, stuck };
}

/** What `git init` and `git clone` write. */
async function isHarmless(opener: Opener, path: BytePath): Promise<boolean> {
  const name = basename(path);
  const stat = await opener.look(path);
  if (stat.isDirectory() && (name === 'hooks' || name === 'info')) {
    const inside = await entriesOf(opener, path, limits.lateCodeFolderEntriesMax);
    await opener.closeBelow(path);
    if (inside.length >= limits.lateCodeFolderEntriesMax) return false;
    return inside.every((one) => (name === 'hooks' ? one.name.endsWith('.sample') : one.name === 'exclude'));
  }
  if (name !== 'config' || !stat.isFile()) return false;
  const beside = await entriesOf(opener, dirname(path), limits.lateCodeFolderEntriesMax);
  if (!seesGitFolder(new Set(beside.map((one) => one.name)))) return false;
  const bytes = await readPlain(path, limits.workspaceConfigBytesMax);
  return bytes !== undefined && isHarmlessGitConfig(bytes.toString('utf8'));
}

/** What is in a file; undefined when it is too much, or it is no file that can be read. */
export async function readPlain(path: BytePath, bytesMax: number): Promise<Buffer | undefined> {
  const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK, O_NOCTTY } = constants;
  try {
    await using file = await open(toBuffer(path), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
    return (await file.stat()).isFile() ? await readWhole(file, bytesMax) : undefined;
  } catch (error) {
    if (isOfSystem(error)) return undefined;
    throw error;
  }
}

/** A name that is too long with ours in front is left out. */
async function putAside(opener: Opener, path: BytePath): Promise<BytePath> {
  try {
    return await renameTo(opener, path, `-${basename(path).replace(/^\.+/, '')}`);
  } catch (error) {
    if (!isFault(error, 'ENAMETOOLONG')) throw error;
    return renameTo(opener, path, '');
  }
}

async function renameTo(opener: Opener, path: BytePath, end: string): Promise<BytePath> {
  for (let n = 1; ; n++) {
    // Whoever has taken all of them does not keep us looking.
    const number = n <= limits.lateCodeNameTriesMax ? n : randomInt(numbersMax);
    const name = `${dirname(path)}/held-by-berth-${number}${end}`;
    if (await isFree(opener, name)) {
      await opener.rename(path, name);
      return name;
    }
  }
}

const numbersMax = 2 ** 47;

async function isFree(opener: Opener, path: BytePath): Promise<boolean> {
  try {
    await opener.look(path);
    return false;
  } catch (error) {
    if (isGone(error)) return true;
    throw error;
  }
}

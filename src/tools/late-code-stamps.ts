import { createHash } from 'node:crypto';
import type { BigIntStats } from 'node:fs';
import { basename } from 'node:path';
import { limits } from '../protocol/limits.js';
import type { BytePath } from './byte-paths.js';
import { entriesOf, isGone, type Opener } from './closed-folders.js';
import { gitLate, gitStores, seesGitFolder } from './git-folders.js';

/** What is known of one piece of late code. No command can set these times. */
export interface Stamp {
  /** Another one whenever it, or anything in it, is another one or was changed. */
  stamp: string;
  /** Which file or directory it is, whatever is in it. */
  id: string;
  /** When it, or anything in it, was changed last. */
  newestNs: bigint;
  /** It may have other names, by which it can be changed. */
  isLinked: boolean;
  /** Something is in it, apart from what was left out. */
  hasMore: boolean;
}

/** Looks at a file or a whole directory, without the paths that are left out. Undefined when nothing is there. */
export async function stampPath(opener: Opener, path: BytePath, without: readonly BytePath[] = []): Promise<Stamp | undefined> {
  try {
    const stat = await opener.look(path);
    if (!stat.isDirectory()) {
      const isLinked = stat.nlink > 1n || !stat.isFile();
      return { stamp: `${stat.ino}:${stat.ctimeNs}`, id: idOf(stat), newestNs: stat.ctimeNs, isLinked, hasMore: true };
    }
    return await stampFolder(opener, path, stat, without);
  } catch (error) {
    if (isGone(error)) return undefined;
    throw error;
  } finally {
    await opener.closeBelow(path);
  }
}

/** Some file systems give the number of what is gone to what is new. */
function idOf({ ino, birthtimeNs }: BigIntStats): string {
  return `${ino}:${birthtimeNs}`;
}

async function stampFolder(opener: Opener, top: BytePath, stat: BigIntStats, without: readonly BytePath[]): Promise<Stamp> {
  const lines: string[] = [];
  const waiting = [top];
  let newestNs = stat.ctimeNs;
  let isLinked = false;
  let seen = 0;
  for (let folder = waiting.pop(); folder !== undefined && seen < limits.lateCodeFolderEntriesMax; folder = waiting.pop()) {
    const names = await entriesOf(opener, folder, limits.lateCodeFolderEntriesMax - seen);
    seen += names.length;
    const isGit = seesGitFolder(new Set(names.map(({ name }) => name)));
    for (const { name, isFolder } of names) {
      const path = `${folder}/${name}`;
      // Git itself writes the rest all the time.
      if (isGit && !gitLate.has(name) && (!isFolder || gitStores.has(name))) continue;
      const found = await lookAt(opener, path);
      if (found === undefined) continue;
      if (found.ctimeNs > newestNs) newestNs = found.ctimeNs;
      if (isFolder) waiting.push(path);
      else isLinked ||= found.nlink > 1n;
      const isLeftOut = without.some((one) => one === path || one.startsWith(`${path}/`));
      if (!isLeftOut) lines.push(`${path} ${found.ino}${isFolder ? '' : ` ${found.ctimeNs}`}\0`);
    }
  }
  const isCut = seen >= limits.lateCodeFolderEntriesMax;
  const hash = createHash('sha256').update(`${basename(top)} ${stat.ino} ${isCut ? stat.ctimeNs : ''}\0`);
  // Without where it stands: the directory that it is in may be moved.
  for (const line of lines.sort()) hash.update(line.slice(top.length));
  const stamp = hash.digest('base64url').slice(0, digestCharacters);
  return { stamp, id: idOf(stat), newestNs, isLinked: isLinked || isCut, hasMore: lines.length > 0 };
}

/** Undefined when it was removed since it was listed. */
async function lookAt(opener: Opener, path: BytePath): Promise<BigIntStats | undefined> {
  try {
    return await opener.look(path);
  } catch (error) {
    if (isGone(error)) return undefined;
    throw error;
  }
}

/** 132 bits. */
const digestCharacters = 22;

/** A path of any length, to be known again. */
export function placeOf(path: BytePath): string {
  return createHash('sha256').update(path, 'latin1').digest('base64url').slice(0, digestCharacters);
}

import type { Dirent } from 'node:fs';
import { lstat, opendir } from 'node:fs/promises';
import { posix } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { limits } from '../../protocol/limits.js';
import { faultOf } from '../files/file-paths.js';
import type { Refuses } from '../files/pinned-files.js';
import { readIgnoreFile } from './ignore-files.js';
import { isIgnored, parseIgnoreFile, type IgnoreRules } from './ignore-rules.js';
import { direntKind, kernelDirs, rulesAbove, type Kind } from './walk.js';

const tuning = {
  namesAtOnce: 512,
  /** Directories that are read concurrently: most of the time is spent waiting for each of them. */
  directoriesAtOnce: 8,
  /** The longest time that the walk blocks the event loop. */
  turnMs: 3,
} as const;

export interface PathWalk {
  /** The real path of the directory to walk. */
  root: string;
  refuses: Refuses;
  signal: AbortSignal;
}

interface Step {
  directory: string;
  rules: IgnoreRules[];
}

/**
 * Collects the names below a directory, shallow ones first, as git sees them: without .git and ignored paths; those of directories end in `/`.
 * Ends early when `take` returns false. True when the walk was whole. Unlike `createWalk` this pins no directory: check a path before
 * anything is done with it.
 */
export async function collectPaths({ root, refuses, signal }: PathWalk, take: (path: string) => boolean): Promise<boolean> {
  const untilMs = performance.now() + limits.walkMs;
  let turnEndsMs = performance.now() + tuning.turnMs;
  let isFull = false;
  let level: Step[] = [{ directory: '', rules: await rulesAboveIfReadable(root) }];

  const mustStop = (): boolean => isFull || signal.aborted || performance.now() > untilMs;

  async function yieldToEventLoop(): Promise<void> {
    if (performance.now() < turnEndsMs) return;
    await nextTurn();
    turnEndsMs = performance.now() + tuning.turnMs;
  }

  /** The names in a directory; none when it cannot be read, or may not be. */
  async function namesIn(directory: string): Promise<Dirent[]> {
    const path = posix.join(root, directory);
    const names: Dirent[] = [];
    if (kernelDirs.includes(path) || refuses('read', path) !== undefined) return names;
    try {
      for await (const entry of await opendir(path, { bufferSize: tuning.namesAtOnce })) {
        names.push(entry);
        await yieldToEventLoop();
        isFull ||= names.length > limits.indexedPathsMax;
        if (mustStop()) break;
      }
    } catch (error) {
      faultOf(error);
    }
    return names;
  }

  /** Takes the paths of a directory, and returns the directories in it. */
  async function readDirectory({ directory, rules }: Step): Promise<Step[]> {
    const names = await namesIn(directory);
    const hasRules = names.some(({ name }) => name === '.gitignore');
    const file = hasRules ? await readIgnoreFile(posix.join(root, directory), refuses) : undefined;
    const inForce = file === undefined ? rules : [...rules, parseIgnoreFile(file.text, directory)];
    const found: Step[] = [];
    for (const entry of names) {
      await yieldToEventLoop();
      if (mustStop()) break;
      const path = directory === '' ? entry.name : `${directory}/${entry.name}`;
      const kind = direntKind(entry) ?? (await kindOf(posix.join(root, path)));
      if (entry.name === '.git' || kind === 'other' || isIgnored(inForce, path, kind === 'directory')) continue;
      isFull = !take(kind === 'directory' ? `${path}/` : path);
      if (kind === 'directory') found.push({ directory: path, rules: inForce });
    }
    return found;
  }

  while (level.length > 0 && !mustStop()) {
    const below: Step[] = [];
    for (let at = 0; at < level.length && !mustStop(); at += tuning.directoriesAtOnce) {
      const found = await Promise.all(level.slice(at, at + tuning.directoriesAtOnce).map(readDirectory));
      for (const steps of found) below.push(...steps);
    }
    level = below;
  }
  return !mustStop();
}

/** A directory above that cannot be looked at has no rules. */
async function rulesAboveIfReadable(root: string): Promise<IgnoreRules[]> {
  try {
    return await rulesAbove(root, root);
  } catch (error) {
    faultOf(error);
    return [];
  }
}

async function kindOf(path: string): Promise<Kind> {
  const stat = await lstat(path).catch((error: unknown) => void faultOf(error));
  return stat?.isDirectory() ? 'directory' : stat?.isFile() || stat?.isSymbolicLink() ? 'file' : 'other';
}

import { constants, type Dirent } from 'node:fs';
import { lstat, open, opendir, type FileHandle } from 'node:fs/promises';
import { dirname, posix } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { limits } from '../../protocol/limits.js';
import { faultOf } from '../files/file-paths.js';
import { ignoreFilesAbove, readIgnoreFile } from './ignore-files.js';
import { isIgnored, parseIgnoreFile, type IgnoreRules } from './ignore-rules.js';
import { realPathOf, descriptorPath, type Refuses } from '../files/pinned-files.js';
import { O_PATH } from '../../machine/system-calls.js';

const tuning = {
  namesAtOnce: 1024,
  /** The longest time that the walk blocks the event loop. */
  turnMs: 8,
} as const;
export const kernelDirs = ['/proc', '/sys', '/dev'];

export interface WalkOptions {
  /** The real path of the directory to walk. */
  root: string;
  /** The topmost directory whose .gitignore counts, when there is no repository. */
  workspace: string;
  refuses: Refuses;
  signal: AbortSignal;
  /** Whether to descend into a directory, given its path relative to the root. */
  enter?: (directory: string) => boolean;
}

/** Files of one directory. */
export interface FoundFiles {
  paths: string[];
  /** O_PATH descriptor of their directory, valid after a rename. Closed when the next batch is requested. */
  pin: FileHandle;
}

export interface Walk {
  /** Files and symlinks in batches, by paths relative to the root. Symlinks are not followed, so there are no loops. */
  files(): AsyncGenerator<FoundFiles>;
  entries: number;
  /** Directories that may not be read. */
  refused: number;
  /** Why the walk stopped early. */
  stopped: 'entries' | 'time' | 'aborted' | undefined;
}

interface Step {
  directory: string;
  rules: IgnoreRules[];
}

/** Walks a directory tree as git does: without .git and ignored paths. Bounded in entries and time, and abortable. */
export function createWalk({ root, workspace, refuses, signal, enter = () => true }: WalkOptions): Walk {
  const untilMs = performance.now() + limits.walkMs;
  let turnEndsMs = 0;
  const walk: Walk = { files, entries: 0, refused: 0, stopped: undefined };

  async function* files(): AsyncGenerator<FoundFiles> {
    const open: Step[] = [{ directory: '', rules: await rulesAbove(root, workspace) }];
    for (let step = open.pop(); step !== undefined && !mustStop(); step = open.pop()) {
      const pin = await pinDirectory(step.directory);
      if (pin === undefined) continue;
      try {
        const rules = await withOwnRules(step);
        yield* listDirectory(pin, step.directory, rules, open);
      } catch (error) {
        // An unreadable directory does not end the walk.
        faultOf(error);
      } finally {
        await pin.close();
      }
    }
  }

  async function* listDirectory(pin: FileHandle, directory: string, rules: IgnoreRules[], open: Step[]): AsyncGenerator<FoundFiles> {
    let paths: string[] = [];
    for await (const entry of await opendir(descriptorPath(pin), { bufferSize: tuning.namesAtOnce })) {
      if (performance.now() > turnEndsMs) await yieldToEventLoop();
      if (mustStop()) break;
      walk.entries++;
      const path = directory === '' ? entry.name : `${directory}/${entry.name}`;
      const kind = direntKind(entry) ?? (await lstatKind(pin, entry.name));
      if (entry.name === '.git' || kind === 'other' || isIgnored(rules, path, kind === 'directory')) continue;
      if (kind === 'file') paths.push(path);
      else if (enter(path)) open.push({ directory: path, rules });
      if (paths.length < tuning.namesAtOnce) continue;
      yield { paths, pin };
      paths = [];
    }
    if (paths.length > 0) yield { paths, pin };
  }

  async function yieldToEventLoop(): Promise<void> {
    await nextTurn();
    turnEndsMs = performance.now() + tuning.turnMs;
  }

  function mustStop(): boolean {
    if (signal.aborted) walk.stopped = 'aborted';
    else if (performance.now() > untilMs) walk.stopped = 'time';
    else if (walk.entries >= limits.walkedEntriesMax) walk.stopped = 'entries';
    return walk.stopped !== undefined;
  }

  /** Undefined when the directory was removed or swapped for a symlink, or may not be read. */
  async function pinDirectory(directory: string): Promise<FileHandle | undefined> {
    const path = posix.join(root, directory);
    if (kernelDirs.includes(path)) return undefined;
    if (refuses('read', path) !== undefined) {
      walk.refused++;
      return undefined;
    }
    try {
      const pin = await open(path, O_PATH | constants.O_DIRECTORY | constants.O_NOFOLLOW);
      if ((await realPathOf(pin)) === path) return pin;
      await pin.close();
    } catch (error) {
      faultOf(error);
    }
    return undefined;
  }

  async function withOwnRules({ directory, rules }: Step): Promise<IgnoreRules[]> {
    const file = await readIgnoreFile(posix.join(root, directory), refuses);
    return file === undefined ? rules : [...rules, parseIgnoreFile(file.text, directory)];
  }

  return walk;
}

export type Kind = 'file' | 'directory' | 'other';

/** Undefined where the file system does not report the type (d_type). */
export function direntKind(entry: Dirent): Kind | undefined {
  if (entry.isFile() || entry.isSymbolicLink()) return 'file';
  if (entry.isDirectory()) return 'directory';
  return entry.isFIFO() || entry.isSocket() || entry.isCharacterDevice() || entry.isBlockDevice() ? 'other' : undefined;
}

async function lstatKind(pin: FileHandle, name: string): Promise<Kind> {
  const stat = await lstat(descriptorPath(pin, name)).catch((error: unknown) => void faultOf(error));
  return stat?.isDirectory() ? 'directory' : stat?.isFile() || stat?.isSymbolicLink() ? 'file' : 'other';
}

/** The .gitignore rules from above the root; none when they ignore the root itself, because a search there is deliberate. */
export async function rulesAbove(root: string, workspace: string): Promise<IgnoreRules[]> {
  const found = (await ignoreFilesAbove(root, workspace)).map(({ path, text }) => {
    const above = `${posix.relative(dirname(path), root)}/`;
    return parseIgnoreFile(text, '', above);
  });
  return isRootIgnored(found, found[0]?.above ?? '') ? [] : found;
}

/** Whether the root of the walk, or an ancestor of it, is ignored. */
function isRootIgnored(found: readonly IgnoreRules[], above: string): boolean {
  const names = above.split('/').slice(0, -1);
  return names.some((_, depth) => {
    const path = names.slice(0, depth + 1).join('/');
    return found.some((file) => {
      const skipped = above.length - file.above.length;
      return path.length >= skipped && isIgnored([{ ...file, above: '' }], path.slice(skipped), true);
    });
  });
}

import { realpath } from 'node:fs/promises';
import { posix } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { limits } from '../../protocol/limits.js';
import { faultOf } from '../files/file-paths.js';
import type { FileFinder, FileSearch, FoundPaths } from '../port.js';
import { matchPaths, type IndexedPath } from './path-match.js';
import { collectPaths } from './path-walk.js';

const tuning = {
  /** Candidates beside those that are wanted, in the place of those that may not be read. */
  spareCandidates: 200,
  realPathsAtOnce: 32,
} as const;

interface FileIndex {
  root: string;
  paths: IndexedPath[];
  /** True when all of the directory is in the index. */
  isWhole: boolean;
  /** Settles when nothing more is added. */
  walked: Promise<void>;
  walkedMs: number | undefined;
  /** The index before it, until this one is walked. */
  previous: FileIndex | undefined;
  stop(): void;
}

/** Finds files by a part of their path. An index of each session's directory is kept for a moment: there is neither a timer nor a watcher. */
export function createFileFinder(): FileFinder {
  const indexes = new Map<string, FileIndex>();

  function startIndex({ root, refuses }: FileSearch, earlier: FileIndex | undefined): FileIndex {
    const stopped = new AbortController();
    const paths: IndexedPath[] = [];
    const index: FileIndex = {
      root,
      paths,
      isWhole: false,
      walked: collect().then(finish),
      walkedMs: undefined,
      previous: earlier?.root === root ? earlier : undefined,
      stop: () => stopped.abort(),
    };
    return index;

    function collect(): Promise<boolean> {
      return collectPaths({ root, refuses, signal: stopped.signal }, (path) => {
        if (paths.length < limits.indexedPathsMax) paths.push({ path, folded: path.toLowerCase() });
        return paths.length < limits.indexedPathsMax;
      });
    }

    function finish(isWhole: boolean): void {
      index.isWhole = isWhole;
      index.walkedMs = performance.now();
      index.previous = undefined;
    }
  }

  /** The fresh index of a session, which may still grow. */
  function freshIndex(search: FileSearch): FileIndex {
    const { sessionId, root } = search;
    const earlier = indexes.get(sessionId);
    const isFresh = earlier?.walkedMs === undefined || performance.now() - earlier.walkedMs < limits.indexedPathsMs;
    if (earlier?.root !== root) earlier?.stop();
    const index = earlier?.root === root && isFresh ? earlier : startIndex(search, earlier);
    // LRU: the session that was searched longest ago is evicted first.
    indexes.delete(sessionId);
    indexes.set(sessionId, index);
    for (const [oldest, { stop }] of indexes) {
      if (indexes.size <= limits.indexedSessionsMax) break;
      stop();
      indexes.delete(oldest);
    }
    return index;
  }

  /** The index of a session; the one before it where that is still growing after a moment. */
  async function indexFor(search: FileSearch): Promise<FileIndex> {
    const index = freshIndex(search);
    if (index.walkedMs !== undefined) return index;
    const patience = new AbortController();
    await Promise.race([index.walked, delay(limits.fileSearchMs, undefined, { signal: patience.signal }).catch(() => undefined)]);
    patience.abort();
    return index.previous ?? index;
  }

  return {
    async find(search) {
      const { root, query, limit, recent } = search;
      const wanted = toRelativeQuery(query, root);
      if (wanted === undefined) return { files: [], total: 0, truncated: false };
      const { paths, isWhole } = await indexFor(search);
      const { best, total } = matchPaths(paths, { query: wanted, countMax: limit + tuning.spareCandidates, recent });
      const { shown, left } = await readable(best, search);
      return { files: shown.map(toFile), total: total - left, truncated: !isWhole };
    },
  };
}

/** The first paths that exist and may be read, by their real path; `left` counts those that were left out. */
async function readable(paths: readonly string[], { root, limit, refuses }: FileSearch): Promise<{ shown: string[]; left: number }> {
  const shown: string[] = [];
  let left = 0;
  for (let at = 0; at < paths.length && shown.length < limit; at += tuning.realPathsAtOnce) {
    const batch = paths.slice(at, at + tuning.realPathsAtOnce);
    const reals = await Promise.all(batch.map((path) => realpath(posix.join(root, path)).catch((error: unknown) => void faultOf(error))));
    for (const [i, path] of batch.entries()) {
      const real = reals[i];
      if (real === undefined || refuses('read', real) !== undefined) left++;
      else if (shown.length < limit) shown.push(path);
    }
  }
  return { shown, left };
}

function toFile(path: string): FoundPaths['files'][number] {
  return { path, kind: path.endsWith('/') ? 'directory' : 'file' };
}

/** A query relative to the root; undefined when it is elsewhere. */
function toRelativeQuery(query: string, root: string): string | undefined {
  const below = root === '/' ? '/' : `${root}/`;
  const relative = query.startsWith(below) ? query.slice(below.length) : query.replace(/^(\.\/+)+/, '');
  return /^(\/|~|\.\.(\/|$))/.test(relative) ? undefined : relative;
}

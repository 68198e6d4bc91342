import { posix } from 'node:path';
import type { SessionState } from '../../core/session.js';
import { limits } from '../../protocol/limits.js';
import type { Message } from '../../protocol/messages.js';
import type { ReadStore } from '../../store/store.js';

/** Separates paths from the words and the punctuation around them. */
const separators = /[\s"'`<>()[\]{},;|]+/;

/** The paths that a session's tools used, or that its messages name: 0 is the newest. The paths of the last session are cached. */
export function createRecentPaths({ entries }: Pick<ReadStore, 'entries'>) {
  let cached: { key: string; paths: ReadonlyMap<string, number> } | undefined;

  function read({ leafId, cwd }: SessionState, root: string): Map<string, number> {
    const paths = new Map<string, number>();
    const { messages } = entries.page({ leafId, limit: limits.recentMessagesMax, bytesMax: limits.recentMessageBytesMax });
    for (const { json } of messages.toReversed()) {
      for (const named of namedIn(JSON.parse(json) as Message)) {
        const path = toRelative(named, cwd, root);
        if (path !== undefined && !paths.has(path)) paths.set(path, paths.size);
        if (paths.size >= limits.recentPathsMax) return paths;
      }
    }
    return paths;
  }

  return {
    /** By paths relative to the root, without a trailing `/`. Not all of them exist. */
    of(state: SessionState, root: string): ReadonlyMap<string, number> {
      const key = `${state.id} ${state.leafId ?? ''} ${root}`;
      if (cached?.key !== key) cached = { key, paths: read(state, root) };
      return cached.paths;
    },
  };
}

/** The paths of tool calls, and words that look like paths. */
function namedIn({ role, content }: Message): string[] {
  if (role === 'tool_result') return [];
  return content.flatMap((block) => {
    if (block.type === 'tool_call') return typeof block.arguments.path === 'string' ? [block.arguments.path] : [];
    return block.type === 'text' ? block.text.split(separators).filter((word) => /[./]/.test(word)) : [];
  });
}

/** Undefined for a path that is not below the root. */
function toRelative(named: string, cwd: string, root: string): string | undefined {
  if (named.length > limits.pathBytesMax) return undefined;
  // `@src/a.ts:12:3.` is src/a.ts.
  const path = posix.normalize(
    named
      .replace(/^@/, '')
      .replace(/[.:!?]+$/, '')
      .replace(/(:\d+)+$|#L\d+$/, ''),
  );
  const base = [cwd, root].find((dir) => path.startsWith(`${dir}/`));
  const relative = (base === undefined ? path : path.slice(base.length + 1)).replace(/\/$/, '');
  return relative === '.' || /^(\/|~|\.\.(\/|$))/.test(relative) ? undefined : relative;
}

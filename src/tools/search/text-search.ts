import type { BigIntStats } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';

/** What is looked for, and where: in everything below a real directory, or in one open file. */
export interface Search {
  pattern: string;
  literal: boolean;
  ignoreCase: boolean;
  mode: 'content' | 'files' | 'count';
  contextLines: number;
  glob: string | undefined;
  place: SearchedDirectory | { file: FileHandle };
  /** Ends it at once. */
  signal: AbortSignal;
}

/** A directory that was judged: its real path, and what was there. */
export interface SearchedDirectory {
  root: string;
  stat: BigIntStats;
  workspace: string;
}

/** A piece of what was found. The path is from the root, and empty for the one file. */
export type Finding =
  | { kind: 'match' | 'context'; path: string; line: number; text: string }
  | { kind: 'gap'; path: string }
  | { kind: 'file'; path: string }
  | { kind: 'count'; path: string; count: number }
  /** The path matches but its bytes are no text. */
  | { kind: 'binary'; path: string }
  /** So many places below the root were not looked at, because they may not be read. */
  | { kind: 'covered'; places: number }
  /** Not everything was looked at. */
  | { kind: 'unfinished' }
  /** The search cannot be done, in words. */
  | { kind: 'problem'; text: string };

import type { BigIntStats } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';

/** A text search: the pattern, and its scope, which is all files below a directory or one open file. */
export interface Search {
  pattern: string;
  literal: boolean;
  ignoreCase: boolean;
  mode: 'content' | 'files' | 'count';
  contextLines: number;
  glob: string | undefined;
  scope: SearchedDirectory | { file: FileHandle };
  /** Aborts the search. */
  signal: AbortSignal;
}

/** A directory that the policy allowed: its real path and its stat at that time. */
export interface SearchedDirectory {
  root: string;
  stat: BigIntStats;
  workspace: string;
}

/** A finding. The path is relative to the root, and empty for a single file. */
export type Finding =
  | { kind: 'match' | 'context'; path: string; line: number; text: string }
  | { kind: 'gap'; path: string }
  | { kind: 'file'; path: string }
  | { kind: 'count'; path: string; count: number }
  /** A binary file matches. */
  | { kind: 'binary'; path: string }
  /** How many paths below the root were masked, because they may not be read. */
  | { kind: 'covered'; count: number }
  /** The walk stopped at a limit: not every file was searched. */
  | { kind: 'unfinished' }
  /** The search failed, in words. */
  | { kind: 'problem'; text: string };

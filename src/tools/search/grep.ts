import { posix } from 'node:path';
import * as z from 'zod';
import { utf8Bytes } from '../../protocol/content.js';
import { limits } from '../../protocol/limits.js';
import { makeVisibleLine } from '../../protocol/sanitize.js';
import type { BubblewrapFound } from '../../sandbox/bubblewrap.js';
import { absolutePath, counted, pathParameter, shownPath, shownSize } from '../files/file-paths.js';
import { openDirectory, openFile, type Refuses } from '../files/pinned-files.js';
import { searchWithoutRipgrep } from './plain-search.js';
import { toolText, type Tool, type ToolContext, type ToolResult } from '../port.js';
import { toolFacts } from '../tool-facts.js';
import { findRipgrep, searchBelowWithRipgrep, searchFileWithRipgrep } from './ripgrep.js';
import type { Finding, Search } from './text-search.js';
import { zodParameters } from '../zod-parameters.js';

const withoutNul = (text: string): boolean => !text.includes('\0');
const parameters = z.object({
  pattern: z
    .string()
    .min(1)
    .max(limits.grepPatternCharsMax)
    .refine(withoutNul, 'a pattern has no NUL character')
    .describe('regular expression'),
  path: pathParameter.optional().describe('file or directory; the working directory without it'),
  glob: z
    .string()
    .min(1)
    .max(limits.globPatternCharsMax)
    .refine(withoutNul, 'a glob has no NUL character')
    .optional()
    .describe('only these files, such as *.ts'),
  ignore_case: z.boolean().optional(),
  literal: z.boolean().optional().describe('the pattern is plain text'),
  context: z.int().min(0).max(limits.grepContextLinesMax).optional().describe('lines to show around a match'),
  mode: z.enum(['content', 'files', 'count']).optional().describe('matching lines, or files, or how many lines a file'),
  limit: z.int().min(1).max(limits.grepMatchesMax).optional().describe(`matches at most; ${limits.grepMatchesDefault} without it`),
});
type GrepArgs = z.infer<typeof parameters>;

interface Deps {
  /** Finds the path of a trusted ripgrep; undefined means the JavaScript fallback. */
  ripgrep?: () => Promise<string | undefined>;
  bubblewrap: () => BubblewrapFound;
}

/**
 * Searches the text of files; only lines of files that may be read are shown. ripgrep searches a directory only inside a sandbox: it opens
 * files by name, and a symlink could be swapped in meanwhile (TOCTOU race).
 */
export function createGrepTool({ ripgrep = findRipgrep, bubblewrap }: Deps): Tool<GrepArgs> {
  let program: Promise<string | undefined> | undefined;

  function searchWith(program: string | undefined, { reach }: ToolContext): (search: Search) => AsyncGenerator<Finding> {
    return (search) => {
      const { scope } = search;
      const { kind, hidden } = reach.confinement;
      const fallback = (): AsyncGenerator<Finding> => searchWithoutRipgrep(search, reach.refuses);
      if (program === undefined) return fallback();
      if ('file' in scope) return searchFileWithRipgrep(program, search, scope.file);
      const found = kind === 'sandbox' ? bubblewrap() : undefined;
      if (found === undefined || 'missing' in found) return fallback();
      return searchBelowWithRipgrep({ program, bubblewrap: found.path, hidden }, search, scope, reach.refuses, fallback);
    };
  }

  return {
    ...toolFacts.grep,
    parameters: zodParameters(parameters),
    title: ({ pattern, path }) =>
      `Search ${JSON.stringify(makeVisibleLine(pattern))}${path === undefined ? '' : ` in ${makeVisibleLine(path)}`}`,
    prepare: ({ path = '.' }, { cwd }) => Promise.resolve({ accesses: [{ kind: 'read', path: absolutePath(path, cwd) }] }),
    async run(args, context) {
      const path = absolutePath(args.path ?? '.', context.cwd);
      const shown = shownPath(path, context.cwd);
      program ??= ripgrep();
      const find = searchWith(await program, context);
      const directory = await openDirectory(path, context.reach.refuses);
      if (typeof directory !== 'string') {
        const { pin, realPath: root } = directory;
        const stat = await pin.stat({ bigint: true }).finally(() => pin.close());
        return collect(args, { root, stat, workspace: context.reach.workspace }, find, { base: path, root }, context);
      }
      const file = await openFile(path, context.reach.refuses);
      if (typeof file === 'string') return toolText(`${shown} ${file === 'is a directory' ? directory : file}.`, true);
      try {
        if (file.stat.size > limits.grepFileBytesMax)
          return toolText(`${shown} is too large (${shownSize(file.stat.size)}). Use a command.`, true);
        return await collect(args, { file: file.handle }, find, { base: path, root: undefined }, context);
      } finally {
        await file.handle.close();
      }
    },
  };
}

interface SearchRoot {
  base: string;
  /** Undefined for a single file, which the policy has allowed already. */
  root: string | undefined;
}

async function collect(
  args: GrepArgs,
  scope: Search['scope'],
  find: (search: Search) => AsyncGenerator<Finding>,
  searched: SearchRoot,
  context: ToolContext,
): Promise<ToolResult> {
  const { pattern, literal = false, ignore_case: ignoreCase = false, mode = 'content', context: contextLines = 0, glob } = args;
  const limit = args.limit ?? limits.grepMatchesDefault;
  const timeout = AbortSignal.timeout(limits.grepMs);
  const signal = AbortSignal.any([context.signal, timeout]);
  const report = createReport(searched, context, mode === 'content' && contextLines > 0);
  const files = createFileJudge(searched.root, context.reach.refuses);
  let isLate = false;
  let covered = 0;
  let problem: string | undefined;
  for await (const finding of find({ pattern, literal, ignoreCase, mode, contextLines, glob, scope, signal })) {
    if (finding.kind === 'problem') {
      if (report.isEmpty()) return toolText(`The search failed: ${finding.text}`, true);
      problem = finding.text;
      break;
    }
    if (finding.kind === 'unfinished') {
      isLate = true;
      break;
    }
    if (finding.kind === 'covered') {
      covered = finding.count;
      continue;
    }
    if (!files.mayShow(finding.path)) continue;
    if (!report.add(finding, limit)) break;
  }
  if (context.signal.aborted) return toolText('Stopped.', true);
  return report.end(files.refused() + covered, isLate || timeout.aborted, problem);
}

/** Asks the policy about each file before any line of it is shown: glob rules cannot be masked in the sandbox beforehand. */
function createFileJudge(root: string | undefined, refuses: Refuses) {
  let last = { path: '', isShown: true };
  let refused = 0;
  return {
    mayShow(path: string): boolean {
      if (root === undefined || path === last.path) return last.isShown;
      last = { path, isShown: path === '' || refuses('read', posix.join(root, path)) === undefined };
      if (!last.isShown) refused++;
      return last.isShown;
    },
    refused: () => refused,
  };
}

/** Formats findings as the tool result, up to the match and size limits. */
function createReport({ base, root }: SearchRoot, { cwd }: ToolContext, hasGaps: boolean) {
  const lines: string[] = [];
  let [bytes, matches, files] = [0, 0, 0];
  let current: string | undefined;
  let stopped: string | undefined;
  let gap = false;
  const nameOf = (path: string): string => shownPath(root === undefined ? base : posix.join(base, path), cwd);

  function push(line: string): boolean {
    bytes += utf8Bytes(line) + 1;
    if (bytes > limits.grepTextBytesMax) stopped = `Only ${shownSize(limits.grepTextBytesMax)} are shown`;
    else lines.push(line);
    return stopped === undefined;
  }

  function enter(path: string): void {
    if (path === current) return;
    current = path;
    gap = false;
    files++;
    push(lines.length === 0 ? nameOf(path) : `\n${nameOf(path)}`);
  }

  return {
    isEmpty: () => lines.length === 0,
    /** False when a limit is reached. */
    add(finding: Exclude<Finding, { kind: 'problem' | 'unfinished' | 'covered' }>, limit: number): boolean {
      if (finding.kind === 'gap') {
        gap = hasGaps;
        return true;
      }
      const isNext = finding.kind !== 'context' || finding.path !== current || gap;
      if (isNext && matches >= limit) {
        stopped = `Stopped at the limit of ${limit}`;
        return false;
      }
      if (finding.kind !== 'context') matches++;
      if (finding.kind === 'file' || finding.kind === 'count') {
        files++;
        return push(finding.kind === 'file' ? nameOf(finding.path) : `${nameOf(finding.path)}: ${finding.count}`);
      }
      const isSame = finding.path === current;
      enter(finding.path);
      if (gap && isSame) push('--');
      gap = false;
      if (finding.kind === 'binary') return push('(binary data matches)');
      return push(`${finding.line}${finding.kind === 'match' ? ':' : '-'} ${finding.text}`);
    },
    end(refused: number, isLate: boolean, problem: string | undefined): ToolResult {
      const notes: string[] = [];
      if (isLate) notes.push('The search timed out before everything was searched: narrow the path or the glob.');
      else if (stopped !== undefined) notes.push(`${stopped}; there may be more. Narrow the search or raise limit.`);
      if (problem !== undefined) notes.push(`The search failed before everything was searched: ${problem}.`);
      if (refused > 0) notes.push(`${counted(refused, 'path')} left out by permission rules.`);
      if (lines.length === 0) lines.push('No matches.');
      const text = notes.length === 0 ? lines.join('\n') : `${lines.join('\n')}\n\n[${notes.join(' ')}]`;
      return toolText(text, false, { counts: { matches, files } });
    },
  };
}

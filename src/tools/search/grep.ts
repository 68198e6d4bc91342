import { posix } from 'node:path';
import * as z from 'zod';
import { utf8Bytes } from '../../protocol/content.js';
import { limits } from '../../protocol/limits.js';
import { makeVisibleLine } from '../../protocol/sanitize.js';
import type { BubblewrapFound } from '../../sandbox/bubblewrap.js';
import { absolutePath, counted, pathParameter, shownPath, shownSize } from '../files/file-paths.js';
import { openDirectory, openFile, type Refuses } from '../files/pinned-files.js';
import { searchPlainly } from './plain-search.js';
import { toolText, type Tool, type ToolContext, type ToolResult } from '../port.js';
import { toolFacts } from '../tool-facts.js';
import { findRipgrep, searchBelowWithRipgrep, searchFileWithRipgrep } from './ripgrep.js';
import type { Finding, Search } from './text-search.js';
import { zodParameters } from '../zod-parameters.js';

const patternCharsMax = 10_000;
const globCharsMax = 1_000;

const withoutNul = (text: string): boolean => !text.includes('\0');
const parameters = z.object({
  pattern: z.string().min(1).max(patternCharsMax).refine(withoutNul, 'a pattern has no NUL character').describe('regular expression'),
  path: pathParameter.optional().describe('file or directory; the working directory without it'),
  glob: z
    .string()
    .min(1)
    .max(globCharsMax)
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
  /** A ripgrep to trust, or undefined for a search without it. */
  ripgrep?: () => Promise<string | undefined>;
  bubblewrap: () => BubblewrapFound;
}

/**
 * Searches the text of files; only lines of files that may be read are shown. Directories are searched by ripgrep where it can be confined:
 * it opens files by name, and a name can lead somewhere else by the time it does.
 */
export function createGrepTool({ ripgrep = findRipgrep, bubblewrap }: Deps): Tool<GrepArgs> {
  let program: Promise<string | undefined> | undefined;

  function finder(program: string | undefined, { reach }: ToolContext): (search: Search) => AsyncGenerator<Finding> {
    return (search) => {
      const { place } = search;
      const { kind, hidden } = reach.confinement;
      const plainly = (): AsyncGenerator<Finding> => searchPlainly(search, reach.refuses);
      if (program === undefined) return plainly();
      if ('file' in place) return searchFileWithRipgrep(program, search, place.file);
      const found = kind === 'sandbox' ? bubblewrap() : undefined;
      if (found === undefined || 'missing' in found) return plainly();
      return searchBelowWithRipgrep({ program, bubblewrap: found.path, hidden }, search, place, plainly);
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
      const find = finder(await program, context);
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

interface Where {
  base: string;
  /** Undefined for a single file, which was judged already. */
  root: string | undefined;
}

async function collect(
  args: GrepArgs,
  place: Search['place'],
  find: (search: Search) => AsyncGenerator<Finding>,
  where: Where,
  context: ToolContext,
): Promise<ToolResult> {
  const { pattern, literal = false, ignore_case: ignoreCase = false, mode = 'content', context: contextLines = 0, glob } = args;
  const limit = args.limit ?? limits.grepMatchesDefault;
  const timeout = AbortSignal.timeout(limits.grepMs);
  const signal = AbortSignal.any([context.signal, timeout]);
  const report = createReport(where, context, mode === 'content' && contextLines > 0);
  const files = createFileJudge(where.root, context.reach.refuses);
  let isLate = false;
  let covered = 0;
  for await (const finding of find({ pattern, literal, ignoreCase, mode, contextLines, glob, place, signal })) {
    if (finding.kind === 'problem') {
      if (report.isEmpty()) return toolText(`The search failed: ${finding.text}`, true);
      break;
    }
    if (finding.kind === 'unfinished') {
      isLate = true;
      break;
    }
    if (finding.kind === 'covered') {
      covered = finding.places;
      continue;
    }
    if (!files.mayShow(finding.path)) continue;
    if (!report.add(finding, limit)) break;
  }
  if (context.signal.aborted) return toolText('Stopped.', true);
  return report.end(files.refused() + covered, isLate || timeout.aborted);
}

/** Judges each file by its path before anything of it is shown: not all that may not be read can be covered up beforehand. */
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

/** Puts together what is told of the findings, within bounds. */
function createReport({ base, root }: Where, { cwd }: ToolContext, hasGaps: boolean) {
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
    /** False when it is enough. */
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
    end(refused: number, isLate: boolean): ToolResult {
      const notes: string[] = [];
      if (isLate) notes.push('It took too long, and not everything was searched: narrow the path or the glob.');
      else if (stopped !== undefined) notes.push(`${stopped}; there may be more. Narrow the search or raise limit.`);
      if (refused > 0) notes.push(`${counted(refused, 'place')} that may not be read left out.`);
      if (lines.length === 0) lines.push('No matches.');
      const text = notes.length === 0 ? lines.join('\n') : `${lines.join('\n')}\n\n[${notes.join(' ')}]`;
      return toolText(text, false, { counts: { matches, files } });
    },
  };
}

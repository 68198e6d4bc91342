import { lstat, type FileHandle } from 'node:fs/promises';
import { posix } from 'node:path';
import * as z from 'zod';
import { limits } from '../../protocol/limits.js';
import { makeVisibleLine } from '../../protocol/sanitize.js';
import { absolutePath, counted, faultOf, pathParameter, shownPath } from '../files/file-paths.js';
import { compileGlob } from './glob-patterns.js';
import { openDirectory, descriptorPath } from '../files/pinned-files.js';
import { toolText, type Tool, type ToolContext, type ToolResult } from '../port.js';
import { toolFacts } from '../tool-facts.js';
import { createWalk, type Walk } from './walk.js';
import { zodParameters } from '../zod-parameters.js';

const tuning = { lstatsAtOnceMax: 32 } as const;

const parameters = z.object({
  pattern: z.string().min(1).max(limits.globPatternCharsMax).describe('such as src/**/*.{ts,tsx}; * stays in one directory'),
  path: pathParameter.optional().describe('directory; the working directory without it'),
});

interface Match {
  path: string;
  mtimeMs: number;
}

/** Finds files by a glob over their paths, newest first, without what .gitignore names. */
export function createGlobTool(): Tool<z.infer<typeof parameters>> {
  return {
    ...toolFacts.glob,
    parameters: zodParameters(parameters),
    title: ({ pattern, path }) => `Find ${makeVisibleLine(pattern)}${path === undefined ? '' : ` in ${makeVisibleLine(path)}`}`,
    prepare: ({ path = '.' }, { cwd }) => Promise.resolve({ accesses: [{ kind: 'read', path: absolutePath(path, cwd) }] }),
    async run({ pattern: named, path = '.' }, context) {
      const base = absolutePath(path, context.cwd);
      const pattern = relativePattern(named, base);
      if (pattern === undefined) return toolText(`The pattern is not below ${shownPath(base, context.cwd)}. Name another path.`, true);
      const glob = compileGlob(pattern);
      if (typeof glob === 'string') return toolText(`The pattern ${glob}.`, true);
      const directory = await openDirectory(base, context.reach.refuses);
      if (typeof directory === 'string') return toolText(`${shownPath(base, context.cwd)} ${directory}.`, true);
      await directory.pin.close();
      const root = directory.realPath;
      const { reach, signal } = context;
      const walk = createWalk({ root, workspace: reach.workspace, refuses: reach.refuses, signal, enter: glob.mayMatchBelow });
      const matches: Match[] = [];
      for await (const { paths, pin } of walk.files()) {
        await addMatches(paths.filter(glob.matches), pin, matches);
        if (matches.length >= limits.globMatchesMax) break;
      }
      return signal.aborted ? toolText('Stopped.', true) : describeMatches(matches, walk, base, root, context);
    },
  };
}

/** Makes an absolute pattern relative to the directory; undefined when the pattern is not below it. */
function relativePattern(pattern: string, base: string): string | undefined {
  if (!pattern.startsWith('/')) return pattern;
  const start = base === '/' ? '/' : `${base}/`;
  return pattern.startsWith(start) ? pattern.slice(start.length) : undefined;
}

async function addMatches(files: readonly string[], pin: FileHandle, matches: Match[]): Promise<void> {
  for (let i = 0; i < files.length && matches.length < limits.globMatchesMax; i += tuning.lstatsAtOnceMax) {
    const batch = files.slice(i, i + tuning.lstatsAtOnceMax);
    const lstats = batch.map((path) => lstat(descriptorPath(pin, posix.basename(path))).catch((error: unknown) => void faultOf(error)));
    const stats = await Promise.all(lstats);
    for (const [k, path] of batch.entries()) matches.push({ path, mtimeMs: stats[k]?.mtimeMs ?? 0 });
  }
}

function describeMatches(matches: Match[], walk: Walk, base: string, root: string, { cwd, reach }: ToolContext): ToolResult {
  matches.sort((a, b) => b.mtimeMs - a.mtimeMs || (a.path < b.path ? -1 : 1));
  const shown: Match[] = [];
  let refused = 0;
  for (const match of matches) {
    if (shown.length >= limits.globResultsMax) break;
    if (reach.refuses('read', posix.join(root, match.path)) === undefined) shown.push(match);
    else refused++;
  }
  const found = matches.length - refused;
  refused += walk.refused;
  const isEarly = walk.stopped !== undefined || matches.length >= limits.globMatchesMax;
  const notes: string[] = [];
  if (shown.length < found) notes.push(`The newest ${shown.length} of ${counted(found, 'file')}.`);
  if (isEarly) notes.push(`Stopped early, after ${counted(walk.entries, 'entry', 'entries')}: narrow the pattern or the path.`);
  if (refused > 0) notes.push(`${counted(refused, 'path')} left out by permission rules.`);
  const lines = shown.map(({ path }) => shownPath(posix.join(base, path), cwd));
  if (lines.length === 0) lines.push('No files match.');
  const text = notes.length === 0 ? lines.join('\n') : `${lines.join('\n')}\n\n[${notes.join(' ')}]`;
  return toolText(text, false, { counts: { files: found } });
}

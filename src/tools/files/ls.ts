import { lstat, opendir, readlink } from 'node:fs/promises';
import type { FileHandle } from 'node:fs/promises';
import * as z from 'zod';
import { limits } from '../../protocol/limits.js';
import { makeVisibleLine } from '../../protocol/sanitize.js';
import { absolutePath, counted, faultOf, isFault, pathParameter, shownPath, shownSize } from './file-paths.js';
import { openDirectory, openFile, descriptorPath } from './pinned-files.js';
import { toolText, type Tool, type ToolContext, type ToolResult } from '../port.js';
import { toolFacts } from '../tool-facts.js';
import { zodParameters } from '../zod-parameters.js';

const namesAtOnce = 1024;

const parameters = z.object({
  path: pathParameter.optional().describe('directory; the working directory without it'),
  limit: z.int().min(1).max(limits.listedEntriesMax).optional().describe(`entries at most; ${limits.listedEntriesDefault} without it`),
});

/** Lists a directory: type and size of each entry, and the targets of symlinks. */
export function createLsTool(): Tool<z.infer<typeof parameters>> {
  return {
    ...toolFacts.ls,
    parameters: zodParameters(parameters),
    title: ({ path }) => `List ${makeVisibleLine(path ?? '.')}`,
    prepare: ({ path = '.' }, { cwd }) => Promise.resolve({ accesses: [{ kind: 'read', path: absolutePath(path, cwd) }] }),
    async run({ path: named = '.', limit = limits.listedEntriesDefault }, context) {
      const path = absolutePath(named, context.cwd);
      const shown = shownPath(path, context.cwd);
      const directory = await openDirectory(path, context.reach.refuses);
      if (typeof directory === 'string') return describeOther(path, shown, directory, context);
      try {
        return await list(directory.pin, shown, limit, context.signal);
      } catch (error) {
        return toolText(`${shown} ${faultOf(error)}.`, true);
      } finally {
        await directory.pin.close();
      }
    },
  };
}

async function describeOther(path: string, shown: string, problem: string, { reach }: ToolContext): Promise<ToolResult> {
  const file = await openFile(path, reach.refuses);
  if (typeof file === 'string') return toolText(`${shown} ${file === 'is a directory' ? problem : file}.`, true);
  await file.handle.close();
  return toolText(`${shown} is a file (${shownSize(file.stat.size)}). Use read.`);
}

async function list(pin: FileHandle, shown: string, limit: number, signal: AbortSignal): Promise<ToolResult> {
  const names: string[] = [];
  let isWhole = true;
  for await (const { name } of await opendir(descriptorPath(pin), { bufferSize: namesAtOnce })) {
    if (signal.aborted) return toolText('Stopped.', true);
    names.push(name);
    isWhole = names.length < limits.directoryEntriesMax;
    if (!isWhole) break;
  }
  if (names.length === 0) return toolText(`${shown} is empty.`, false, { counts: { entries: 0 } });
  names.sort();
  const lines: string[] = [];
  for (const name of names.slice(0, limit)) {
    if (signal.aborted) return toolText('Stopped.', true);
    const line = await describeEntry(pin, name);
    if (line !== undefined) lines.push(line);
  }
  if (!isWhole) lines.push('', `[Only ${limits.directoryEntriesMax} entries were read; there are more. Use glob or a command.]`);
  else if (names.length > limit)
    lines.push('', `[${limit} of ${counted(names.length, 'entry', 'entries')}. Use limit or glob for the others.]`);
  return toolText(lines.join('\n'), false, { counts: { entries: names.length } });
}

/** Undefined when the entry was removed meanwhile. */
async function describeEntry(pin: FileHandle, name: string): Promise<string | undefined> {
  const shown = makeVisibleLine(name);
  try {
    const stat = await lstat(descriptorPath(pin, name));
    if (stat.isDirectory()) return `${shown}/`;
    if (stat.isSymbolicLink()) return `${shown}@ -> ${makeVisibleLine(await readlink(descriptorPath(pin, name)))}`;
    if (stat.isFile()) return `${shown}  ${shownSize(stat.size)}`;
    return `${shown}  (${stat.isFIFO() ? 'FIFO' : stat.isSocket() ? 'socket' : 'device'})`;
  } catch (error) {
    if (isFault(error, 'ENOENT')) return undefined;
    return `${shown}  (${faultOf(error)})`;
  }
}

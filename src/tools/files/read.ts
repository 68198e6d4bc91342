import * as z from 'zod';
import { limits } from '../../protocol/limits.js';
import { makeVisibleLine } from '../../protocol/sanitize.js';
import { absolutePath, counted, pathParameter, shownPath, shownSize } from './file-paths.js';
import { imageSizeOf, imageTypeOf, type ImageType } from './image-files.js';
import { scanLines, type Scan } from '../search/line-scan.js';
import { openFile, readWhole, type OpenFile } from './pinned-files.js';
import { toolText, type Tool, type ToolContext, type ToolResult } from '../port.js';
import { toolFacts } from '../tool-facts.js';
import { sha256Of, stampOf, type ReadMarks } from './read-marks.js';
import { encodingOf, binaryKindOf } from './text-files.js';
import { zodParameters } from '../zod-parameters.js';

const tuning = { sampleBytes: 8 * 1024 } as const;

const parameters = z.object({
  path: pathParameter.describe('file, relative to the working directory or absolute'),
  offset: z.int().min(1).optional().describe('first line, from 1'),
  limit: z.int().min(1).optional().describe(`lines at most; ${limits.readLinesDefault} without it`),
});
type ReadArgs = z.infer<typeof parameters>;

/** Reads a text file with line numbers, or an image. Every truncation is reported to the model. */
export function createReadTool({ marks }: { marks: ReadMarks }): Tool<ReadArgs> {
  return {
    ...toolFacts.read,
    parameters: zodParameters(parameters),
    title: ({ path }) => `Read ${makeVisibleLine(path)}`,
    prepare: ({ path }, { cwd }) => Promise.resolve({ accesses: [{ kind: 'read', path: absolutePath(path, cwd) }] }),
    async run(args, context) {
      const path = absolutePath(args.path, context.cwd);
      const shown = shownPath(path, context.cwd);
      const file = await openFile(path, context.reach.refuses);
      if (typeof file === 'string') return toolText(`${shown} ${file}.${file === 'is a directory' ? ' Use ls.' : ''}`, true);
      try {
        return await readFile(file, shown, args, context, marks);
      } finally {
        await file.handle.close();
      }
    },
  };
}

async function readFile(file: OpenFile, shown: string, args: ReadArgs, context: ToolContext, marks: ReadMarks): Promise<ToolResult> {
  const { handle, realPath, stat } = file;
  const note = (digest: string | undefined): void => marks.note(context.sessionId, realPath, { digest, stamp: stampOf(stat) });
  const sample = Buffer.alloc(tuning.sampleBytes);
  const { bytesRead } = await handle.read(sample, 0, tuning.sampleBytes, 0);
  const begin = sample.subarray(0, bytesRead);
  if (bytesRead === 0) {
    note(sha256Of(begin));
    return toolText(`${shown} is empty.`);
  }
  const imageType = imageTypeOf(begin);
  const encoding = imageType === undefined ? encodingOf(begin) : undefined;
  if (encoding === undefined) {
    const bytes = await readWhole(handle, limits.textFileBytesMax);
    note(bytes && sha256Of(bytes));
    if (imageType !== undefined) return showImage(bytes, imageType, shown, stat.size);
    return toolText(`${shown} is ${binaryKindOf(begin)} (${shownSize(stat.size)}), not text. Use a command to look into it.`, true);
  }
  const { offset = 1, limit = limits.readLinesDefault } = args;
  const whole = stat.size <= limits.textFileBytesMax;
  const scan = await scanLines(handle, { encoding, offset, limit, whole, signal: context.signal });
  if (context.signal.aborted) return toolText('Stopped.', true);
  note(scan.digest);
  const encodingNote = encoding === 'utf-8' ? [] : [`This file is ${encoding.toUpperCase()}: it can be read but not edited.`];
  return showLines(scan, shown, offset, encodingNote);
}

function showImage(bytes: Buffer | undefined, mimeType: ImageType, shown: string, size: bigint): ToolResult {
  if (bytes === undefined || bytes.length > limits.imageBytesMax) {
    return toolText(
      `${shown} is an image of ${shownSize(size)}; at most ${shownSize(limits.imageBytesMax)} can be shown. Make it smaller.`,
      true,
    );
  }
  const pixels = imageSizeOf(bytes, mimeType);
  if (pixels === undefined) return toolText(`${shown} begins like an image (${mimeType}) but is broken.`, true);
  const { width, height } = pixels;
  if (Math.max(width, height) > limits.imageSidePixelsMax) {
    return toolText(`${shown} has ${width}x${height} pixels; at most ${limits.imageSidePixelsMax} a side can be shown.`, true);
  }
  return {
    content: [
      { type: 'text', text: `${shown}: ${mimeType}, ${width}x${height} pixels, ${shownSize(size)}.` },
      { type: 'image', data: bytes.toString('base64'), mime_type: mimeType },
    ],
    isError: false,
    details: { counts: { bytes: bytes.length } },
  };
}

function showLines(scan: Scan, shown: string, offset: number, notes: string[]): ToolResult {
  const { lines, cut, last, totalLines, isBroken, isLate, seen } = scan;
  if (lines.length === 0) {
    if (totalLines !== undefined) return toolText(`${shown} has ${counted(totalLines, 'line')}; there is no line ${offset}.`, true);
    return toolText(`${shown} is too large to find line ${offset} in time: ${counted(seen, 'line')} were counted. Use a command.`, true);
  }
  const of = totalLines === undefined ? '' : ` of ${totalLines}`;
  if (offset > 1 || last !== totalLines) notes.push(`Lines ${offset}-${last}${of}.`);
  if (last !== totalLines) {
    notes.push(isLate && totalLines === undefined ? 'Reading further timed out.' : `Go on with offset: ${last + 1}.`);
  }
  if (cut.length > 0) {
    const named = cut.slice(0, limits.cutLinesNamedMax).join(', ') + (cut.length > limits.cutLinesNamedMax ? ' and others' : '');
    notes.push(`Only the first ${limits.readLineCharsMax} characters of ${cut.length === 1 ? 'line' : 'lines'} ${named} are shown.`);
  }
  if (isBroken) notes.push('Bytes that are not UTF-8 are shown as \ufffd.');
  const text = lines.map((line, i) => `${offset + i}\t${line}`).join('\n');
  return toolText(notes.length === 0 ? text : `${text}\n\n[${notes.join(' ')}]`, false, { counts: { lines: lines.length } });
}

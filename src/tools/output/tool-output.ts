import * as z from 'zod';
import { limits } from '../../protocol/limits.js';
import { cleanText } from './clean-text.js';
import { incompleteUtf8Tail, incompleteUtf8Head } from './tail-buffer.js';
import { createLineFinder, searchLines } from './output-search.js';
import { toolText, touchesNothing, type Artifacts, type Tool, type ToolResult } from '../port.js';
import { toolFacts } from '../tool-facts.js';
import { zodParameters } from '../zod-parameters.js';

const parameters = z.object({
  artifact_id: z.string().min(1).max(limits.toolIdCharsMax),
  offset: z.number().int().min(0).optional().describe('bytes to skip'),
  limit: z
    .number()
    .int()
    .min(1)
    .optional()
    .describe(`bytes, ${limits.outputPageBytesDefault} if not given, at most ${limits.outputPageBytesMax}`),
  pattern: z.string().min(1).max(limits.outputSearchCharsMax).optional().describe('only lines with this text'),
  regex: z.boolean().optional().describe('pattern is a regular expression'),
  context_lines: z.number().int().min(0).max(limits.outputSearchContextMax).optional().describe('lines around each match'),
});

type OutputArgs = z.infer<typeof parameters>;

/** Pages and searches output that was truncated in a tool result, in chunks of bounded size. */
export function createToolOutputTool(): Tool<OutputArgs> {
  return {
    ...toolFacts.tool_output,
    parameters: zodParameters(parameters),
    prepare: touchesNothing,
    title: ({ artifact_id, pattern }) => (pattern === undefined ? `Read ${artifact_id}` : `Search ${artifact_id}`),
    run: async (args, context) =>
      args.pattern === undefined ? readPage(args, context.artifacts) : search(args.pattern, args, context.artifacts, context.signal),
  };
}

function readPage({ artifact_id, offset = 0, limit = limits.outputPageBytesDefault }: OutputArgs, artifacts: Artifacts): ToolResult {
  const wanted = Math.min(limit, limits.outputPageBytesMax);
  const found = artifacts.read(artifact_id, offset, wanted);
  if (!found) return noArtifact(artifact_id);
  const { data, totalBytes, droppedBytes = 0 } = found;
  if (totalBytes === 0 && droppedBytes > 0) return outputGone(artifact_id, droppedBytes);
  if (data.length === 0) return toolText(`[nothing at offset ${offset}: the output has ${totalBytes} bytes]`);
  const isLast = offset + data.length >= totalBytes;
  const skipped = offset > 0 ? incompleteUtf8Head(data) : 0;
  const held = isLast ? 0 : incompleteUtf8Tail(data);
  // A chunk that is nothing but an incomplete UTF-8 sequence is shown as it is.
  const piece = skipped + held < data.length ? data.subarray(skipped, data.length - held) : data;
  const end = piece === data ? offset + data.length : offset + data.length - held;
  const text = cleanText(piece.toString('utf8'));
  const rest =
    end < totalBytes ? `[bytes ${offset} to ${end} of ${totalBytes}; go on with offset ${end}]` : `[the end, at ${totalBytes} bytes]`;
  return toolText(`${text}${text.endsWith('\n') ? '' : '\n'}${rest}`);
}

async function search(pattern: string, args: OutputArgs, artifacts: Artifacts, signal: AbortSignal): Promise<ToolResult> {
  const finder = createLineFinder(pattern, args.regex ?? false);
  if (typeof finder === 'string') return toolText(finder, true);
  const { totalBytes, droppedBytes = 0 } = artifacts.read(args.artifact_id, 0, 1) ?? { totalBytes: 0 };
  if (totalBytes === 0 && droppedBytes > 0) return outputGone(args.artifact_id, droppedBytes);
  const found = await searchLines({
    read: (offset, limit) => artifacts.read(args.artifact_id, offset, limit),
    finder,
    offset: args.offset ?? 0,
    contextLines: args.context_lines ?? 0,
    bytesMax: Math.min(args.limit ?? limits.outputPageBytesDefault, limits.outputPageBytesMax),
    signal,
  });
  if (found === undefined) return noArtifact(args.artifact_id);
  if (found.problem !== undefined) return toolText(found.problem, true);
  const { lines, matches, next } = found;
  const more = next === undefined ? '' : `; there may be more: go on with offset ${next}`;
  return toolText(
    [...lines, `[${matches === 0 ? 'no line' : matches === 1 ? '1 line' : `${matches} lines`} found${more}]`].join('\n'),
    false,
    {
      counts: { matches },
    },
  );
}

function outputGone(id: string, bytes: number): ToolResult {
  return toolText(`The output ${id} (${bytes} bytes) was deleted to make room for newer outputs. Run the command again.`, true);
}

function noArtifact(id: string): ToolResult {
  return toolText(`There is no artifact ${JSON.stringify(id)} in this session.`, true);
}

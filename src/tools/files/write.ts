import * as z from 'zod';
import { makeVisibleLine } from '../../protocol/sanitize.js';
import { changeResult, knowledgeOf, outdatedFile, staleApproval, unreadFile, type ChangeDeps } from './file-changes.js';
import { absolutePath, counted, pathParameter, shownPath, shownSize } from './file-paths.js';
import type { Refuses } from './pinned-files.js';
import { basisOf, findTarget, replaceTarget, type Target } from './pinned-targets.js';
import { toolText, type PrepareContext, type Tool } from '../port.js';
import { toolFacts } from '../tool-facts.js';
import { countLines, decodeText } from './text-files.js';
import { diffTexts, type TextDiff } from './unified-diff.js';
import { zodParameters } from '../zod-parameters.js';

const parameters = z.object({
  path: pathParameter.describe('file, relative to the working directory or absolute'),
  content: z
    .string()
    .refine((content) => content.isWellFormed(), 'half of a surrogate pair cannot be written')
    .describe('the whole text'),
});
type WriteArgs = z.infer<typeof parameters>;

interface Plan extends AsyncDisposable {
  target: Target;
  shown: string;
  change: TextDiff | undefined;
}

/** Creates or replaces a file atomically. An existing file must have been read first, so that no unread content is overwritten. */
export function createWriteTool({ marks }: ChangeDeps): Tool<WriteArgs> {
  async function plan({ path, content }: WriteArgs, context: PrepareContext, refuses: Refuses): Promise<Plan | string> {
    const shown = shownPath(absolutePath(path, context.cwd), context.cwd);
    if (path.endsWith('/')) return `${shown} is named as a directory. Name a file.`;
    const target = await findTarget(absolutePath(path, context.cwd), refuses);
    if (typeof target === 'string') return `${shown} ${target}.`;
    const knowledge = knowledgeOf(marks, context.sessionId, target);
    if (knowledge !== 'known') {
      await target[Symbol.asyncDispose]();
      return knowledge === 'unread' ? unreadFile(shown) : outdatedFile(shown);
    }
    return { target, shown, change: diffOf(target, shown, content), [Symbol.asyncDispose]: () => target[Symbol.asyncDispose]() };
  }

  return {
    ...toolFacts.write,
    parameters: zodParameters(parameters),
    title: ({ path }) => `Write ${makeVisibleLine(path)}`,
    async prepare(args, context) {
      const planned = await plan(args, context, () => undefined);
      if (typeof planned === 'string') return planned;
      await using _ = planned;
      const { change } = planned;
      return {
        accesses: [{ kind: 'write', path: absolutePath(args.path, context.cwd), real: planned.target.realPath }],
        ...(change ? { diff: change.diff, diffIsCut: change.isCut } : {}),
        basis: basisOf(planned.target),
      };
    },
    async run(args, context) {
      const planned = await plan(args, context, context.reach.refuses);
      if (typeof planned === 'string') return toolText(planned, true);
      await using _ = planned;
      const { target, shown, change } = planned;
      if (context.basis !== undefined && context.basis !== basisOf(target)) return toolText(staleApproval(shown), true);
      if (context.signal.aborted) return toolText('Stopped.', true);
      const bytes = Buffer.from(args.content);
      if (target.current?.bytes?.equals(bytes)) return toolText(`${shown} already has exactly this content.`);
      const written = await replaceTarget(target, bytes, context.reach.umask);
      if (typeof written === 'string') return toolText(`${shown} ${written}.`, true);
      marks.note(context.sessionId, target.realPath, written);
      const size = `${counted(countLines(args.content), 'line')}, ${shownSize(bytes.length)}`;
      if (target.current === undefined) return changeResult(`Created ${shown} (${size}).`, change, false);
      return changeResult(`Replaced ${shown} (${size}).`, change, true);
    },
  };
}

/** Undefined when the old content is binary, too large for a diff, or may not be shown. */
function diffOf({ current }: Target, shown: string, content: string): TextDiff | undefined {
  if (current === undefined) return diffTexts(shown, undefined, content);
  const before = current.readRefusal === undefined && current.bytes ? decodeText(current.bytes) : undefined;
  return before === undefined || typeof before === 'string' ? undefined : diffTexts(shown, before.text, content);
}

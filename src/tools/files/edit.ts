import * as z from 'zod';
import { limits } from '../../protocol/limits.js';
import { makeVisibleLine } from '../../protocol/sanitize.js';
import { changeResult, knowledgeOf, outdatedFile, staleApproval, unreadFile, type ChangeDeps } from './file-changes.js';
import { absolutePath, counted, pathParameter, shownPath, shownSize } from './file-paths.js';
import type { Refuses } from './pinned-files.js';
import { basisOf, findTarget, replaceTarget, type Target } from './pinned-targets.js';
import { toolText, type Access, type PrepareContext, type Tool } from '../port.js';
import { toolFacts } from '../tool-facts.js';
import { applyEdits, type TextEdit } from './text-edits.js';
import { decodeText, encodeText } from './text-files.js';
import { diffTexts } from './unified-diff.js';
import { zodParameters } from '../zod-parameters.js';

const wellFormed = z.string().refine((text) => text.isWellFormed(), 'half of a surrogate pair cannot be written');
const oldText = z.string().describe('exact text that is there once');
const newText = wellFormed.describe('what takes its place');
const replaceAll = z.boolean().optional().describe('every place, not just one');

const parameters = z
  .object({
    path: pathParameter.describe('file, relative to the working directory or absolute'),
    edits: z
      .array(z.object({ old_text: oldText, new_text: newText, replace_all: replaceAll }))
      .min(1)
      .max(limits.editsPerCallMax)
      .optional()
      .describe('applied in order, all or none'),
    old_text: oldText.optional(),
    new_text: newText.optional(),
    replace_all: replaceAll,
  })
  .refine(
    ({ edits, old_text, new_text }) => (edits === undefined ? old_text !== undefined && new_text !== undefined : old_text === undefined),
    'give edits, or old_text and new_text',
  );
type EditArgs = z.infer<typeof parameters>;

interface Plan extends AsyncDisposable {
  target: Target;
  shown: string;
  before: string | undefined;
  after: string;
  bytes: Buffer;
  replaced: number;
}

/** Why there is no plan. */
interface Unplanned {
  problem: string;
  /** The real path of a file that the session has not read: `problem` may reveal its content. */
  unread?: string;
}

/**
 * Replaces pieces of a text file atomically. A session that has read the file is told when the file has changed since; one that knows the text
 * from elsewhere, such as the output of a command, may replace only what occurs exactly once.
 */
export function createEditTool({ marks }: ChangeDeps): Tool<EditArgs> {
  async function plan(args: EditArgs, context: PrepareContext, refuses: Refuses): Promise<Plan | Unplanned> {
    const path = absolutePath(args.path, context.cwd);
    const shown = shownPath(path, context.cwd);
    const target = await findTarget(path, refuses);
    if (typeof target === 'string') return { problem: `${shown} ${target}.` };
    const isUnread = knowledgeOf(marks, context.sessionId, target) === 'unread';
    const changed = await change(target, shown, args, context);
    if (typeof changed !== 'string') return { target, shown, ...changed, [Symbol.asyncDispose]: target[Symbol.asyncDispose] };
    await target[Symbol.asyncDispose]();
    return { problem: changed, ...(isUnread ? { unread: target.realPath } : {}) };
  }

  async function change(target: Target, shown: string, args: EditArgs, { sessionId }: PrepareContext) {
    const edits = editsOf(args);
    const [first] = edits;
    const { current } = target;
    if (current === undefined || current.stat.size === 0n) return create(edits, current === undefined ? undefined : '', shown);
    const knowledge = knowledgeOf(marks, sessionId, target);
    if (knowledge === 'outdated') return outdatedFile(shown);
    if (first === undefined || edits.some(({ old_text }) => old_text === '')) {
      return `${shown} is not empty, so old_text may not be. Give the text to replace, or use write.`;
    }
    if (current.readRefusal !== undefined) return `${shown} may not be read: ${current.readRefusal}.`;
    if (current.bytes === undefined)
      return `${shown} (${shownSize(current.stat.size)}) is too large to be edited; at most ${shownSize(limits.textFileBytesMax)}. Use a command.`;
    const file = decodeText(current.bytes);
    if (typeof file === 'string') return `${shown} ${file}.`;
    const edited = await applyEdits(file.text, edits);
    if (typeof edited === 'string') return `${shown}: ${edited}`;
    // An unread file gets no `replace_all`: the model has not seen the occurrences.
    if (knowledge === 'unread' && edited.replaced > edits.length) return unreadFile(shown);
    const bytes = encodeText({ text: edited.text, hasBom: file.hasBom });
    if (bytes.length > limits.textFileBytesMax)
      return `${shown} would become too large (${shownSize(bytes.length)}; at most ${shownSize(limits.textFileBytesMax)}).`;
    return { before: file.text, after: edited.text, bytes, replaced: edited.replaced };
  }

  return {
    ...toolFacts.edit,
    parameters: zodParameters(parameters),
    title: ({ path }) => `Edit ${makeVisibleLine(path)}`,
    async prepare(args, context) {
      const planned = await plan(args, context, () => undefined);
      if ('problem' in planned) {
        const { problem, unread } = planned;
        return unread === undefined ? problem : { accesses: accessesOf(args, context, unread), problem };
      }
      await using _ = planned;
      const { target, shown, before, after } = planned;
      const { diff, isCut } = diffTexts(shown, before, after);
      return {
        accesses: accessesOf(args, context, target.realPath),
        diff,
        diffIsCut: isCut,
        basis: basisOf(target),
      };
    },
    async run(args, context) {
      const planned = await plan(args, context, context.reach.refuses);
      if ('problem' in planned) return toolText(planned.problem, true);
      await using _ = planned;
      const { target, shown, before, after, bytes, replaced } = planned;
      if (context.basis !== undefined && context.basis !== basisOf(target)) return toolText(staleApproval(shown), true);
      if (context.signal.aborted) return toolText('Stopped.', true);
      if (before === after) return toolText(`${shown} is as it was: old_text and new_text are the same.`);
      const written = await replaceTarget(target, bytes, context.reach.umask);
      if (typeof written === 'string') return toolText(`${shown} ${written}.`, true);
      marks.note(context.sessionId, target.realPath, written);
      const words = before === undefined ? `Created ${shown}.` : `Edited ${shown} in ${counted(replaced, 'place')}.`;
      return changeResult(words, diffTexts(shown, before, after), before !== undefined);
    },
  };
}

function accessesOf({ path }: EditArgs, { cwd }: PrepareContext, real: string): Access[] {
  const at = { path: absolutePath(path, cwd), real };
  return [
    { kind: 'read', ...at },
    { kind: 'write', ...at },
  ];
}

function editsOf({ edits, old_text = '', new_text = '', replace_all }: EditArgs): TextEdit[] {
  return edits ?? [{ old_text, new_text, replace_all }];
}

async function create(edits: readonly TextEdit[], before: string | undefined, shown: string) {
  const [first, ...others] = edits;
  if (first?.old_text !== '') {
    return `${shown} ${before === undefined ? 'does not exist' : 'is empty'}. An empty old_text ${before === undefined ? 'creates' : 'fills'} it.`;
  }
  const edited = await applyEdits(first.new_text, others);
  if (typeof edited === 'string') return `${shown}: ${edited}`;
  return { before, after: edited.text, bytes: Buffer.from(edited.text), replaced: 1 };
}

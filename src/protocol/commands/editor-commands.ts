import * as z from 'zod';
import { limits } from '../limits.js';
import { draftView, listedFile, sentPrompt } from '../views.js';
import { accepted, command, forSession, inSession, page } from './command-shapes.js';

const draftId = z
  .string()
  .max(limits.inputIdCharsMax)
  .regex(/^dra_[A-Za-z0-9_.:-]{1,124}$/, 'dra_ and 1 to 124 of A-Z a-z 0-9 _ . : -');

/** Commands for the editor of a frontend: drafts, earlier prompts and completion of paths. */
export const editorCommands = {
  set_draft: command({
    summary:
      'Stores what a person has begun to write, until it is replaced or deleted by an empty text. A frontend chooses one `draft_id` for a session and keeps it.',
    payload: () => z.looseObject({ draft_id: draftId, text: z.string(), ...inSession }),
    reply: accepted('set_draft', () => ({ ...forSession, draft_id: z.string() })),
    role: 'controller',
  }),
  list_drafts: command({
    summary: 'Drafts of a session, newest first, or the one with a `draft_id`.',
    payload: () => z.looseObject({ draft_id: draftId.optional(), ...inSession }),
    reply: { type: 'drafts', payload: () => z.object({ session_id: z.string(), drafts: z.array(draftView) }) },
    role: 'observer',
  }),
  list_prompts: command({
    summary:
      'What people have sent, newest first and each text once; first that of sessions in the same directory. `query` is a part of the text in any case.',
    payload: () => z.looseObject({ query: z.string().max(limits.searchQueryCharsMax).default(''), ...page, ...inSession }),
    reply: { type: 'prompts', payload: () => z.object({ prompts: z.array(sentPrompt), has_more: z.boolean() }) },
    role: 'observer',
  }),
  list_files: command({
    summary:
      'Files and directories of the session’s directory that match a query, best first, for completion. Files that git ignores or that may not be read are left out.',
    payload: () => z.looseObject({ query: z.string().max(limits.fileQueryCharsMax).default(''), ...page, ...inSession }),
    reply: {
      type: 'files',
      payload: () =>
        z.object({
          files: z.array(listedFile),
          /** How many match. */
          total: z.number(),
          /** The directory is too large: only a part of it was looked at. */
          truncated: z.boolean(),
        }),
    },
    role: 'observer',
    waits: true,
  }),
} as const;

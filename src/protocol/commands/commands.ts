import * as z from 'zod';
import { limits } from '../limits.js';
import { frozenCommands } from './frozen-commands.js';
import { extendedCommands } from './extended-commands.js';
import { editorCommands } from './editor-commands.js';
import { cursorCommands } from './cursor-commands.js';
import { permissionCommands } from './permission-commands.js';

/** The command table: the source of all schemas, types, docs and the test matrix. */
export const commands = { ...frozenCommands, ...extendedCommands, ...editorCommands, ...permissionCommands, ...cursorCommands } as const;

/** The one command of the event socket. */
export const subscribe = {
  summary: 'Events of one session or of all (`*`), after a cursor or from now on.',
  payload: z.looseObject({
    session_id: z.string().min(1).max(limits.idCharsMax),
    after: z.int().min(0).optional(),
    log_id: z.string().max(limits.idCharsMax).optional(),
    live: z.boolean().default(true),
    client_id: z.string().max(limits.idCharsMax).optional(),
  }),
  reply: {
    type: 'subscribed',
    payload: z.object({ seq: z.number(), resumed: z.boolean(), log_id: z.string(), session_id: z.string() }),
  },
} as const;

export type CommandType = keyof typeof commands;
/** A payload as a client sends it: fields with a default are optional. */
export type CommandInput<T extends CommandType> = z.input<(typeof commands)[T]['payload']>;
/** A payload as a handler gets it: defaults filled in. */
export type CommandPayload<T extends CommandType> = z.output<(typeof commands)[T]['payload']>;
/** `prompt` has two replies: with `wait:false` it is accepted like a steer. */
export type ReplyPayload<T extends CommandType> = z.infer<(typeof commands)[T]['reply']['payload']>;

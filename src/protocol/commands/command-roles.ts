import type { CommandType } from './commands.js';

/**
 * The `observer` commands of the command table: they change no session, and a client may repeat them after a lost connection. Duplicated here, because
 * importing the table would load zod at the start of a client.
 */
export const observerCommands = [
  'ping',
  'get_state',
  'get_messages',
  'get_tree',
  'hello',
  'attach',
  'detach',
  'list_clients',
  'list_sessions',
  'search_messages',
  'get_queue',
  'list_runs',
  'list_ui_requests',
  'list_models',
  'list_tools',
  'get_artifact',
  'get_daemon',
  'list_drafts',
  'list_prompts',
  'list_files',
  'list_permissions',
  'get_ruling',
  'list_decisions',
  'ack_cursor',
  'list_cursors',
] as const satisfies readonly CommandType[];

/** The commands with an idempotency key (`input_id`). */
export const inputCommands = ['prompt', 'steer', 'follow_up'] as const satisfies readonly CommandType[];

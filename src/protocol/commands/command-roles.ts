import type { CommandType } from './commands.js';

/**
 * The commands that the command table calls `observer`: they change nothing, so a client may send them again after a lost connection.
 * Here once more because the table itself costs a client zod at its start.
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
  'list_permissions',
  'get_ruling',
  'list_decisions',
] as const satisfies readonly CommandType[];

/** The commands whose `input_id` makes them take effect once, however often they are sent. */
export const inputCommands = ['prompt', 'steer', 'follow_up'] as const satisfies readonly CommandType[];

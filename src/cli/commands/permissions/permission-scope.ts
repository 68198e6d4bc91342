import type { Berth } from '../../../client/connect.js';
import type { CommandInput } from '../../../protocol/commands/commands.js';
import { directoryHere } from '../../directory.js';
import type { Cli } from '../../subcommand.js';

/** The scope of a permissions command: the named session, or the current directory. */
export async function readScope(
  cli: Cli,
  berth: Berth,
  session: string | undefined,
): Promise<Pick<CommandInput<'list_permissions'>, 'session_id' | 'cwd'>> {
  return session === undefined ? { cwd: directoryHere(berth) } : { session_id: await cli.resolve(berth, session) };
}

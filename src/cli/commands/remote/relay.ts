import { homeOrRoot } from '../../../machine/home.js';
import { RelayBroken } from '../../../client/remote/frames.js';
import { runRelay } from '../../../client/remote/relay.js';
import { createUnixTransport } from '../../../client/unix-transport.js';
import { exit, WrongUsage } from '../../exit.js';
import type { Subcommand } from '../../subcommand.js';

interface Args {
  start?: true;
}

export const relay: Subcommand = {
  usage: 'relay',
  summary: 'Carry the streams of a client on another machine to the daemon here; what berth --host runs through ssh.',
  options: { '--start': 'start the daemon first, if none runs' },
  hosts: 'ignored',
  notes:
    'It speaks frames on standard input and output (docs/operations.md, "From another machine"), and ends when its input does. Without\n' +
    '--start, a daemon is started when the client asks for it.',
  examples: {
    'ssh box berth relay': 'what berth --host box begins with',
  },
  async run({ start }: Args, { paths }) {
    if (process.stdin.isTTY) throw new WrongUsage('berth relay is for programs; berth --host HOST reaches the daemon of another machine');
    const transport = createUnixTransport(paths);
    if (start) await transport.start?.();
    try {
      await runRelay({ input: process.stdin, output: process.stdout, transport, home: homeOrRoot(process.env) });
      return exit.ok;
    } catch (error) {
      if (error instanceof RelayBroken) throw new WrongUsage(`what came is not for berth relay: ${error.message}`);
      throw error;
    }
  },
};

import { exit } from './exit.js';
import { createPrintableStream } from './printable.js';
import { orRefused } from './refusals.js';
import { isTerminal, writeOut } from './standard-streams.js';
import type { Subcommand } from './subcommand.js';

interface Args {
  id: string;
  raw?: true;
}

export const artifact: Subcommand = {
  usage: 'artifact <id>',
  summary: 'Print all of an output that was too long to show.',
  options: { '--raw': 'as it is, also to a terminal' },
  notes: [
    'ID is what a result names. On a terminal, what it might act on is made visible; anywhere else the text is as it was said.',
    '  berth artifact art_0123 | less',
  ].join('\n'),
  async run({ id: artifact_id, raw }: Args, cli) {
    const berth = await cli.connect();
    const clean = raw || !isTerminal() ? undefined : createPrintableStream();
    for (let offset = 0; ;) {
      const piece = orRefused(await berth.call('get_artifact', { artifact_id, offset }));
      writeOut(clean ? clean.push(piece.data) : piece.data);
      // A file that became shorter has no more, whatever was said.
      if (!piece.has_more || piece.next_offset <= offset) break;
      offset = piece.next_offset;
    }
    writeOut(clean?.end() ?? '');
    return exit.ok;
  },
};

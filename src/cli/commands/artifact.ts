import { limits } from '../../protocol/limits.js';
import { createPrintableStream } from '../../view/printable.js';
import { exit } from '../exit.js';
import { orRefused } from '../refusals.js';
import { isTerminal, writeOut } from '../terminal/standard-streams.js';
import type { Subcommand } from '../subcommand.js';

interface Args {
  id: string;
  raw?: true;
}

const mebibyte = 1024 * 1024;

export const artifact: Subcommand = {
  usage: 'artifact <id>',
  summary: 'Print an output that was too long to show.',
  options: { '--raw': 'as it is, also to a terminal' },
  notes: [
    `ID is what a result names. Of an output of more than ${limits.outputFileBytesMax / mebibyte} MiB the beginning is kept, and standard error says so at the end.`,
    'On a terminal, what it might act on is made visible; anywhere else the text is as it was said.',
  ].join('\n'),
  examples: {
    'berth artifact art_0123 | less': 'page through it',
  },
  async run({ id: artifact_id, raw }: Args, cli) {
    const berth = await cli.connect();
    const clean = raw || !isTerminal() ? undefined : createPrintableStream();
    for (let offset = 0; ;) {
      const piece = orRefused(await berth.call('get_artifact', { artifact_id, offset }));
      writeOut(clean ? clean.push(piece.data) : piece.data);
      // Guards against an endless loop when the artifact was truncated meanwhile.
      if (!piece.has_more || piece.next_offset <= offset) {
        writeOut(clean?.end() ?? '');
        const { total_bytes: kept, dropped_bytes: dropped } = piece;
        if (dropped > 0) cli.printError(`berth: this is not all: only the first ${kept} of ${kept + dropped} bytes were kept`);
        return exit.ok;
      }
      offset = piece.next_offset;
    }
  },
};

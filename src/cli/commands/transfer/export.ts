import { resolve } from 'node:path';
import { writeExportFile } from '../../../client/export-file.js';
import { exportSession } from '../../../client/export-session.js';
import { exportFormats, formatOfFile, type ExportFormat } from '../../../view/export/export-format.js';
import { exit, Refused, WrongUsage } from '../../exit.js';
import { orRefused } from '../../refusals.js';
import { writeOut } from '../../terminal/standard-streams.js';
import type { Subcommand } from '../../subcommand.js';

interface Args {
  session?: string;
  format?: string;
  output?: string;
  force?: true;
}

export const exportCommand: Subcommand = {
  usage: 'export [session]',
  summary: 'Write a conversation as Markdown, as a web page, or as JSON lines.',
  options: {
    '--format <name>': `${exportFormats.join(', ')} (default: by the name of the file, or else markdown)`,
    '-o, --output <file>': 'into a new file that only you can read, instead of standard output',
    '--force': 'replace the file if there is one',
  },
  notes: [
    'markdown and html have the path to where the session is; jsonl has everything, with all branches (docs/export.md).',
    'The page of html is one file: it loads nothing and runs nothing, whatever is said in it.',
  ].join('\n'),
  examples: {
    'berth export . -o talk.html': 'a page to send to somebody',
    'berth export . --format jsonl | wc -l': 'everything, for programs',
  },
  async run({ session, format, output, force: isForced }: Args, cli) {
    const force = isForced ?? false;
    const chosen = readFormat(format ?? (output === undefined ? undefined : formatOfFile(output)) ?? 'markdown');
    if (force && output === undefined) throw new WrongUsage('--force says to replace a file, which -o names');
    const berth = await cli.connect();
    const order = { sessionId: await cli.resolve(berth, session), format: chosen };
    const writeAll = (write: (text: string) => void): Promise<number> =>
      exportSession(async (type, payload) => orRefused(await berth.call(type, payload)), { ...order, write });
    if (output === undefined) {
      await writeAll(writeOut);
      return exit.ok;
    }
    const count = await intoFile(output, force, writeAll);
    cli.notice(`${count} message${count === 1 ? '' : 's'} written to ${resolve(output)}`);
    return exit.ok;
  },
};

function readFormat(typed: string): ExportFormat {
  const found = exportFormats.find((format) => format === typed);
  if (!found) throw new WrongUsage(`--format is one of ${exportFormats.join(', ')}, not ${JSON.stringify(typed)}`);
  return found;
}

async function intoFile(file: string, force: boolean, work: (write: (text: string) => void) => Promise<number>): Promise<number> {
  try {
    return await writeExportFile(resolve(file), force, work);
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code;
    if (code === 'EEXIST') throw new Refused(`${file} is there already; --force replaces it`, { cause: error });
    if ((error as NodeJS.ErrnoException).syscall === undefined) throw error;
    throw new Refused(`${file} cannot be written: ${(error as Error).message}`, { cause: error });
  }
}

import { resolve } from 'node:path';
import { writeExportFile } from '../../client/export-file.js';
import { exportSession } from '../../client/export-session.js';
import { exportFileName, formatOfFile } from '../../view/export/export-format.js';
import { attempt } from '../app/context.js';
import { accepted } from '../app/refusals.js';
import type { PaneParts } from '../pane/session-pane.js';

/** Writes the whole conversation to a new file, also what is not loaded. Its name says the format; an existing file is never overwritten. */
export function exportToFile(file: string, { context, attached: { sessionId } }: PaneParts): void {
  const format = formatOfFile(file) ?? 'markdown';
  const path = resolve(file === '' ? exportFileName(sessionId, format) : file);
  attempt(context, 'not exported', async () => {
    const count = await writeExportFile(path, false, (write) =>
      exportSession(async (type, payload) => accepted(await context.berth.call(type, payload)), { sessionId, format, write }),
    );
    context.notice(`${count} messages written to ${path}`);
  });
}

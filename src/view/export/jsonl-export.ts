import type { Message } from '../../protocol/messages.js';
import { printableJson } from '../printable.js';
import type { ExportWriter } from './exported-session.js';

/** The first line says what follows, the last how many messages there were: docs/export.md. */
const jsonlFormat = { name: 'berth-session', version: 1 } as const;

/** Everything that a session has, losslessly: a line for each message, parents before their children. */
export function createJsonlWriter(): ExportWriter {
  let messages = 0;
  return {
    begin: (session) => toLine({ type: 'session', format: jsonlFormat.name, version: jsonlFormat.version, ...session }),
    add(message: Message) {
      messages += 1;
      return toLine(message);
    },
    end: () => toLine({ type: 'end', messages }),
  };
}

function toLine(value: unknown): string {
  return `${printableJson(value)}\n`;
}

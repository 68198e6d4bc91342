import { printableJson } from '../view/printable.js';

/** Does a command line ask for JSON? Also one that cannot be parsed. */
export function wantsJson(argv: readonly string[]): boolean {
  const end = argv.indexOf('--');
  return argv.slice(0, end < 0 ? undefined : end).includes('--json');
}

/** An error for programs: one line of JSON, told apart by its code. */
export function toErrorLine(code: string, message: string): string {
  return `${printableJson({ error: { code, message } })}\n`;
}

/** Something to know that is no error, for programs: one line of JSON. */
export function toNoticeLine(message: string): string {
  return `${printableJson({ notice: { message } })}\n`;
}

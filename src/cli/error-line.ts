import { printableJson } from '../view/printable.js';

/** Whether a command line has --json, even if it cannot be parsed. */
export function wantsJson(argv: readonly string[]): boolean {
  const end = argv.indexOf('--');
  return argv.slice(0, end < 0 ? undefined : end).includes('--json');
}

/** An error as one line of JSON with a code, for programs. */
export function toErrorLine(code: string, message: string): string {
  return `${printableJson({ error: { code, message } })}\n`;
}

/** A notice as one line of JSON, for programs. */
export function toNoticeLine(message: string): string {
  return `${printableJson({ notice: { message } })}\n`;
}

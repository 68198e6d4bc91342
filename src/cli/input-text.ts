import { utf8Bytes } from '../protocol/content.js';
import { Refused, WrongUsage } from './exit.js';
import { readPipedBeside, readStdin, sentTextBytesMax } from './terminal/stdin.js';

/**
 * The text of an argument and below it what is piped in, or all of standard input for `-` or none. `usage` is how the text is given, for
 * whoever forgot it.
 */
export async function readText(typed: string | undefined, usage: string, notice: (line: string) => void): Promise<string> {
  if (typed === undefined && process.stdin.isTTY) throw new WrongUsage(`the text is missing: ${usage}`);
  const text = typed === undefined || typed === '-' ? await readStdin(notice) : await withPiped(typed, notice);
  if (text.trim() === '') throw new WrongUsage('there is no text to send');
  return text;
}

async function withPiped(typed: string, notice: (line: string) => void): Promise<string> {
  if (typed.trim() === '') return typed;
  const piped = await readPipedBeside(notice);
  return piped.trim() === '' ? typed : `${typed}\n\n${piped.replace(/\n$/, '')}`;
}

/** Refuses a text that does not fit a line of the protocol. */
export function refuseLongText(text: string): void {
  if (utf8Bytes(JSON.stringify(text)) > sentTextBytesMax)
    throw new Refused(`the text is too long to send: it must be below ${sentTextBytesMax} bytes`);
}

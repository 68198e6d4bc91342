import { utf8Bytes } from '../protocol/content.js';
import { limits } from '../protocol/limits.js';
import { Refused, WrongUsage } from './exit.js';
import { readStdin } from './terminal/stdin.js';

/** The text of an argument, or all of standard input for `-` or none. `usage` is how the text is given, for whoever forgot it. */
export async function readText(typed: string | undefined, usage: string): Promise<string> {
  if (typed === undefined && process.stdin.isTTY) throw new WrongUsage(`the text is missing: ${usage}`);
  const text = typed === undefined || typed === '-' ? await readStdin() : typed;
  if (text.trim() === '') throw new WrongUsage('there is no text to send');
  return text;
}

/** Refuses a text that does not fit a line of the protocol. */
export function refuseLongText(text: string): void {
  const bytesMax = limits.lineBytesMax - limits.envelopeMarginBytes;
  if (utf8Bytes(JSON.stringify(text)) > bytesMax) throw new Refused(`the text is too long to send: it must be below ${bytesMax} bytes`);
}

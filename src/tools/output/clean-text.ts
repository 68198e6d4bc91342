import { wholeUnits } from '../../protocol/content.js';
import { limits } from '../../protocol/limits.js';
import { replaceHiddenButJoiners } from '../../protocol/sanitize.js';

/** What terminals act on: strings with an end (titles, links, clipboards), cursor and colours, and the short ones. */
const sequences = new RegExp(
  [
    // Where another one begins, this one has no end: otherwise each of many would be looked for to the end of the text.
    '(?:\\x1b\\]|\\x9d)[^\\x07\\x1b\\x90\\x98\\x9c-\\x9f\\n]*(?:\\x07|\\x1b\\\\|\\x9c)',
    '(?:\\x1b[PX^_]|[\\x90\\x98\\x9e\\x9f])[^\\x1b\\x90\\x98\\x9c-\\x9f]*(?:\\x1b\\\\|\\x9c)',
    // One that does not end takes its line with it.
    '\\x1b[\\]PX^_][^\\x1b\\n]*',
    '(?:\\x1b\\[|\\x9b)[0-?]*[ -/]*[@-~]?',
    '\\x1b[ -/]*[0-~]?',
  ].join('|'),
  'g',
);

/** Output of a program as a model reads it: nothing in it is an order to a terminal, hidden, or was written over again. */
export function cleanText(text: string): string {
  const lines = text.replace(sequences, '').replaceAll('\r\n', '\n');
  return replaceHiddenButJoiners(/[\r\b]/.test(lines) ? lines.split('\n').map(writeOver).join('\n') : lines, () => '');
}

/** What is left on a line of a terminal, nearly: the last thing that was written from its beginning on. */
function writeOver(line: string): string {
  const last = line.includes('\r') ? (line.split('\r').findLast((part) => part !== '') ?? '') : line;
  if (!last.includes('\b')) return last;
  const shown: string[] = [];
  for (const character of last) {
    if (character === '\b') shown.pop();
    else shown.push(character);
  }
  return shown.join('');
}

/** Lines that are too long for a model end early, and say so. */
export function cutLines(text: string): { text: string; cut: number } {
  let cut = 0;
  const lines = text.split('\n').map((line) => {
    if (line.length <= limits.outputLineCharsMax) return line;
    cut++;
    const kept = line.slice(0, wholeUnits(line, limits.outputLineCharsMax));
    return `${kept}… [${line.length - kept.length} more characters in this line]`;
  });
  return { text: cut > 0 ? lines.join('\n') : text, cut };
}

/** How much of the end of a text may be the beginning of something that goes on in the next piece. */
export function unfinished(text: string): number {
  const start = Math.max(0, text.length - unfinishedMax);
  // eslint-disable-next-line no-control-regex
  const found = /(?:\r|\x1b(?:\[[0-?]*[ -/]*|[\]PX^_][^\x07\x1b\n]*\x1b?|[ -/]*)|\x9b[0-?]*[ -/]*)$/.exec(text.slice(start));
  return found ? found[0].length : 0;
}

const unfinishedMax = 1_024;

const oddMin = 16;
const oddShare = 10;

/** More than a few bytes in a hundred are no text at all. What comes after such bytes needs no number of them to be the same. */
export function isBinary(bytes: Buffer, followsBinary = false): boolean {
  const text = bytes.toString('utf8');
  // eslint-disable-next-line no-control-regex
  const odd = text.match(/[\ufffd\0-\x06\x0e-\x1a]/g)?.length ?? 0;
  return odd > (followsBinary ? 0 : oddMin) && odd * oddShare > text.length;
}

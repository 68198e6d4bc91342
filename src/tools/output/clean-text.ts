import { wholeUnits } from '../../protocol/content.js';
import { limits } from '../../protocol/limits.js';
import { replaceHiddenButJoiners } from '../../protocol/sanitize.js';

/** ANSI escape sequences: OSC, DCS and other strings with a terminator, CSI (cursor, colours), and two-byte sequences. */
const escapeSequences = new RegExp(
  [
    // A new escape sequence ends an unterminated one: otherwise many of them would make the match quadratic.
    '(?:\\x1b\\]|\\x9d)[^\\x07\\x1b\\x90\\x98\\x9c-\\x9f\\n]*(?:\\x07|\\x1b\\\\|\\x9c)',
    '(?:\\x1b[PX^_]|[\\x90\\x98\\x9e\\x9f])[^\\x1b\\x90\\x98\\x9c-\\x9f]*(?:\\x1b\\\\|\\x9c)',
    // An unterminated escape sequence takes the rest of its line with it.
    '\\x1b[\\]PX^_][^\\x1b\\n]*',
    '(?:\\x1b\\[|\\x9b)[0-?]*[ -/]*[@-~]?',
    '\\x1b[ -/]*[0-~]?',
  ].join('|'),
  'g',
);

/** Sanitizes program output for a model: no escape sequences, no invisible characters, no text that a carriage return or backspace overwrote. */
export function cleanText(text: string): string {
  const lines = text.replace(escapeSequences, '').replaceAll('\r\n', '\n');
  return replaceHiddenButJoiners(/[\r\b]/.test(lines) ? lines.split('\n').map(applyOverwrites).join('\n') : lines, () => '');
}

/** Approximates a terminal line after carriage returns and backspaces: the last text written from the beginning of the line. */
function applyOverwrites(line: string): string {
  const last = line.includes('\r') ? (line.split('\r').findLast((part) => part !== '') ?? '') : line;
  if (!last.includes('\b')) return last;
  const shown: string[] = [];
  for (const character of last) {
    if (character === '\b') shown.pop();
    else shown.push(character);
  }
  return shown.join('');
}

/** Truncates lines that are too long for a model, with a note in each. */
export function truncateLongLines(text: string): { text: string; cut: number } {
  let cut = 0;
  const lines = text.split('\n').map((line) => {
    if (line.length <= limits.outputLineCharsMax) return line;
    cut++;
    const shown = line.slice(0, wholeUnits(line, limits.outputLineCharsMax));
    return `${shown}… [${line.length - shown.length} more characters in this line]`;
  });
  return { text: cut > 0 ? lines.join('\n') : text, cut };
}

/** Length of an incomplete escape sequence, or of a lone carriage return, at the end of a chunk: the next chunk may complete it. */
export function unfinishedEscapeChars(text: string): number {
  const start = Math.max(0, text.length - tuning.unfinishedEscapeCharsMax);
  // eslint-disable-next-line no-control-regex
  const found = /(?:\r|\x1b(?:\[[0-?]*[ -/]*|[\]PX^_][^\x07\x1b\n]*\x1b?|[ -/]*)|\x9b[0-?]*[ -/]*)$/.exec(text.slice(start));
  return found ? found[0].length : 0;
}

const tuning = {
  unfinishedEscapeCharsMax: 1_024,
  binaryCharsMin: 16,
  binaryShare: 10,
} as const;

/** Heuristic for binary output: a tenth of the characters are control or replacement characters. After binary output, no minimum number is needed. */
export function isBinary(bytes: Buffer, followsBinary = false): boolean {
  const text = bytes.toString('utf8');
  // eslint-disable-next-line no-control-regex
  const binaryChars = text.match(/[\ufffd\0-\x06\x0e-\x1a]/g)?.length ?? 0;
  return binaryChars > (followsBinary ? 0 : tuning.binaryCharsMin) && binaryChars * tuning.binaryShare > text.length;
}

import { limits } from '../../protocol/limits.js';
import { findAmbiguous } from '../../protocol/sanitize.js';

/** Thrown when a script cannot be parsed unambiguously; `parseCommand` turns it into a value. */
export class Unclear extends Error {}

export interface Span {
  pos: number;
  end: number;
}

/** Why a script is not parsed at all; undefined when parsing may be tried. */
export function unreadable(text: string): string | undefined {
  if (text.length > limits.shellTextCharsMax) return `it is longer than ${limits.shellTextCharsMax} characters`;
  // The parser takes exponential time for these.
  if (text.split('$[').length > limits.shellNestsMax) return 'it has too many $[';
  if (
    text
      .replaceAll('\\\n', '')
      .split(/\s/)
      .some((word) => word.split('{').length > limits.shellBracesMax)
  )
    return 'it has too many braces in a word';
  const ambiguous = findAmbiguous(text);
  if (ambiguous === undefined) return undefined;
  return `it contains the character U+${ambiguous.codePointAt(0)?.toString(16).toUpperCase().padStart(4, '0') ?? ''}`;
}

const syntax = new Set(
  [
    '; ;; ;& ;;& & && | || |& ( ) (( )) { } ! [[ ]]',
    'if then elif else fi for in do done while until case esac function select coproc time -p --',
  ].flatMap((line) => line.split(' ')),
);
const comment = /(^|[\s;&|()])#[^\n]*/g;
const token = /;;&|;&|;;|&&|\|\||\|&|\(\(|\)\)|[;&|()]|[^\s;&|()]+/g;

/** Checks that the source between the nodes of the syntax tree is operators, keywords and comments: a shell might run anything else that the parser skipped. */
export function checkBetween(source: string, whole: Span, spans: readonly Span[]): void {
  let rest = '';
  let at = whole.pos;
  for (const { pos, end } of [...spans].sort((a, b) => a.pos - b.pos || b.end - a.end)) {
    if (pos > at) rest += source.slice(at, pos);
    rest += ' ';
    at = Math.max(at, end);
  }
  rest += source.slice(at, Math.max(at, whole.end));
  const left = rest.replaceAll('\\\n', ' ').replace(comment, '$1').match(token) ?? [];
  const strange = left.find((word) => !syntax.has(word));
  if (strange !== undefined) throw new Unclear(`${JSON.stringify(strange)} is not understood where it stands`);
}

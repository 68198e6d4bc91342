import { limits } from '../../protocol/limits.js';
import { findAmbiguous } from '../../protocol/sanitize.js';

/** Thrown inside when a text cannot be read for certain; `parseCommand` makes a value of it. */
export class Unclear extends Error {}

export interface Span {
  pos: number;
  end: number;
}

/** Why a text is not read at all; undefined when it can be tried. */
export function unreadable(text: string): string | undefined {
  if (text.length > limits.shellTextCharsMax) return `it is longer than ${limits.shellTextCharsMax} characters`;
  // The parser takes longer and longer for these.
  if (text.split('$[').length > limits.shellNestsMax) return 'it has too many $[';
  if (
    text
      .replaceAll('\\\n', '')
      .split(/\s/)
      .some((word) => word.split('{').length > limits.shellBracesMax)
  )
    return 'it has too many braces in a word';
  const odd = findAmbiguous(text);
  if (odd === undefined) return undefined;
  return `it contains the character U+${odd.codePointAt(0)?.toString(16).toUpperCase().padStart(4, '0') ?? ''}`;
}

const syntax = new Set(
  [
    '; ;; ;& ;;& & && | || |& ( ) (( )) { } ! [[ ]]',
    'if then elif else fi for in do done while until case esac function select coproc time -p --',
  ].flatMap((line) => line.split(' ')),
);
const comment = /(^|[\s;&|()])#[^\n]*/g;
const token = /;;&|;&|;;|&&|\|\||\|&|\(\(|\)\)|[;&|()]|[^\s;&|()]+/g;

/**
 * What stands between the nodes of a tree must be operators, keywords and comments: anything else was skipped by the
 * parser, and a shell might run it.
 */
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

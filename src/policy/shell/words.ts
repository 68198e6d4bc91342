import type { Word, WordPart } from 'unbash';
import { limits } from '../../protocol/limits.js';
import { findAmbiguous } from '../../protocol/sanitize.js';
import { Unclear } from './unreadable.js';

/** A word of a command, as far as static analysis knows it. */
export interface ShellWord {
  /** The value after quote removal; null when computed at run time. */
  value: string | null;
  /** `number`: a computed number, such as `$?`. */
  kind: 'plain' | 'glob' | 'number' | 'computed';
  /** The known part of the word, as a path or glob. */
  guess: string;
  /** Why the word may mean something else. */
  doubt?: string;
}

export function plainWord(value: string): ShellWord {
  return { value, kind: 'plain', guess: value };
}

export const unknownWord: ShellWord = { value: null, kind: 'computed', guess: '' };

/** Expands one word of the source: several words when it has braces. */
export function readWord(word: Word): ShellWord[] {
  const { parts } = word;
  const raw = word.text.replaceAll('\\\n', '');
  if (parts?.some(({ type }) => type === 'BraceExpansion')) return readBraces(raw);
  const read = parts ? readParts(parts) : plainWord(word.value);
  return [withDoubts(read, raw, word)];
}

function withDoubts(read: ShellWord, raw: string, word: Word): ShellWord {
  const doubt = doubtOf(read, raw, word);
  return doubt === undefined ? read : { ...read, doubt };
}

function doubtOf(read: ShellWord, raw: string, word: Word): string | undefined {
  if (raw.startsWith('~') && !/^~(\/|$)/.test(raw)) return `${raw} is the home directory of another user`;
  if (!raw.startsWith('~') && read.guess.startsWith('~')) return `${raw} only looks like the home directory`;
  if (findAmbiguous(read.guess) !== undefined) return 'it contains characters that cannot be seen';
  if (hasOpenBraces(word)) return `the braces of ${raw} are not understood`;
  return undefined;
}

/** Whether braces that the parser took for literal text might be expanded by a shell. */
function hasOpenBraces({ text, parts }: Word): boolean {
  const bare = parts
    ? parts.map((part) => (part.type === 'Literal' || part.type === 'Glob' ? part.text : part.type === 'DoubleQuoted' ? '' : ' ')).join('')
    : text;
  const unquoted = bare.replace(/\\./gs, '');
  const inside = unquoted.slice(unquoted.indexOf('{') + 1, unquoted.lastIndexOf('}'));
  return unquoted.includes('{') && unquoted.includes('}') && /,|\.\./.test(inside);
}

function readParts(parts: readonly WordPart[]): ShellWord {
  let guess = '';
  let kind: ShellWord['kind'] = 'plain';
  for (const part of parts.flatMap((one): readonly WordPart[] => (one.type === 'DoubleQuoted' ? one.parts : [one]))) {
    switch (part.type) {
      case 'Literal':
      case 'SingleQuoted':
      case 'AnsiCQuoted':
        guess += part.value;
        break;
      case 'Glob':
        if (part.parts?.some(({ type }) => type !== 'Literal')) kind = 'computed';
        if (kind === 'plain') kind = 'glob';
        guess += part.value;
        break;
      case 'ExtendedGlob':
        // extglob is off by default in `bash -c`: the same text is then a syntax error, or a subshell.
        throw new Unclear(`${part.text} is not understood`);
      case 'LocaleString':
        throw new Unclear(`the translated text ${part.text} is not understood`);
      default:
        kind = isNumber(part, guess) && (kind === 'plain' || kind === 'number') ? 'number' : 'computed';
        guess += homeOf(part, guess);
        break;
    }
  }
  return { value: kind === 'plain' ? guess : null, kind, guess };
}

function isNumber(part: WordPart, before: string): boolean {
  if (part.type === 'SimpleExpansion') return ['$?', '$#', '$$'].includes(part.text) && !before.startsWith('-');
  if (part.type !== 'ArithmeticExpansion') return false;
  return /^\$\(\([\d\s+*/%()<>&|^~!?:-]*\)\)$/.test(part.text) && before !== '' && !before.startsWith('-');
}

/** Guesses `$HOME/x` to be `~/x`, so that path rules match. */
function homeOf(part: WordPart, before: string): string {
  if (before !== '' || (part.type !== 'SimpleExpansion' && part.type !== 'ParameterExpansion')) return '';
  if (part.text === '$HOME' || part.text === '${HOME}') return '~';
  return part.text === '$PWD' || part.text === '${PWD}' ? '.' : '';
}

const simpleBraces = /\{([^{}]*)\}/;

/** Expands simple brace lists as a shell does; other braces give a computed word. */
function readBraces(raw: string): ShellWord[] {
  const unknown = [{ ...unknownWord, guess: raw }];
  if (!/^[\w./,@%+=:{}*?-]+$/.test(raw) || /\{[^}]*\{/.test(raw)) return unknown;
  let words = [raw];
  for (;;) {
    const next: string[] = [];
    for (const word of words) {
      const found = simpleBraces.exec(word);
      if (!found) {
        next.push(word);
        continue;
      }
      const [braces, inside = ''] = found;
      const choices = inside.includes(',') && !inside.includes('..') ? inside.split(',') : undefined;
      if (!choices) return unknown;
      for (const choice of choices) next.push(word.slice(0, found.index) + choice + word.slice(found.index + braces.length));
    }
    if (next.length > limits.shellBracesMax) return unknown;
    if (next.every((word, i) => word === words[i]) && next.length === words.length) break;
    words = next;
  }
  if (words.some((word) => /[{}]/.test(word))) return unknown;
  return words
    .filter((word) => word !== '')
    .map((word) => (/[*?]/.test(word) ? { value: null, kind: 'glob', guess: word } : plainWord(word)));
}

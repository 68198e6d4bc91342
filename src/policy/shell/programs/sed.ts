import { flags, scanFlags } from '../flags.js';
import { addWrite, type Analysis } from '../analysis.js';
import type { ShellWord } from '../words.js';

const sedFlags = flags(
  `-n --quiet --silent -E -r --regexp-extended -s --separate -z --null-data -u --unbuffered -l= --line-length= --posix --debug --sandbox -b
  --binary --follow-symlinks -e= --expression= -f=! --file=! -i?! --in-place?! --help --version`,
  true,
);

/** `sed`: its script is parsed, and a command that may run programs or write files is a doubt. */
export function analyseSed(analysis: Analysis): void {
  const { operands, found } = scanFlags(analysis, sedFlags);
  const scripts = found
    .filter(({ name }) => name === '-e' || name === '--expression')
    .map(({ value, index }) => ({ value, index: index + 1 }));
  const fromFile = found.some(({ name }) => name === '-f' || name === '--file');
  const [first] = operands;
  const files = scripts.length === 0 && !fromFile ? operands.slice(1) : operands;
  if (scripts.length === 0 && !fromFile && first) scripts.push({ value: first.word, index: first.index });
  if (found.some(({ name }) => name === '-i' || name === '--in-place')) for (const { word } of files) addWrite(analysis, word);
  for (const { value, index } of scripts)
    if (!isPlainSed(value)) analysis.doubts.push({ why: 'its script may run commands or write files', wordsNeeded: index + 1 });
}

function isPlainSed(word: ShellWord | undefined): boolean {
  return typeof word?.value === 'string' && word.doubt === undefined && isPlainScript(word.value);
}

/** Delimiters of a substitution that have no other meaning there. */
const delimiters = /[/|,:#@!_%~+^&]/;

/** Whether a script has only commands that change the printed text. */
function isPlainScript(script: string): boolean {
  let rest = script;
  const eat = (pattern: RegExp): boolean => {
    const found = pattern.exec(rest);
    if (found) rest = rest.slice(found[0].length);
    return found !== null;
  };
  /** Skips to behind the next delimiter. */
  const eatPart = (delimiter: string): boolean => {
    const end = endOfPart(rest, delimiter);
    if (end !== undefined) rest = rest.slice(end + 1);
    return end !== undefined;
  };
  const eatRegex = (): boolean => eat(/^\//) && eatPart('/') && eat(/^[IM]*/);
  const eatSubstitution = (): boolean => {
    const delimiter = rest[1] ?? '';
    if (!delimiters.test(delimiter)) return false;
    eat(/^../);
    return eatPart(delimiter) && eatPart(delimiter) && eat(/^[gpiIM\d]*(?=\s*($|[;}\n]))/);
  };

  while (rest !== '') {
    if (eat(/^[\s;{}]+/) || eat(/^#[^\n]*/)) continue;
    const hasRegex = rest.startsWith('/');
    if (hasRegex && !eatRegex()) return false;
    if ((hasRegex || eat(/^(\d+(~\d+)?|\$)/)) && eat(/^,\s*/)) {
      if (!(rest.startsWith('/') ? eatRegex() : eat(/^(\d+|\$|[+~]\d+)/))) return false;
    }
    eat(/^\s*!*\s*/);
    if (eat(/^\{/)) continue;
    const isPlain = /^[sy]/.test(rest)
      ? eatSubstitution()
      : eat(/^([pdqQDGgHhxnNPFz=l]|[qQ]\s*\d+)(?=\s*($|[;}\n]))/) ||
        eat(/^[aic](?!\\)[^\\\n]*(\n|$)/) ||
        eat(/^[btT:]\s*\w*(?=\s*($|[;}\n]))/);
    if (!isPlain) return false;
  }
  return true;
}

/**
 * The offset of the delimiter that ends a part of a command; undefined when implementations of sed disagree, as they do on brackets and on
 * backslashes in brackets.
 */
function endOfPart(text: string, delimiter: string): number | undefined {
  for (let i = 0; i < text.length; i++) {
    const character = text[i] ?? '';
    if (character === delimiter) return i;
    if (character === '\n') return undefined;
    if (character === '\\') {
      if (/^([xodc\n]|$)/.test(text.slice(i + 1, i + 2))) return undefined;
      i++;
    } else if (character === '[') {
      const end = endOfBracket(text, i);
      if (end === undefined || text.slice(i, end).includes(delimiter)) return undefined;
      i = end;
    }
  }
  return undefined;
}

/** The end of a bracket expression that begins at `start`: a leading `]`, and the one of a character class, do not end it. */
function endOfBracket(text: string, start: number): number | undefined {
  let at = start + 1;
  if (text[at] === '^') at++;
  if (text[at] === ']') at++;
  for (; at < text.length; at++) {
    const character = text[at] ?? '';
    if (character === ']') return at;
    if (character === '\n') return undefined;
    if (character === '[') {
      const named = /^\[:[a-z]+:\]/.exec(text.slice(at, at + longestClass));
      if (!named) return undefined;
      at += named[0].length - 1;
    } else if (character === '\\' && !/^[abefnprstvwS.*$ "'-]/.test(text[at + 1] ?? '')) return undefined;
  }
  return undefined;
}

/** The longest character class is `[:xdigit:]`. */
const longestClass = 16;

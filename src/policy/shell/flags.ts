import { addWrite, type Analysis } from './analysis.js';
import { plainWord, type ShellWord } from './words.js';

/** The effect of a flag: `!` runs or changes something, `w` writes the file of its value, `r` reads it. */
type Effect = '!' | 'w' | 'r' | '';
interface Flag {
  name: string;
  /** Where the value is. `=`: the rest of the word or the next word. `?`: the rest of the word only. */
  takes: '=' | '?' | '';
  effect: Effect;
}
export interface Flags {
  byName: ReadonlyMap<string, Flag>;
  longs: readonly Flag[];
  /** An unlisted flag is a doubt. */
  strict: boolean;
  /** Long flags have one dash, and short flags cannot be bundled (go). */
  oneDash: boolean;
}

/** Parses a flag table such as `-o=w --output=w -k= -z!`. Unlisted flags take no value and are harmless, unless `strict`. */
export function flags(list: string, strict = false, oneDash = false): Flags {
  const all = list
    .split(/\s+/)
    .filter((word) => word !== '')
    .map((word): Flag => {
      const [, name = '', takes = '', effect = ''] = /^(--?[^=?!]*?)([=?]?)([!wr]?)$/.exec(word) ?? [];
      return { name, takes: takes as Flag['takes'], effect: effect as Effect };
    });
  return {
    byName: new Map(all.map((flag) => [flag.name, flag])),
    longs: all.filter(({ name }) => name.startsWith(oneDash ? '-' : '--')),
    strict,
    oneDash,
  };
}

export interface Operand {
  word: ShellWord;
  index: number;
}

interface Scan {
  operands: Operand[];
  /** The flags of the command, by their name in the table, with their values. */
  found: { name: string; value: ShellWord | undefined; index: number }[];
}

/** Parses the flags of a command as getopt does, with abbreviations and bundles, and records their effects in the analysis. */
export function scanFlags(analysis: Analysis, table: Flags, from = 1): Scan {
  const { words } = analysis;
  const scan: Scan = { operands: [], found: [] };
  let at = from;

  function note(flag: Flag, value: ShellWord | undefined, index: number): void {
    scan.found.push({ name: flag.name, value, index });
    if (flag.effect === 'w') addWrite(analysis, value);
    if (flag.effect === 'r' && value && value.guess !== '') analysis.reads.push(value.guess);
    if (flag.effect === 'w' && /^(-|\/dev\/(null|stdout|stderr))$/.test(value?.value ?? '')) return;
    if (flag.effect === '!' || flag.effect === 'w') {
      analysis.doubts.push({
        why: `${flag.name} ${flag.effect === 'w' ? 'writes a file' : 'runs or changes something'}`,
        wordsNeeded: at + 1,
      });
    }
  }

  function long(text: string, index: number): void {
    const equals = text.indexOf('=');
    const name = equals < 0 ? text : text.slice(0, equals);
    const exact = table.byName.get(name);
    if (!exact) {
      const meant =
        !table.oneDash && table.longs.find((flag) => (flag.effect === '!' || flag.effect === 'w') && flag.name.startsWith(name));
      if (meant) analysis.doubts.push({ why: `${name} may mean ${meant.name}`, wordsNeeded: index + 1 });
      else if (table.strict) analysis.doubts.push({ why: `${name} is not a flag that is known`, wordsNeeded: index + 1 });
      return;
    }
    if (equals >= 0) return note(exact, plainWord(text.slice(equals + 1)), index);
    if (exact.takes === '=') at++;
    note(exact, exact.takes === '=' ? words[at] : undefined, index);
  }

  function bundle(text: string, index: number): void {
    const whole = table.byName.get(text);
    if (whole && text.length > 2) {
      if (whole.takes === '=') at++;
      return note(whole, whole.takes === '=' ? words[at] : undefined, index);
    }
    for (let i = 1; i < text.length; i++) {
      const flag = table.byName.get(`-${text[i] ?? ''}`);
      if (!flag) {
        if (table.strict && !/^\d$/.test(text[i] ?? ''))
          analysis.doubts.push({ why: `-${text[i] ?? ''} is not a flag that is known`, wordsNeeded: index + 1 });
        continue;
      }
      const rest = text.slice(i + 1);
      if (flag.takes === '') {
        note(flag, undefined, index);
        continue;
      }
      if (rest !== '') return note(flag, plainWord(rest), index);
      if (flag.takes === '=') at++;
      return note(flag, flag.takes === '=' ? words[at] : undefined, index);
    }
  }

  for (; at < words.length; at++) {
    const word = words[at];
    if (!word) break;
    const text = word.value;
    if (text === '--') {
      for (at++; at < words.length; at++) scan.operands.push({ word: words[at] ?? word, index: at });
      break;
    }
    if (text === null || text === '-' || !text.startsWith('-')) scan.operands.push({ word, index: at });
    else if (text.startsWith('--') || table.oneDash) long(text, at);
    else bundle(text, at);
  }
  return scan;
}

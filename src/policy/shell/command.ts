import { parse, type ParsedScript } from 'unbash';
import { limits } from '../../protocol/limits.js';
import { withoutQuietFlags } from './programs/git.js';
import { inspect, programOf } from './inspect.js';
import type { Doubt, Inner, Analysis } from './analysis.js';
import { startDirectory, targetOf, type WorkingDirectory } from './working-directory.js';
import { readsOf } from './reads.js';
import { Unclear, unreadable } from './unreadable.js';
import { passThroughWords } from './pass-through.js';
import { walkScript, type Simple } from './walk.js';
import { readWord, type ShellWord } from './words.js';

/** One simple command of a shell text. */
export interface CommandPart {
  /** Words after quote removal, without wrappers that change nothing (`time`, `timeout 5`); null when known only when it runs. */
  words: (string | null)[];
  /** As shown to people: the source of this simple command, control characters NOT yet escaped. */
  text: string;
  /** Why no rule may allow it by itself. Empty when its words say all. */
  doubts: string[];
  /** For each doubt, how many leading words a rule must have to say it literally; null when no rule can. */
  spoken: (number | null)[];
  /** Every doubt is only that a shorter rule would not name it, so that a rule for exactly these words may be kept. */
  memorable: boolean;
  /** Paths that it certainly would write, not resolved; null for one that is computed. */
  writes: (string | null)[];
  /** Whatever may name a file that is read. Liberal. */
  reads: string[];
  /** The directory that the `cd`s before it lead to; undefined is the command's own. */
  cwd?: string;
  /** Wrappers that were taken off the front of `words`. */
  wrappers?: string[];
  /** Other ways to say the same, for rules that deny or ask. */
  readings?: (string | null)[][];
  /** It may run any of its words. */
  anywhere?: boolean;
  /** It runs commands that are known only when it runs: a text that is computed, or read. */
  runsUnknown?: boolean;
}
export type ParsedCommand = { parts: CommandPart[] } | { unclear: string };

/** Finds the simple commands of a shell text. `directory` is where it runs: a `cd` to there is none. */
export function parseCommand(command: string, directory?: string): ParsedCommand {
  try {
    return { parts: readScript(command, startDirectory, 0, { count: 0, directory }) };
  } catch (error) {
    if (error instanceof Unclear) return { unclear: error.message };
    return { unclear: `it is not understood (${error instanceof Error ? error.message : String(error)})` };
  }
}

/** A wrapper may be read in two ways that find the same. */
function once(parts: readonly CommandPart[]): CommandPart[] {
  const seen = new Map(parts.map((part) => [JSON.stringify(part), part]));
  return [...seen.values()];
}

interface Reading {
  count: number;
  directory: string | undefined;
}

function readTree(text: string): ParsedScript {
  const odd = unreadable(text);
  if (odd !== undefined) throw new Unclear(odd);
  return parse(text);
}

function readScript(text: string, place: WorkingDirectory, depth: number, reading: Reading): CommandPart[] {
  return walkScript(readTree(text), text, place, depth).flatMap((simple) => readSimple(simple, depth, reading));
}

function readSimple(simple: Simple, depth: number, reading: Reading): CommandPart[] {
  reading.count++;
  if (reading.count > limits.shellPartsMax) throw new Unclear(`it has more than ${limits.shellPartsMax} parts`);
  if (depth > limits.shellDepthMax) throw new Unclear('it is nested too deeply');
  const place = simple.place.dir !== undefined && simple.place.dir === reading.directory ? startDirectory : simple.place;
  const offset = passThroughWords(simple.words);
  const words = asTest(withoutQuietFlags(simple.words.slice(offset)));
  const analysis = inspect(words, place, simple.stdin);
  const part = toPart(simple, analysis, place);
  if (offset > 0) part.wrappers = simple.words.slice(0, offset).map(({ value }) => value ?? '');
  const inner = analysis.inner.flatMap((one) => readInner(one, simple, depth, reading));
  return [part, ...once(inner)];
}

function toPart(simple: Simple, analysis: Analysis, place: WorkingDirectory): CommandPart {
  const { words } = analysis;
  const doubts: Doubt[] = [...simple.doubts.map((why) => ({ why, upTo: null })), ...analysis.doubts];
  if (!place.sure && words.length > 0 && targetOf(words.map(({ value }) => value)) === undefined && !isPlaceless(words))
    doubts.push({ why: 'the directory is not known', upTo: null });
  if (place.dir !== undefined && /^[^/~].*\//.test(words[0]?.value ?? ''))
    doubts.push({ why: 'its path depends on the directory', upTo: null });
  const readings = analysis.readings;
  return {
    words: words.map(({ value }) => value),
    text: simple.text,
    doubts: doubts.map(({ why }) => why),
    spoken: doubts.map(({ upTo }) => upTo),
    memorable: doubts.every(({ mild }) => mild === true) && place.dir === undefined,
    writes: [...simple.writes, ...analysis.writes],
    reads: [...new Set([...simple.reads, ...analysis.reads, ...readsOf(words)])],
    ...(place.dir === undefined ? {} : { cwd: place.dir }),
    ...(readings.length > 0 ? { readings } : {}),
    ...(analysis.anywhere ? { anywhere: true } : {}),
    ...(analysis.runsUnknown ? { runsUnknown: true } : {}),
  };
}

function readInner(inner: Inner, simple: Simple, depth: number, reading: Reading): CommandPart[] {
  if ('words' in inner) {
    if (inner.words.length === 0) return [];
    const text = inner.words.map(({ value, guess }) => value ?? (guess === '' ? '…' : guess)).join(' ');
    return readSimple({ ...simple, text, words: inner.words, doubts: [], writes: [], reads: [], stdin: undefined }, depth + 1, reading);
  }
  if (!inner.isGuess) return readScript(inner.script, simple.place, depth + 1, reading);
  try {
    return readScript(inner.script, simple.place, depth + 1, reading);
  } catch (error) {
    // Only a text that might be a command: its wrapper is doubted anyway.
    if (error instanceof Unclear && reading.count <= limits.shellPartsMax) return [];
    throw error;
  }
}

/** The same in every directory. */
function isPlaceless(words: readonly ShellWord[]): boolean {
  return (
    /^(exit|return|break|continue|true|false|:|echo|printf)$/.test(words[0]?.value ?? '') && words.every(({ kind }) => kind !== 'glob')
  );
}

/** `[ x ]` is `test x`. */
function asTest(words: ShellWord[]): ShellWord[] {
  const [first] = words;
  if (first?.value !== '[' || words.at(-1)?.value !== ']') return words;
  return [{ ...first, value: 'test', guess: 'test' }, ...words.slice(1, -1)];
}

/**
 * True when the part begins with the rule's words, word for word. A part with doubts never does, unless the rule's words say them
 * literally. With `evenDoubtful`, as rules that deny or ask look at it, doubts do not matter, and paths, wrappers and flags are
 * looked through: `/bin/rm`, `command rm` and `sudo rm` are `rm`.
 */
export function beginsWith(part: CommandPart, ruleWords: readonly string[], evenDoubtful = false): boolean {
  if (ruleWords.length === 0) return false;
  const { words, wrappers = [], readings = [] } = part;
  if (!evenDoubtful) {
    const said = (count: number): boolean => part.spoken.every((upTo) => upTo !== null && upTo <= count);
    if (startsWith(words, ruleWords) && said(ruleWords.length)) return true;
    return (
      wrappers.length > 0 &&
      startsWith([...wrappers, ...words], ruleWords) &&
      said(ruleWords.length - wrappers.length) &&
      ruleWords.length > wrappers.length
    );
  }
  const all = [words, [...wrappers, ...words], ...readings];
  if (all.some((one) => isSpokenAt(one, 0, ruleWords))) return true;
  return part.anywhere === true && words.some((_, i) => isSpokenAt(words, i, ruleWords));
}

/**
 * Whether the part could begin with the rule's words for all that is known before it runs: its name, or a word of it that the rule
 * names, is computed. A computed word may become any number of words, flags among them; a rule about a flag is not stretched to
 * every command with a variable in it.
 */
export function mayBeginWith(part: CommandPart, ruleWords: readonly string[]): boolean {
  if (part.runsUnknown === true) return true;
  const { words, readings = [] } = part;
  const isOpen = (said: readonly (string | null)[], at: number): boolean => {
    const unknown = said.slice(at, at + ruleWords.length).indexOf(null) + at;
    if (unknown < at) return false;
    return unknown === at || (ruleWords[unknown - at]?.startsWith('-') === false && isSpokenAt(said, at, ruleWords.slice(0, unknown - at)));
  };
  if ([words, ...readings].some((said) => isOpen(said, 0))) return true;
  return part.anywhere === true && words.some((_, at) => at > 0 && isOpen(words, at));
}

function startsWith(words: readonly (string | null)[], ruleWords: readonly string[], from = 0): boolean {
  return words.length - from >= ruleWords.length && ruleWords.every((word, i) => words[from + i] === word);
}

/** Whether a rule's words stand there, with or without the directory of the program. */
function isSpokenAt(words: readonly (string | null)[], at: number, ruleWords: readonly string[]): boolean {
  if (startsWith(words, ruleWords, at)) return true;
  const name = words[at];
  const [first, ...rest] = ruleWords;
  return typeof name === 'string' && name.slice(name.lastIndexOf('/') + 1) === first && startsWith(words, rest, at + 1);
}

/** True when the part may be exactly the rule's words, as rules that deny or ask look at it: doubts do not matter, wrappers are looked through. */
export function isExactly({ words, wrappers = [], readings = [] }: CommandPart, ruleWords: readonly string[]): boolean {
  const all = [words, [...wrappers, ...words], ...readings];
  return all.some((one) => one.length === ruleWords.length && isSpokenAt(one, 0, ruleWords));
}

/** The rule's words of exactly this part, or undefined when it must not be remembered. */
export function exactWords(part: CommandPart): string[] | undefined {
  const words = part.words.filter((word) => word !== null);
  if (words.length === 0 || words.length < part.words.length || !part.memorable) return undefined;
  return words;
}

/** Splits what a person typed as a rule (`git status`) into words; undefined when it is not one plain simple command. */
export function ruleWords(text: string): string[] | undefined {
  if (unreadable(text) !== undefined) return undefined;
  const { commands, errors } = parse(text);
  const [statement] = commands;
  const command = statement?.command;
  if (errors?.length || commands.length !== 1 || statement?.background || command?.type !== 'Command' || !command.name) return undefined;
  if (command.prefix.length > 0 || command.redirects.length > 0 || command.end !== text.trimEnd().length) return undefined;
  try {
    const words = [command.name, ...command.args].flatMap((word) => (word.type === 'Word' ? readWord(word) : []));
    const values = words.map(({ value }) => value).filter((value) => value !== null);
    if (values.length < words.length || words.length < command.args.length + 1 || programOf(words) === '') return undefined;
    if (values[0] === '[') return ['test', ...values.slice(1, values.at(-1) === ']' ? -1 : undefined)];
    return withoutQuietFlags(values);
  } catch (error) {
    if (error instanceof Unclear) return undefined;
    throw error;
  }
}

/** Where a `cd`, `pushd` or `popd` goes: null when that is not known, undefined when the part is something else. */
export function cdTarget(part: CommandPart): string | null | undefined {
  return targetOf(part.words);
}

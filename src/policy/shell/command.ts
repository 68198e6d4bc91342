import { parse, type ParsedScript } from 'unbash';
import { limits } from '../../protocol/limits.js';
import { withoutQuietFlags } from './programs/git.js';
import { inspect, programOf } from './inspect.js';
import type { Doubt, InnerCommand, Analysis } from './analysis.js';
import { startDirectory, targetOf, type WorkingDirectory } from './working-directory.js';
import { readsOf } from './reads.js';
import { Unclear, unreadable } from './unreadable.js';
import { passThroughWords } from './pass-through.js';
import { walkScript, type SimpleCommand } from './walk.js';
import { readWord, type ShellWord } from './words.js';

/** One simple command of a shell script. */
export interface CommandPart {
  /** Words after quote removal, without pass-through wrappers (`time`, `timeout 5`); null for a computed word. */
  words: (string | null)[];
  /** The source text of this simple command, for people; control characters are NOT escaped. */
  text: string;
  /** Why shorter allow rules do not cover the command. Empty when its words say all. */
  doubts: string[];
  /** For each doubt, how many leading words a rule must have to cover it; null when no rule can. */
  wordsNeeded: (number | null)[];
  /** Every doubt is mild, so that a rule for exactly these words may be remembered. */
  memorable: boolean;
  /** Paths that the command writes, unresolved; null for a computed path. */
  writes: (string | null)[];
  /** Texts that may be paths of files to read; over-approximated. */
  reads: string[];
  /** The working directory after earlier `cd`s; undefined for the directory that the script starts in. */
  cwd?: string;
  /** Pass-through wrappers that were removed from the front of `words`. */
  wrappers?: string[];
  /** Equivalent word lists, for deny and ask rules. */
  readings?: (string | null)[][];
  /** Any word may be a program that is run. */
  anywhere?: boolean;
  /** Runs commands that are computed or read from input, and so unknown before run time. */
  runsUnknown?: boolean;
}
export type ParsedCommand = { parts: CommandPart[] } | { unclear: string };

/** Parses a shell script into its simple commands. `directory` is where the script starts: a `cd` to there changes nothing. */
export function parseCommand(command: string, directory?: string): ParsedCommand {
  try {
    return { parts: readScript(command, startDirectory, 0, { count: 0, words: 0, directory }) };
  } catch (error) {
    if (error instanceof Unclear) return { unclear: error.message };
    return { unclear: `the parser failed (${error instanceof Error ? error.message : String(error)})` };
  }
}

/** Removes duplicates: a wrapper may be parsed in two ways that find the same inner command. */
function dedupe(parts: readonly CommandPart[]): CommandPart[] {
  const seen = new Map(parts.map((part) => [JSON.stringify(part), part]));
  return [...seen.values()];
}

interface ParseState {
  count: number;
  /** The words that were analysed, again for each wrapper that they are behind. */
  words: number;
  directory: string | undefined;
}

function readTree(text: string): ParsedScript {
  const reason = unreadable(text);
  if (reason !== undefined) throw new Unclear(reason);
  return parse(text);
}

function readScript(text: string, directory: WorkingDirectory, depth: number, state: ParseState): CommandPart[] {
  return walkScript(readTree(text), text, directory, depth).flatMap((simple) => readSimple(simple, depth, state));
}

function readSimple(simple: SimpleCommand, depth: number, state: ParseState): CommandPart[] {
  state.count++;
  state.words += simple.words.length;
  if (state.words > limits.shellWordsMax)
    throw new Unclear(`it has more than ${limits.shellWordsMax} words, counted for each wrapper around them`);
  if (state.count > limits.shellPartsMax) throw new Unclear(`it has more than ${limits.shellPartsMax} parts`);
  if (depth > limits.shellDepthMax) throw new Unclear('it is nested too deeply');
  const directory = simple.directory.dir !== undefined && simple.directory.dir === state.directory ? startDirectory : simple.directory;
  const offset = passThroughWords(simple.words);
  const words = asTest(withoutQuietFlags(simple.words.slice(offset)));
  const analysis = inspect(words, directory, simple.stdin);
  const part = toPart(simple, analysis, directory);
  if (offset > 0) part.wrappers = simple.words.slice(0, offset).map(({ value }) => value ?? '');
  const inner = analysis.inner.flatMap((one) => readInner(one, simple, depth, state));
  return [part, ...dedupe(inner)];
}

function toPart(simple: SimpleCommand, analysis: Analysis, directory: WorkingDirectory): CommandPart {
  const { words } = analysis;
  const doubts: Doubt[] = [...simple.doubts.map((why) => ({ why, wordsNeeded: null })), ...analysis.doubts];
  if (!directory.sure && words.length > 0 && targetOf(words.map(({ value }) => value)) === undefined && !isDirectoryIndependent(words))
    doubts.push({ why: 'the directory is not known', wordsNeeded: null });
  if (directory.dir !== undefined && /^[^/~].*\//.test(words[0]?.value ?? ''))
    doubts.push({ why: 'its path depends on the directory', wordsNeeded: null });
  const readings = analysis.readings;
  return {
    words: words.map(({ value }) => value),
    text: simple.text,
    doubts: doubts.map(({ why }) => why),
    wordsNeeded: doubts.map(({ wordsNeeded }) => wordsNeeded),
    memorable: doubts.every(({ mild }) => mild === true) && directory.dir === undefined,
    writes: [...simple.writes, ...analysis.writes],
    reads: [...new Set([...simple.reads, ...analysis.reads, ...readsOf(words)])],
    ...(directory.dir === undefined ? {} : { cwd: directory.dir }),
    ...(readings.length > 0 ? { readings } : {}),
    ...(analysis.anywhere ? { anywhere: true } : {}),
    ...(analysis.runsUnknown ? { runsUnknown: true } : {}),
  };
}

function readInner(inner: InnerCommand, simple: SimpleCommand, depth: number, state: ParseState): CommandPart[] {
  if ('words' in inner) {
    if (inner.words.length === 0) return [];
    const text = inner.words.map(({ value, guess }) => value ?? (guess === '' ? '…' : guess)).join(' ');
    return readSimple({ ...simple, text, words: inner.words, doubts: [], writes: [], reads: [], stdin: undefined }, depth + 1, state);
  }
  if (!inner.isGuess) return readScript(inner.script, simple.directory, depth + 1, state);
  try {
    return readScript(inner.script, simple.directory, depth + 1, state);
  } catch (error) {
    // The script was only a guess, and its wrapper has doubts anyway.
    if (error instanceof Unclear && state.count <= limits.shellPartsMax) return [];
    throw error;
  }
}

/** Commands that do the same in every directory. */
function isDirectoryIndependent(words: readonly ShellWord[]): boolean {
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
 * Prefix match of a rule's words. A command with doubts matches only if the rule's words cover them. With `isStrict`, for deny and ask rules,
 * doubts do not matter, and directories, wrappers and flags are ignored: `/bin/rm`, `command rm` and `sudo rm` are `rm`.
 */
export function beginsWith(part: CommandPart, ruleWords: readonly string[], isStrict = false): boolean {
  if (ruleWords.length === 0) return false;
  const { words, wrappers = [], readings = [] } = part;
  if (!isStrict) {
    const areDoubtsNamed = (count: number): boolean => part.wordsNeeded.every((needed) => needed !== null && needed <= count);
    if (startsWith(words, ruleWords) && areDoubtsNamed(ruleWords.length)) return true;
    return (
      wrappers.length > 0 &&
      startsWith([...wrappers, ...words], ruleWords) &&
      areDoubtsNamed(ruleWords.length - wrappers.length) &&
      ruleWords.length > wrappers.length
    );
  }
  const all = [words, [...wrappers, ...words], ...readings];
  if (all.some((one) => matchesAt(one, 0, ruleWords))) return true;
  return part.anywhere === true && words.some((_, i) => matchesAt(words, i, ruleWords));
}

/**
 * Whether a command with computed words could begin with the rule's words at run time. A computed word may expand to any number of words, flags
 * among them; but a rule about a flag does not match every command with a variable in it.
 */
export function mayBeginWith(part: CommandPart, ruleWords: readonly string[]): boolean {
  if (part.runsUnknown === true) return true;
  const { words, readings = [] } = part;
  const mayMatchAt = (candidate: readonly (string | null)[], at: number): boolean => {
    const unknown = candidate.slice(at, at + ruleWords.length).indexOf(null) + at;
    if (unknown < at) return false;
    return (
      unknown === at || (ruleWords[unknown - at]?.startsWith('-') === false && matchesAt(candidate, at, ruleWords.slice(0, unknown - at)))
    );
  };
  if ([words, ...readings].some((candidate) => mayMatchAt(candidate, 0))) return true;
  return part.anywhere === true && words.some((_, at) => at > 0 && mayMatchAt(words, at));
}

function startsWith(words: readonly (string | null)[], ruleWords: readonly string[], from = 0): boolean {
  return words.length - from >= ruleWords.length && ruleWords.every((word, i) => words[from + i] === word);
}

/** Whether the words at an index equal a rule's words, with or without the directory of the program. */
function matchesAt(words: readonly (string | null)[], at: number, ruleWords: readonly string[]): boolean {
  if (startsWith(words, ruleWords, at)) return true;
  const name = words[at];
  const [first, ...rest] = ruleWords;
  return typeof name === 'string' && name.slice(name.lastIndexOf('/') + 1) === first && startsWith(words, rest, at + 1);
}

/** Exact match for deny and ask rules: doubts do not matter, wrappers are ignored. */
export function isExactly({ words, wrappers = [], readings = [] }: CommandPart, ruleWords: readonly string[]): boolean {
  const all = [words, [...wrappers, ...words], ...readings];
  return all.some((one) => one.length === ruleWords.length && matchesAt(one, 0, ruleWords));
}

/** The words of an exact rule for this command; undefined when none may be remembered. */
export function exactWords(part: CommandPart): string[] | undefined {
  const words = part.words.filter((word) => word !== null);
  if (words.length === 0 || words.length < part.words.length || !part.memorable) return undefined;
  return words;
}

/** Splits the command of a rule (`git status`) into words; undefined when it is not one plain simple command. */
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

/** The target of a `cd`, `pushd` or `popd`: null for a computed one, undefined for another command. */
export function cdTarget(part: CommandPart): string | null | undefined {
  return targetOf(part.words);
}

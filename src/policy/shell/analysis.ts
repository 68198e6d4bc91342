import { isNoFile, pathOf } from './redirections.js';
import type { ShellWord } from './words.js';

/** Why a shorter allow rule does not cover a command, and how many leading words a rule must have to cover it; null when no rule can. */
export interface Doubt {
  why: string;
  wordsNeeded: number | null;
  /** The words are harmless if a rule names them: an exact rule may be remembered. */
  mild?: boolean;
}

/** A command that another command runs (sudo, xargs, sh -c): its words, or a script for a shell. */
export type InnerCommand = { words: ShellWord[] } | { script: string; isGuess?: boolean };

/** The result of the static analysis of one simple command. */
export interface Analysis {
  words: ShellWord[];
  doubts: Doubt[];
  writes: (string | null)[];
  reads: string[];
  inner: InnerCommand[];
  /** Equivalent word lists, without wrappers and global flags, for deny and ask rules. */
  readings: (string | null)[][];
  /** Any word may be a program that is run, so that deny and ask rules are compared at each word. */
  anywhere: boolean;
  /** Runs commands that are computed or read from input, and so unknown before run time. */
  runsUnknown: boolean;
  stdin: string | null | undefined;
}

export function newAnalysis(words: ShellWord[], stdin: string | null | undefined): Analysis {
  return { words, doubts: [], writes: [], reads: [], inner: [], readings: [], anywhere: false, runsUnknown: false, stdin };
}

/** Requires a rule to name at least `wordsNeeded` leading words. */
export function mustName(analysis: Analysis, why: string, wordsNeeded: number): void {
  analysis.doubts.push({ why, wordsNeeded, mild: true });
}

/** Requires a rule to name all words of the command. */
export function doubtAll(analysis: Analysis, why: string): void {
  analysis.doubts.push({ why, wordsNeeded: analysis.words.length });
}

/** Lets no rule cover the command. */
export function doubtAlways(analysis: Analysis, why: string): void {
  analysis.doubts.push({ why, wordsNeeded: null });
}

export function addWrite(analysis: Analysis, word: ShellWord | undefined): void {
  const path = word ? pathOf(word) : null;
  if (path === null || !isNoFile(path)) analysis.writes.push(path);
}

/** Merges the analysis of an inner command whose words begin at an offset. */
export function addShifted(analysis: Analysis, inside: Analysis, offset: number): void {
  for (const doubt of inside.doubts)
    analysis.doubts.push({ ...doubt, wordsNeeded: doubt.wordsNeeded === null ? null : doubt.wordsNeeded + offset });
  analysis.writes.push(...inside.writes);
  analysis.reads.push(...inside.reads);
  analysis.inner.push(...inside.inner);
  analysis.readings.push(
    inside.words.map(({ value }) => value),
    ...inside.readings,
  );
  analysis.anywhere ||= inside.anywhere;
  analysis.runsUnknown ||= inside.runsUnknown;
}

export function hasValue(word: ShellWord | undefined, values: readonly string[]): boolean {
  return typeof word?.value === 'string' && values.includes(word.value);
}

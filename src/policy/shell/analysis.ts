import { isNowhere, pathOf } from './redirections.js';
import type { ShellWord } from './words.js';

/** Why a rule may not allow a command, and how many leading words a rule must have to say it literally; null when none can. */
export interface Doubt {
  why: string;
  upTo: number | null;
  /** All that is wrong is that a shorter rule did not name it. */
  mild?: boolean;
}

/** Something that a command runs: words, or a text for a shell. */
export type Inner = { words: ShellWord[] } | { script: string; isGuess?: boolean };

/** What is found out about one simple command from the program that it names. */
export interface Analysis {
  words: ShellWord[];
  doubts: Doubt[];
  writes: (string | null)[];
  reads: string[];
  inner: Inner[];
  /** Other ways to say the same, for rules that deny or ask. */
  readings: (string | null)[][];
  /** It may run any of its words, so such rules look at each. */
  anywhere: boolean;
  /** It runs commands that are known only when it runs: a text that is computed, or read. */
  runsUnknown: boolean;
  stdin: string | null | undefined;
}

export function newAnalysis(words: ShellWord[], stdin: string | null | undefined): Analysis {
  return { words, doubts: [], writes: [], reads: [], inner: [], readings: [], anywhere: false, runsUnknown: false, stdin };
}

/** A rule has to name this much of it. */
export function mustName(analysis: Analysis, why: string, upTo: number): void {
  analysis.doubts.push({ why, upTo, mild: true });
}

/** No rule but one with all of these words covers it. */
export function doubtAll(analysis: Analysis, why: string): void {
  analysis.doubts.push({ why, upTo: analysis.words.length });
}

/** No rule covers it. */
export function doubtAlways(analysis: Analysis, why: string): void {
  analysis.doubts.push({ why, upTo: null });
}

export function addWrite(analysis: Analysis, word: ShellWord | undefined): void {
  const path = word ? pathOf(word) : null;
  if (path === null || !isNowhere(path)) analysis.writes.push(path);
}

/** Takes over what was found about words that stand at an offset inside of these. */
export function addShifted(analysis: Analysis, inside: Analysis, offset: number): void {
  for (const doubt of inside.doubts) analysis.doubts.push({ ...doubt, upTo: doubt.upTo === null ? null : doubt.upTo + offset });
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

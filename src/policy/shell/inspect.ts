import { limits } from '../../protocol/limits.js';
import { analyseBuiltin } from './programs/builtins.js';
import { analyseAwk } from './programs/awk.js';
import { analyseTar } from './programs/tar.js';
import { analyseFd, analyseFind } from './programs/find.js';
import { analyseGit } from './programs/git.js';
import { doubtAlways, newAnalysis, type Analysis } from './analysis.js';
import type { WorkingDirectory } from './working-directory.js';
import { analyseModule, analyseProject } from './programs/projects.js';
import { isHarmless, analyseReader } from './programs/readers.js';
import { analyseInterpreter, analyseShell, analyseWrapper } from './programs/runners.js';
import { analyseSed } from './programs/sed.js';
import { Unclear } from './unreadable.js';
import { passThroughWords } from './pass-through.js';
import type { ShellWord } from './words.js';
import { analyseWriter } from './programs/writers.js';

/** The name of the program without its directory. */
export function programOf(words: readonly ShellWord[]): string {
  const name = words[0]?.value ?? '';
  return name.slice(name.lastIndexOf('/') + 1);
}

/** Analyses the words of a simple command: what it runs, writes and reads, and which doubts there are. */
export function inspect(words: ShellWord[], directory: WorkingDirectory, stdin: string | null | undefined, depth = 0): Analysis {
  if (depth > limits.shellDepthMax) throw new Unclear('it is nested too deeply');
  const analysis = newAnalysis(words, stdin);
  const name = programOf(words);
  const [first] = words;
  if (first && (first.kind !== 'plain' || first.doubt !== undefined || first.value === ''))
    doubtAlways(analysis, 'the name of the program is computed');
  if (/[^\x21-\x7e]/.test(first?.value ?? '')) doubtAlways(analysis, 'the name of the program has unusual characters');
  // Pass-through wrappers inside of another wrapper: their inner command is analysed as well.
  const offset = passThroughWords(words);
  if (offset > 0) analysis.inner.push({ words: words.slice(offset) });
  analyseProgram(name, analysis, directory, depth);
  doubtWords(name, analysis);
  return analysis;
}

function analyseProgram(name: string, analysis: Analysis, directory: WorkingDirectory, depth: number): void {
  const inspectInner = (words: ShellWord[]): Analysis => inspect(words, directory, undefined, depth + 1);
  if (name === 'git') return analyseGit(analysis, directory);
  if (name === 'find' || name === 'gfind') return analyseFind(analysis);
  if (name === 'fd' || name === 'fdfind') return analyseFd(analysis);
  if (name === 'sed' || name === 'gsed') return analyseSed(analysis);
  if (/^[gmn]?awk$|^original-awk$/.test(name)) return analyseAwk(analysis);
  if (/^(g|bsd)?tar$/.test(name)) return analyseTar(analysis);
  const isKnown =
    analyseBuiltin(name, analysis) ||
    analyseShell(name, analysis) ||
    analyseWrapper(name, analysis) ||
    analyseProject(name, analysis, inspectInner) ||
    analyseInterpreter(name, analysis, (at) => analyseModule(analysis, at, inspectInner)) ||
    analyseWriter(name, analysis) ||
    analyseReader(name, analysis);
  if (!isKnown && name.startsWith('git-')) doubtAlways(analysis, 'it is a part of git');
}

/** Adds doubts about computed words and globs, which may expand to flags. */
function doubtWords(name: string, analysis: Analysis): void {
  analysis.words.forEach((word, i) => {
    if (i === 0) return;
    if (word.doubt !== undefined) analysis.doubts.push({ why: word.doubt, wordsNeeded: null });
    if (word.kind === 'computed') analysis.doubts.push({ why: 'a word is known only when it runs', wordsNeeded: null });
    if (word.kind === 'glob' && word.guess.startsWith('-'))
      analysis.doubts.push({ why: 'a flag is known only when it runs', wordsNeeded: null });
    else if (word.kind === 'glob' && /^[*?[]/.test(word.guess) && !isHarmless(name))
      analysis.doubts.push({ why: `${word.guess} may match a file that is named like a flag`, wordsNeeded: null });
  });
}

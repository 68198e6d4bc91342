import { limits } from '../../protocol/limits.js';
import { lookAtBuiltin } from './programs/builtins.js';
import { lookAtAwk, lookAtTar } from './programs/awk-and-tar.js';
import { lookAtFd, lookAtFind } from './programs/find.js';
import { lookAtGit } from './programs/git.js';
import { doubtAlways, lookAt, type Look } from './analysis.js';
import type { Place } from './working-directory.js';
import { lookAtModule, lookAtProject } from './programs/projects.js';
import { isHarmless, lookAtReader } from './programs/readers.js';
import { lookAtInterpreter, lookAtShell, lookAtWrapper } from './programs/runners.js';
import { lookAtSed } from './programs/sed.js';
import { Unclear } from './unreadable.js';
import { transparentWords } from './pass-through.js';
import type { ShellWord } from './words.js';
import { lookAtWriter } from './programs/writers.js';

/** The name of the program without its directory. */
export function programOf(words: readonly ShellWord[]): string {
  const name = words[0]?.value ?? '';
  return name.slice(name.lastIndexOf('/') + 1);
}

/** Finds out what the words of a simple command do: what they run, write and read, and what is to be doubted. */
export function inspect(words: ShellWord[], place: Place, stdin: string | null | undefined, depth = 0): Look {
  if (depth > limits.shellDepthMax) throw new Unclear('it is nested too deeply');
  const look = lookAt(words, stdin);
  const name = programOf(words);
  const [first] = words;
  if (first && (first.kind !== 'plain' || first.doubt !== undefined || first.value === ''))
    doubtAlways(look, 'the name of the program is computed');
  if (/[^\x21-\x7e]/.test(first?.value ?? '')) doubtAlways(look, 'the name of the program has unusual characters');
  // What harmless wrappers run in turn is looked at again, because here they stand inside of something else.
  const offset = transparentWords(words);
  if (offset > 0) look.inner.push({ words: words.slice(offset) });
  lookAtProgram(name, look, place, depth);
  doubtWords(name, look);
  return look;
}

function lookAtProgram(name: string, look: Look, place: Place, depth: number): void {
  const again = (words: ShellWord[]): Look => inspect(words, place, undefined, depth + 1);
  if (name === 'git') return lookAtGit(look, place);
  if (name === 'find' || name === 'gfind') return lookAtFind(look);
  if (name === 'fd' || name === 'fdfind') return lookAtFd(look);
  if (name === 'sed' || name === 'gsed') return lookAtSed(look);
  if (/^[gmn]?awk$|^original-awk$/.test(name)) return lookAtAwk(look);
  if (/^(g|bsd)?tar$/.test(name)) return lookAtTar(look);
  const known =
    lookAtBuiltin(name, look) ||
    lookAtShell(name, look) ||
    lookAtWrapper(name, look) ||
    lookAtProject(name, look, again) ||
    lookAtInterpreter(name, look, (at) => lookAtModule(look, at, again)) ||
    lookAtWriter(name, look) ||
    lookAtReader(name, look);
  if (!known && name.startsWith('git-')) doubtAlways(look, 'it is a part of git');
}

/** Words that are not known may become flags. */
function doubtWords(name: string, look: Look): void {
  look.words.forEach((word, i) => {
    if (i === 0) return;
    if (word.doubt !== undefined) look.doubts.push({ why: word.doubt, upTo: null });
    if (word.kind === 'computed') look.doubts.push({ why: 'a word is known only when it runs', upTo: null });
    if (word.kind === 'glob' && word.guess.startsWith('-')) look.doubts.push({ why: 'a flag is known only when it runs', upTo: null });
    else if (word.kind === 'glob' && /^[*?[]/.test(word.guess) && !isHarmless(name))
      look.doubts.push({ why: `${word.guess} may match a file that is named like a flag`, upTo: null });
  });
}

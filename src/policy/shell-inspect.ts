import { limits } from '../protocol/limits.js';
import { lookAtBuiltin } from './shell-builtins.js';
import { lookAtAwk, lookAtTar } from './shell-code.js';
import { lookAtFd, lookAtFind } from './shell-find.js';
import { lookAtGit } from './shell-git.js';
import { doubtAlways, lookAt, type Look } from './shell-look.js';
import type { Place } from './shell-place.js';
import { lookAtModule, lookAtProject } from './shell-projects.js';
import { isHarmless, lookAtReader } from './shell-readers.js';
import { lookAtInterpreter, lookAtShell, lookAtWrapper } from './shell-runners.js';
import { lookAtSed } from './shell-sed.js';
import { Unclear } from './shell-text.js';
import { transparentWords } from './shell-transparent.js';
import type { ShellWord } from './shell-words.js';
import { lookAtWriter } from './shell-writers.js';

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

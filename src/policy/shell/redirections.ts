import type { Redirection, Word } from 'unbash';
import { strangeExpansion } from './expansions.js';
import { readWord, type ShellWord } from './words.js';

/** What the redirections of a command read and write. */
export interface RedirectionEffects {
  doubts: string[];
  writes: (string | null)[];
  reads: string[];
  /** The text on stdin (here-document): null when computed, undefined without one. */
  stdin: string | null | undefined;
}

const noFiles = new Set(['/dev/null', '/dev/stdout', '/dev/stderr', '/dev/fd/1', '/dev/fd/2', '-']);

/** Whether a write to this path changes no file, as for /dev/null. */
export function isNoFile(path: string): boolean {
  return noFiles.has(path);
}

/** The path that a word means as a write target; null when computed. */
export function pathOf(word: ShellWord): string | null {
  return word.kind === 'plain' && word.doubt === undefined ? word.value : null;
}

export function readRedirections(redirections: readonly Redirection[]): RedirectionEffects {
  const effects: RedirectionEffects = { doubts: [], writes: [], reads: [], stdin: undefined };
  for (const redirection of redirections) {
    if (redirection.descriptor?.type === 'FileDescriptorVariable') effects.doubts.push('it sets a variable');
    if (redirection.type === 'HereDoc') readHereDoc(redirection, effects);
    else if (redirection.type === 'HereString') readHereString(redirection.target, effects);
    else readRedirect(redirection, effects);
  }
  return effects;
}

function readHereDoc({ body, delimiter }: Extract<Redirection, { type: 'HereDoc' }>, effects: RedirectionEffects): void {
  const isStatic = delimiter?.quoted === true || !/[$`\\]/.test(body.text);
  effects.stdin = isStatic ? body.text : null;
  const why = delimiter?.quoted === true ? undefined : strangeExpansion(body);
  if (why !== undefined) effects.doubts.push(why);
}

function readHereString(target: Word | undefined, effects: RedirectionEffects): void {
  effects.stdin = (target && readWord(target)[0]?.value) ?? null;
  const why = target && strangeExpansion(target);
  if (why !== undefined) effects.doubts.push(why);
}

function readRedirect({ operator, target }: Extract<Redirection, { type: 'Redirect' }>, effects: RedirectionEffects): void {
  const words = target ? readWord(target) : [];
  const [word] = words;
  if (!word || words.length > 1) {
    effects.doubts.push('where it is redirected to is not known');
    return;
  }
  if (word.doubt !== undefined) effects.doubts.push(word.doubt);
  const isCopy = (operator === '>&' || operator === '<&') && /^(\d+-?|-)$/.test(word.value ?? '');
  if (isCopy) return;
  if (/^\/dev\/(tcp|udp)\//.test(word.guess)) effects.doubts.push('it opens the network');
  if (operator === '<' || operator === '<&' || operator === '<>') {
    if (word.guess !== '') effects.reads.push(word.guess);
    if (word.kind !== 'plain') effects.doubts.push('what it reads is known only when it runs');
    if (operator === '<') effects.stdin ??= null;
    if (operator !== '<>') return;
  }
  const path = pathOf(word);
  if (path === null || !isNoFile(path) || path === '-') effects.writes.push(path);
}

import type { Redirection, Word } from 'unbash';
import { strangeExpansion } from './expansions.js';
import { readWord, type ShellWord } from './words.js';

/** What redirections open. */
export interface Opened {
  doubts: string[];
  writes: (string | null)[];
  reads: string[];
  /** What is fed to the command: null when it is not known, undefined when nothing is. */
  stdin: string | null | undefined;
}

const nowhere = new Set(['/dev/null', '/dev/stdout', '/dev/stderr', '/dev/fd/1', '/dev/fd/2', '-']);

/** Whether writing there changes no file. */
export function isNowhere(path: string): boolean {
  return nowhere.has(path);
}

/** The path that a word names when it is written to; null when it is known only when it runs. */
export function pathOf(word: ShellWord): string | null {
  return word.kind === 'plain' && word.doubt === undefined ? word.value : null;
}

export function readRedirections(redirections: readonly Redirection[]): Opened {
  const opened: Opened = { doubts: [], writes: [], reads: [], stdin: undefined };
  for (const redirection of redirections) {
    if (redirection.descriptor?.type === 'FileDescriptorVariable') opened.doubts.push('it sets a variable');
    if (redirection.type === 'HereDoc') readHereDoc(redirection, opened);
    else if (redirection.type === 'HereString') readHereString(redirection.target, opened);
    else readRedirect(redirection, opened);
  }
  return opened;
}

function readHereDoc({ body, delimiter }: Extract<Redirection, { type: 'HereDoc' }>, opened: Opened): void {
  const isStatic = delimiter?.quoted === true || !/[$`\\]/.test(body.text);
  opened.stdin = isStatic ? body.text : null;
  const why = delimiter?.quoted === true ? undefined : strangeExpansion(body);
  if (why !== undefined) opened.doubts.push(why);
}

function readHereString(target: Word | undefined, opened: Opened): void {
  opened.stdin = (target && readWord(target)[0]?.value) ?? null;
  const why = target && strangeExpansion(target);
  if (why !== undefined) opened.doubts.push(why);
}

function readRedirect({ operator, target }: Extract<Redirection, { type: 'Redirect' }>, opened: Opened): void {
  const words = target ? readWord(target) : [];
  const [word] = words;
  if (!word || words.length > 1) {
    opened.doubts.push('where it is redirected to is not known');
    return;
  }
  if (word.doubt !== undefined) opened.doubts.push(word.doubt);
  const isCopy = (operator === '>&' || operator === '<&') && /^(\d+-?|-)$/.test(word.value ?? '');
  if (isCopy) return;
  if (/^\/dev\/(tcp|udp)\//.test(word.guess)) opened.doubts.push('it opens the network');
  if (operator === '<' || operator === '<&' || operator === '<>') {
    if (word.guess !== '') opened.reads.push(word.guess);
    if (word.kind !== 'plain') opened.doubts.push('what it reads is known only when it runs');
    if (operator === '<') opened.stdin ??= null;
    if (operator !== '<>') return;
  }
  const path = pathOf(word);
  if (path === null || !isNowhere(path) || path === '-') opened.writes.push(path);
}

import type { ShellWord } from './words.js';

const duration = /^\d+(\.\d+)?[smhd]?$/;

/**
 * How many leading words are pass-through wrappers (`time`, `nice`, `timeout`), which rules ignore. Wrappers that change variables, user or
 * input of the inner command are not among them.
 */
export function passThroughWords(words: readonly ShellWord[]): number {
  let at = 0;
  for (;;) {
    const next = skipWrapper(words, at);
    if (next === at) return at;
    at = next;
  }
}

function skipWrapper(words: readonly ShellWord[], from: number): number {
  const text = (index: number): string | undefined => {
    const word = words[index];
    return word?.kind === 'plain' && word.doubt === undefined ? (word.value ?? undefined) : undefined;
  };
  const end = endOfWrapper(text, from);
  const inner = text(end);
  return end > from && inner !== undefined && inner !== '' && !inner.startsWith('-') && !/^\w+=/.test(inner) ? end : from;
}

function endOfWrapper(text: (index: number) => string | undefined, from: number): number {
  let at = from + 1;
  switch (text(from)) {
    case 'command':
    case 'builtin':
    case 'nohup':
    case 'env':
      return at;
    case 'time':
      return text(at) === '-p' ? at + 1 : at;
    case 'nice':
      if (text(at) === '-n' && /^-?\d+$/.test(text(at + 1) ?? '')) return at + 2;
      return /^(-\d+|-n-?\d+|--adjustment=-?\d+)$/.test(text(at) ?? '') ? at + 1 : at;
    case 'ionice':
      while (/^-[cn]\d?$/.test(text(at) ?? '')) at += text(at)?.length === 2 ? 2 : 1;
      return at;
    case 'stdbuf':
      while (/^(-[ioe]|--(input|output|error)=)/.test(text(at) ?? '')) at += text(at)?.length === 2 ? 2 : 1;
      return at;
    case 'timeout':
      for (;;) {
        const flag = text(at) ?? '';
        if (/^(--foreground|--preserve-status|-v|--verbose|--kill-after=.*|--signal=.*|-k.+|-s.+)$/.test(flag)) at++;
        else if (flag === '-k' || flag === '-s') at += 2;
        else break;
      }
      return duration.test(text(at) ?? '') ? at + 1 : from;
    default:
      return from;
  }
}

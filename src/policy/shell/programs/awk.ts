import { flags, scanFlags } from '../flags.js';
import { doubtAll, type Analysis } from '../analysis.js';
import type { ShellWord } from '../words.js';

const awkFlags = flags(
  '-F= -v= --field-separator= --assign= -e=r --source=r -f=! --file=! --version -V --re-interval -P --posix -c --traditional -S --sandbox -n -b -N -M',
  true,
);

/** `awk`: a program text that can run commands or open files is a doubt. */
export function analyseAwk(analysis: Analysis): void {
  const { operands, found } = scanFlags(analysis, awkFlags);
  const sources = found.filter(({ name }) => name === '-e' || name === '--source').map(({ value, index }) => ({ value, index: index + 1 }));
  const [first] = operands;
  if (sources.length === 0 && first) sources.push({ value: first.word, index: first.index });
  for (const { value, index } of sources)
    if (!isPlainAwk(value)) analysis.doubts.push({ why: 'its program may run commands or open files', wordsNeeded: index + 1 });
  if (sources.length === 0 && analysis.words.length > 1 && !found.some(({ name }) => name === '--version' || name === '-V'))
    doubtAll(analysis, 'its program is not seen');
}

function isPlainAwk(word: ShellWord | undefined): boolean {
  if (typeof word?.value !== 'string' || word.doubt !== undefined) return false;
  const code = word.value;
  if (/system|getline|ARGV|@|\\\n/.test(code)) return false;
  if (code.replaceAll('||', '').includes('|')) return false;
  // Before the first print, `>` can only be a comparison, not a redirection.
  const print = code.indexOf('print');
  return print < 0 || code.lastIndexOf('>') < print;
}

import { flags, scanFlags } from '../flags.js';
import { addWrite, doubtAll, type Analysis } from '../analysis.js';
import type { ShellWord } from '../words.js';

const awkFlags = flags(
  '-F= -v= --field-separator= --assign= -e=r --source=r -f=! --file=! --version -V --re-interval -P --posix -c --traditional -S --sandbox -n -b -N -M',
  true,
);

/** `awk`: a program that can start others or open files is doubted. */
export function analyseAwk(analysis: Analysis): void {
  const { operands, found } = scanFlags(analysis, awkFlags);
  const sources = found.filter(({ name }) => name === '-e' || name === '--source').map(({ value, index }) => ({ value, index: index + 1 }));
  const [first] = operands;
  if (sources.length === 0 && first) sources.push({ value: first.word, index: first.index });
  for (const { value, index } of sources)
    if (!isPlainAwk(value)) analysis.doubts.push({ why: 'its program may run commands or open files', upTo: index + 1 });
  if (sources.length === 0 && analysis.words.length > 1 && !found.some(({ name }) => name === '--version' || name === '-V'))
    doubtAll(analysis, 'its program is not seen');
}

function isPlainAwk(word: ShellWord | undefined): boolean {
  if (typeof word?.value !== 'string' || word.doubt !== undefined) return false;
  const code = word.value;
  if (/system|getline|ARGV|@|\\\n/.test(code)) return false;
  if (code.replaceAll('||', '').includes('|')) return false;
  // A comparison is the only other use of `>`.
  const print = code.indexOf('print');
  return print < 0 || code.lastIndexOf('>') < print;
}

const tarFlags = flags(
  `-I=! --use-compress-program=! --to-command=! --checkpoint-action=! -F=! --info-script=! --new-volume-script=! --rsh-command=! --rmt-command=!
  --index-file=w -f= --file= -C=r --directory=r -T=! --files-from=! -X=r --exclude-from=r --exclude= -b= -x! -c! -r! -u! -A! --extract! --get!
  --create! --append! --update! --catenate! --concatenate! --delete! --remove-files! -g=w --listed-incremental=w -V= -K= -N= -L= -H=
  --volno-file=w --strip-components= --transform= --xform= --exclude-vcs --extract-over-symlinks! --checkpoint --totals --unlink-first!
  --overwrite! -t --list -v -z -j -J -a -p -k -O --to-stdout -d --diff --compare --wildcards --no-wildcards --force-local --verbose --gzip --bzip2
  --xz --zstd --utc --full-time --numeric-owner --occurrence --strip= --show-transformed-names --anchored --no-anchored --ignore-case
  --no-recursion --recursion -R -Z -h -l -w -s -S -m -P -i -W -o --null --auto-compress --file-selection`,
  true,
);

/** `tar`: only listing is free of doubt. */
export function analyseTar(analysis: Analysis): void {
  const old = analysis.words[1];
  const scanned = { ...analysis, words: [...analysis.words] };
  if (typeof old?.value === 'string' && /^[A-Za-z]+$/.test(old.value)) {
    if (/[^tvzjJfp]/.test(old.value)) analysis.doubts.push({ why: `tar ${old.value} writes files or runs a program`, upTo: 2 });
    // Letters without a dash take their values in turn from the words after them.
    scanned.words[1] = { ...old, value: `-${old.value.replace('f', '')}${old.value.includes('f') ? 'f' : ''}` };
  }
  const { found } = scanFlags(scanned, tarFlags);
  const changes = found.some(({ name }) => /^(-[xcruA]|--(extract|get|create|append|update|catenate|concatenate|delete))$/.test(name));
  const archive = found.find(({ name }) => name === '-f' || name === '--file')?.value;
  if (archive?.guess.includes(':')) doubtAll(analysis, 'the archive may be on another machine');
  if (changes || /[xcruA]/.test(old?.value?.startsWith('-') === false ? old.value : '')) {
    addWrite(analysis, found.some(({ name }) => /^(-[cruA]|--(create|append|update))$/.test(name)) ? archive : undefined);
  }
}

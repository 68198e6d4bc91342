import { flags, scanFlags } from '../flags.js';
import { addWrite, doubtAll, type Analysis } from '../analysis.js';

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

/** `tar`: only listing has no doubts. */
export function analyseTar(analysis: Analysis): void {
  const old = analysis.words[1];
  const scanned = { ...analysis, words: [...analysis.words] };
  if (typeof old?.value === 'string' && /^[A-Za-z]+$/.test(old.value)) {
    if (/[^tvzjJfp]/.test(old.value)) analysis.doubts.push({ why: `tar ${old.value} writes files or runs a program`, wordsNeeded: 2 });
    // Old-style flags without a dash take their values from the following words; `f` is put last, next to its value.
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

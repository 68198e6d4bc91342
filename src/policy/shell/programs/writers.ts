import { flags, scanFlags, type Flags, type Operand } from '../flags.js';
import { addWrite, doubtAll, type Analysis } from '../analysis.js';

type Written = 'all' | 'last' | 'all but first' | 'second' | 'first' | 'none';
interface Writer {
  flags: Flags;
  /** Which operands are written. */
  written: Written;
  /** The name of the program does not suggest a write, so that a rule must name the operand. */
  quiet?: boolean;
}

const targets = '-t=w --target-directory=w -S= --suffix= -m= --mode= -o= -g= --owner= --group=';
const writers: Record<string, Writer> = {
  tee: { flags: flags('-a -i -p'), written: 'all' },
  touch: { flags: flags('-r=r --reference=r -d= --date= -t='), written: 'all' },
  mkdir: { flags: flags('-m= --mode='), written: 'all' },
  mkfifo: { flags: flags('-m= --mode='), written: 'all' },
  mknod: { flags: flags('-m= --mode='), written: 'all' },
  rm: { flags: flags(''), written: 'all' },
  rmdir: { flags: flags(''), written: 'all' },
  unlink: { flags: flags(''), written: 'all' },
  shred: { flags: flags('-n= -s= --iterations= --size= --random-source=r'), written: 'all' },
  truncate: { flags: flags('-s= --size= -r=r --reference=r'), written: 'all' },
  mv: { flags: flags(targets), written: 'all' },
  cp: { flags: flags(targets), written: 'last' },
  ln: { flags: flags(targets), written: 'last' },
  link: { flags: flags(''), written: 'last' },
  install: { flags: flags(`${targets} --strip-program=!`), written: 'last' },
  rename: { flags: flags(''), written: 'none' },
  chown: { flags: flags('--reference=r --from='), written: 'all but first' },
  chgrp: { flags: flags('--reference=r'), written: 'all but first' },
  chattr: { flags: flags(''), written: 'all but first' },
  setfacl: { flags: flags('-m= -x= -M=r -X=r --restore=!'), written: 'all' },
  patch: { flags: flags('-o=w --output=w -i=r --input=r -r=w --reject-file=w -d=! --directory=! -p= -F='), written: 'first' },
  uniq: { flags: flags('-f= -s= -w= --skip-fields= --skip-chars= --check-chars='), written: 'second', quiet: true },
  xxd: { flags: flags('-c= -g= -l= -s= -o= -n= -r!'), written: 'second', quiet: true },
  gzip: { flags: flags('-S= --suffix='), written: 'all' },
  zip: { flags: flags('-T! --test! -TT=! --unzip-command=! -b=! -O=w --out=w -m! -i= -x= -n= -P='), written: 'first' },
  rsync: {
    flags: flags(`-e=! --rsh=! --rsync-path=! --daemon! --log-file=w --files-from=r --temp-dir=! -T=! --partial-dir=! --backup-dir=!
      --write-batch=! --only-write-batch=! --remove-source-files! --delete! --delete-after! --delete-before! -M=! --remote-option=!
      --exclude= --include= --filter= -f= --exclude-from=r --include-from=r`),
    written: 'last',
  },
  scp: { flags: flags('-S=! -o=! -F=! -D=! -J=! -i=r -P= -l= -c='), written: 'last' },
  sponge: { flags: flags(''), written: 'all' },
  wget: {
    flags: flags(`-O=w --output-document=w -o=w --output-file=w -a=w --append-output=w -P=! --directory-prefix=! -i=r --input-file=r
      --use-askpass=! --post-file=r --body-file=r --config=! -e=! --execute=! --save-cookies=w --load-cookies=r --warc-file=! --warc-cdx!
      --warc-tempdir=! --rejected-log=w -U= --user-agent= --header= -t= -T= --tries= --timeout= --preserve-permissions! --unlink!`),
    written: 'none',
  },
  gcc: {
    flags: flags('-o=w -fplugin=! -wrapper=! -specs=! -B=! -I= -L= -l= -D= -U= -include=r -x= -MF=w -dumpdir=! -save-temps!'),
    written: 'none',
  },
};
const sameAs: Record<string, string> = {
  gunzip: 'gzip',
  bzip2: 'gzip',
  bunzip2: 'gzip',
  xz: 'gzip',
  unxz: 'gzip',
  zstd: 'gzip',
  lz4: 'gzip',
  compress: 'gzip',
  cc: 'gcc',
  'g++': 'gcc',
  'c++': 'gcc',
  clang: 'gcc',
  'clang++': 'gcc',
  ginstall: 'install',
};

function pickWritten(operands: readonly Operand[], written: Written): readonly Operand[] {
  switch (written) {
    case 'all':
      return operands;
    case 'last':
      return operands.slice(-1);
    case 'first':
      return operands.slice(0, 1);
    case 'second':
      return operands.slice(1);
    case 'all but first':
      return operands.slice(1);
    case 'none':
      return [];
  }
}

/** Analyses programs that write files: records the written paths. */
export function analyseWriter(name: string, analysis: Analysis): boolean {
  if (name === 'dd') return analyseDd(analysis);
  if (name === 'chmod') return analyseChmod(analysis);
  if (name === 'split' || name === 'csplit') {
    analysis.writes.push(null);
    scanFlags(analysis, flags('--filter=! -a= -b= -C= -l= -n= -t= -f= -k'));
    return true;
  }
  if (name === 'unzip') return analyseUnzip(analysis);
  const canonical = sameAs[name] ?? name;
  const writer = Object.hasOwn(writers, canonical) ? writers[canonical] : undefined;
  if (!writer) return false;
  const { operands, found } = scanFlags(analysis, writer.flags);
  const has = (...names: string[]): boolean => found.some((flag) => names.includes(flag.name));
  const isReadOnly =
    canonical === 'gzip' && analysis.words.some(({ value }) => /^-[a-z\d]*[clt]|^--(stdout|to-stdout|list|test)$/.test(value ?? ''));
  const written =
    has('-t', '--target-directory') && canonical !== 'touch' && canonical !== 'mv' ? [] : pickWritten(operands, writer.written);
  for (const { word, index } of isReadOnly ? [] : written) {
    if (canonical === 'scp' && word.value?.includes(':')) continue;
    addWrite(analysis, word);
    if (writer.quiet) analysis.doubts.push({ why: 'it writes its second file', wordsNeeded: index + 1 });
  }
  if ((canonical === 'wget' && !has('-O', '--output-document')) || (canonical === 'gcc' && !has('-o')) || canonical === 'rename')
    analysis.writes.push(null);
  if ((canonical === 'ln' || canonical === 'link') && operands.length === 1) analysis.writes.push('.');
  if (canonical === 'gcc' && operands.some(({ word }) => word.guess.startsWith('@')))
    doubtAll(analysis, 'it reads its arguments from a file');
  return true;
}

function analyseDd(analysis: Analysis): boolean {
  for (const word of analysis.words.slice(1)) {
    if (word.guess.startsWith('of=')) addWrite(analysis, word.value === null ? undefined : { ...word, value: word.value.slice(3) });
    if (word.guess.startsWith('if=')) analysis.reads.push(word.guess.slice(3));
  }
  return true;
}

function analyseChmod(analysis: Analysis): boolean {
  const { operands } = scanFlags(analysis, flags('--reference=r'));
  const inFlag = analysis.words.some(({ value }) => /^(--reference|-[rwxXstugo][rwxXstugo,+=-]*$)/.test(value ?? ''));
  for (const { word } of inFlag ? operands : operands.slice(1)) addWrite(analysis, word);
  return true;
}

function analyseUnzip(analysis: Analysis): boolean {
  const { found } = scanFlags(analysis, flags('-d=w -l -p -t -v -Z -z -P= -x'));
  const onlyLists = found.some(({ name }) => ['-l', '-p', '-t', '-v', '-Z', '-z'].includes(name));
  if (!onlyLists && !found.some(({ name }) => name === '-d')) analysis.writes.push('.');
  return true;
}

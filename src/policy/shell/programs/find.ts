import { addWrite, doubtAll, type Analysis } from '../analysis.js';
import { unknownWord, type ShellWord } from '../words.js';

const plain = new Set(
  [
    '( ) ! , -a -and -o -or -not -true -false -print -print0 -prune -quit -ls -depth -d -mount -xdev -x -empty -executable -readable -writable',
    '-nouser -nogroup -daystart -follow -noleaf -ignore_readdir_race -noignore_readdir_race -nowarn -warn -H -L -P -O0 -O1 -O2 -O3',
    '-help --help -version --version',
  ].flatMap((line) => line.split(' ')),
);
const valued = new Set(
  [
    '-name -iname -path -ipath -wholename -iwholename -regex -iregex -lname -ilname -type -xtype -size -mtime -atime -ctime -mmin -amin -cmin',
    '-newer -anewer -cnewer -perm -user -group -uid -gid -links -inum -samefile -fstype -maxdepth -mindepth -regextype -used -printf -context -D',
  ].flatMap((line) => line.split(' ')),
);
const running = new Set(['-exec', '-execdir', '-ok', '-okdir']);

/** `find`: an unknown word of its expression is a doubt. */
export function analyseFind(analysis: Analysis): void {
  const { words } = analysis;
  for (let at = 1; at < words.length; at++) {
    const { value } = words[at] ?? unknownWord;
    if (value === null || plain.has(value)) continue;
    if (valued.has(value) || /^-newer[aBcm][aBcmt]$/.test(value)) at++;
    else if (running.has(value)) {
      let end = at + 1;
      while (end < words.length && words[end]?.value !== ';' && !(words[end]?.value === '+' && words[end - 1]?.value === '{}')) end++;
      const inner = words.slice(at + 1, end).map((word) => (word.value?.includes('{}') ? unknownWord : word));
      analysis.inner.push({ words: value.endsWith('dir') ? withDirDoubt(inner) : inner });
      analysis.doubts.push({ why: `${value} runs a command`, wordsNeeded: at + 1 });
      at = end;
    } else if (value === '-delete') {
      for (const start of words.slice(1)) {
        if (start.guess.startsWith('-')) break;
        addWrite(analysis, start);
      }
      analysis.doubts.push({ why: '-delete removes what is found', wordsNeeded: at + 1 });
    } else if (/^-f(print0?|printf|ls)$/.test(value)) {
      addWrite(analysis, words[at + 1]);
      analysis.doubts.push({ why: `${value} writes a file`, wordsNeeded: at + 2 });
      at += value === '-fprintf' ? 2 : 1;
    } else if (value === '-files0-from') {
      analysis.doubts.push({ why: 'where it starts is read from a file', wordsNeeded: at + 2 });
      at++;
    } else if (value.startsWith('-')) analysis.doubts.push({ why: `${value} is not known`, wordsNeeded: at + 1 });
  }
}

/** `-execdir` runs the command in the directory of each file. */
function withDirDoubt(words: readonly ShellWord[]): ShellWord[] {
  const [first, ...rest] = words;
  return first ? [{ ...first, doubt: 'the directory is not known' }, ...rest] : [];
}

const fdValued = new Set(
  [
    '-d --max-depth --min-depth --exact-depth -t --type -e --extension -E --exclude -c --color -j --threads -S --size --changed-within',
    '--changed-before -o --owner --max-results --base-directory --path-separator --search-path --ignore-file --format --and',
  ].flatMap((line) => line.split(' ')),
);

/** `fd`: the words after `--exec` are the command that it runs. */
export function analyseFd(analysis: Analysis): void {
  const { words } = analysis;
  for (let at = 1; at < words.length; at++) {
    const { value } = words[at] ?? unknownWord;
    if (value === null) continue;
    if (value === '--') return;
    if (fdValued.has(value)) at++;
    else if (/^(--exec|-[^-]*[xX])/.test(value)) {
      analysis.inner.push({ words: [...words.slice(at + 1), unknownWord] });
      doubtAll(analysis, `${value} runs a command`);
      return;
    } else if (/^(--list|--ex|--gen|-[^-]*l)/.test(value) && value !== '--extension') {
      analysis.doubts.push({ why: `${value} runs another program`, wordsNeeded: at + 1 });
    }
  }
}

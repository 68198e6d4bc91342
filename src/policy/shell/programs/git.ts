import { flags, scanFlags, type Flags } from '../flags.js';
import { doubtAll, hasValue, mustName, type Analysis } from '../analysis.js';
import type { WorkingDirectory } from '../working-directory.js';
import type { ShellWord } from '../words.js';

/** Global flags that do not change what the subcommand does. */
const quiet = [
  '--no-pager',
  '-P',
  '--no-optional-locks',
  '--literal-pathspecs',
  '--no-literal-pathspecs',
  '--glob-pathspecs',
  '--no-replace-objects',
];
const globalValued = [
  '-C',
  '-c',
  '--git-dir',
  '--work-tree',
  '--namespace',
  '--super-prefix',
  '--config-env',
  '--attr-source',
  '--exec-path',
];

/** Removes quiet global flags, so that `git --no-pager log` is `git log`. */
export function withoutQuietFlags<T extends ShellWord | string>(words: readonly T[]): T[] {
  const text = (word: T): string | null => (typeof word === 'string' ? word : word.value);
  const remaining = [...words];
  if (remaining[0] === undefined || text(remaining[0]) !== 'git') return remaining;
  while (remaining[1] !== undefined && quiet.includes(text(remaining[1]) ?? '')) remaining.splice(1, 1);
  return remaining;
}

/** Flags of git's shared parser for revisions and diffs, which many more subcommands than `diff` accept. */
const commonFlags = '--output=w --output-directory=w --ext-diff! --textconv! --show-signature! --gpg-sign?! --exec-path! --text --exclude=';
const diffing = `${commonFlags} -S= -G= -O=r -n= -L= --max-count= --skip= --since= --until= --after= --before= --author=
  --committer= --grep= --format= --pretty --stat --no-ext-diff --no-textconv --exit-code --ext-grep`;
const diffFlags = flags(diffing);
const readOnlySubcommands: Record<string, Flags> = {
  ...Object.fromEntries(
    'log diff show shortlog whatchanged range-diff diff-tree diff-index diff-files rev-list show-branch cherry'
      .split(' ')
      .map((name) => [name, diffFlags]),
  ),
  ...Object.fromEntries(
    `status rev-parse ls-files ls-tree describe name-rev for-each-ref show-ref merge-base count-objects check-ignore check-attr
    check-ref-format check-mailmap var version annotate blame`
      .split(/\s+/)
      .map((name) => [name, flags(`${commonFlags} --contents=r -S=r --ignore-revs-file=r --shell --perl --python --tcl`)]),
  ),
  'cat-file': flags(`${commonFlags} --filters! --batch --batch-check --batch-command! --buffer`),
  grep: flags(
    `${commonFlags} -O?! --open-files-in-pager?! --ext-grep! -f=r -e= -A= -B= -C= -m= --text --open --and --or --not --files-with-matches`,
  ),
};

const branchListFlags = `-a --all -r --remotes -v --verbose --list -l --show-current --contains= --no-contains= --merged= --no-merged= --points-at= --sort=
  --format= --color --no-color --column --no-column -i --ignore-case --abbrev --no-abbrev`;
const tagListFlags = `-l --list -n? --contains= --no-contains= --points-at= --merged= --no-merged= --sort= --format= --color --column --no-column -i --ignore-case`;

/** Subcommands that run other programs, or change which ones git runs: only a rule with all words covers them. */
const dangerous = new Set(
  [
    'difftool mergetool filter-branch filter-repo hook credential daemon instaweb send-email imap-send shell upload-pack receive-pack',
    'http-backend http-fetch http-push p4 svn cvsserver cvsimport cvsexportcommit web--browse help gui citool lfs archimport quiltimport',
    'request-pull maintenance upload-archive fast-import remote-ext remote-fd for-each-repo',
  ].flatMap((line) => line.split(' ')),
);
const cloneFlags =
  flags(`-u=! --upload-pack=! --exec=! --receive-pack=! -c=! --config=! --template=! --separate-git-dir=! --reference=! --server-option=
  -x=! --recurse-submodules --set-upstream -o= --origin= -b= --branch= --depth= --upload --execute`);
const changing: Record<string, Flags> = {
  clone: cloneFlags,
  fetch: flags('--upload-pack=! -o= --depth='),
  pull: flags('--upload-pack=! -s=! -X= -S?!'),
  push: flags('--receive-pack=! --exec=! -o='),
  'ls-remote': flags('--upload-pack=! --exec=!'),
  rebase: flags('-x=! -s=! -S?! --continue --abort --skip -i! --interactive! --edit-todo!'),
  merge: flags('-s=! -S?! --abort --continue --squash -m= -F=r'),
  'cherry-pick': flags('-S?! -m= -X='),
  revert: flags('-S?! -m= -X='),
  am: flags('-S?! -C= -p='),
  archive: flags('-o=w --output=w --exec=! --remote=! --format= --prefix='),
  'format-patch': flags('-o=w --output-directory=w --output=w --ext-diff! --textconv! --stdout'),
  init: flags('--template=! --separate-git-dir=!'),
  commit: flags(
    '-F=r --file=r -t=r --template=r -m= --message= -C= -c= --author= --date= -S?! --gpg-sign?! --trailer= --amend --fixup= --squash=',
  ),
  submodule: flags(''),
  stash: flags(''),
  apply: flags('--directory=! --unsafe-paths! --build-fake-ancestor=w -p= --exclude= --include='),
  bisect: flags(''),
  'checkout-index': flags('--prefix=w'),
  'read-tree': flags('--index-output=w --prefix='),
  'fast-export': flags('--export-marks=w --import-marks=r --import-marks-if-exists=r'),
  'interpret-trailers': flags('--in-place! --trailer='),
  bugreport: flags('-o=w'),
  diagnose: flags('-o=w'),
  mailsplit: flags('-o=w'),
};

const always = flags(`${commonFlags} --exec=! --upload-pack=! --receive-pack=! --strategy=!`);
const noFlags = flags('');

/** `git`: read-only subcommands have no doubts, others must be named by a rule, and those that run programs need a rule with all words. */
export function analyseGit(analysis: Analysis, directory: WorkingDirectory): void {
  const { words } = analysis;
  let at = 1;
  for (; at < words.length; at++) {
    const value = words[at]?.value;
    if (typeof value !== 'string' || !value.startsWith('-')) break;
    if (quiet.includes(value)) continue;
    if (/^(--version|-v|--help|-h|--html-path|--man-path|--info-path|--exec-path)$/.test(value)) {
      if (value === '--help' || value === '-h') doubtAll(analysis, 'it opens a manual');
      if (words.length > at + 1) doubtAll(analysis, `${value} is followed by more`);
      return;
    }
    const [name = ''] = value.split('=');
    const takesNext = globalValued.includes(name) && !value.includes('=');
    analysis.doubts.push({ why: `${name} changes what git does or where`, wordsNeeded: at + (takesNext ? 2 : 1) });
    if (takesNext) at++;
  }
  if (directory.dir !== undefined)
    analysis.doubts.push({ why: 'git obeys the configuration of the directory that it is in', wordsNeeded: null });
  const sub = words[at]?.value;
  if (sub === undefined) return;
  if (at > 1) analysis.readings.push(['git', ...words.slice(at).map(({ value }) => value)]);
  if (sub === null) return;
  analyseSubcommand(analysis, sub, at);
}

function analyseSubcommand(analysis: Analysis, sub: string, at: number): void {
  const rest = analysis.words.slice(at + 1);
  doubtConfiguredPrograms(analysis, at);
  const table = Object.hasOwn(readOnlySubcommands, sub) ? readOnlySubcommands[sub] : undefined;
  if (table) {
    scanFlags(analysis, table, at + 1);
    return;
  }
  if (dangerous.has(sub)) return doubtAll(analysis, `git ${sub} runs other programs`);
  if (sub === 'branch' || sub === 'tag') return analyseBranchOrTag(analysis, sub, at);
  if (sub === 'config') {
    const isQuery = hasValue(rest[0], [
      '--get',
      '--get-all',
      '--list',
      '-l',
      'get',
      'list',
      '--get-regexp',
      '--show-origin',
      '--name-only',
    ]);
    const isPlainQuery =
      rest.length <= 2 && rest.some((word) => hasValue(word, ['--list', '-l', 'list'])) ? true : rest.length <= 2 && isQuery;
    if (!isPlainQuery || rest.some(({ value }) => /^--(file|blob|edit|unset|add|replace|re|rem|u|e|f|b)|^-[fe]/.test(value ?? '')))
      doubtAll(analysis, 'it changes what git does');
    return;
  }
  if (isReadOnly(sub, rest)) {
    scanFlags(analysis, diffFlags, at + 1);
    return;
  }
  mustName(analysis, `git ${sub} may change something`, at + 1);
  if (sub === 'bisect' && hasValue(rest[0], ['run', 'visualize', 'view'])) doubtAll(analysis, 'it runs a command');
  if (sub === 'submodule' && !hasValue(rest[0], ['update', 'init', 'add', 'sync', 'deinit'])) doubtAll(analysis, 'it may run a command');
  if (sub === 'remote' || sub === 'reflog' || sub === 'worktree' || sub === 'notes' || sub === 'symbolic-ref') {
    mustName(analysis, `git ${sub} may change something`, Math.min(at + 2, analysis.words.length));
  }
  scanFlags(analysis, always, at + 1);
  const { operands } = scanFlags(analysis, (Object.hasOwn(changing, sub) ? changing[sub] : undefined) ?? noFlags, at + 1);
  for (const { word, index } of operands)
    if (/^\w[\w+.-]*::/.test(word.guess)) analysis.doubts.push({ why: 'the address names a program', wordsNeeded: index + 1 });
}

/** Doubts about flags of any subcommand that run a program from git's config: a manual viewer, or gpg for signatures. */
function doubtConfiguredPrograms(analysis: Analysis, at: number): void {
  for (const [index, { guess }] of analysis.words.entries()) {
    if (index <= at) continue;
    if (guess === '--') return;
    if (guess === '--help')
      analysis.doubts.push({ why: '--help runs the viewer of manuals that the configuration names', wordsNeeded: index + 1 });
    if (/%G|%\(signature/.test(guess)) analysis.doubts.push({ why: 'it runs the program that checks signatures', wordsNeeded: index + 1 });
  }
}

/** `git branch` and `git tag` are read-only when they only list names. */
function analyseBranchOrTag(analysis: Analysis, sub: string, at: number): void {
  const before = analysis.doubts.length;
  const { operands, found } = scanFlags(analysis, flags(sub === 'branch' ? branchListFlags : tagListFlags, true), at + 1);
  const lists = found.some(({ name }) => /^(-l|--list|--contains|--no-contains|--merged|--no-merged|--points-at)$/.test(name));
  if (operands.length > 0 && !lists)
    analysis.doubts.push({ why: `git ${sub} changes something`, wordsNeeded: (operands[0]?.index ?? at) + 1 });
  if (analysis.doubts.length > before) analysis.doubts.push({ why: `git ${sub} may change something`, wordsNeeded: at + 2 });
}

function isReadOnly(sub: string, rest: readonly ShellWord[]): boolean {
  const [first] = rest;
  const none = rest.length === 0;
  switch (sub) {
    case 'remote':
      return (
        none ||
        (rest.length === 1 && hasValue(first, ['-v', '--verbose'])) ||
        (rest.length === 2 && hasValue(first, ['get-url']) && rest[1]?.value?.startsWith('-') === false)
      );
    case 'stash':
      return hasValue(first, ['list', 'show']) && rest.every(({ value }) => value !== null);
    case 'reflog':
      return (
        none ||
        ((hasValue(first, ['show', 'exists', 'list']) || first?.value?.startsWith('-') === true) &&
          rest.every(({ value }) => value !== null))
      );
    case 'worktree':
    case 'notes':
      return rest.length === 1 && hasValue(first, ['list']);
    case 'submodule':
      return hasValue(first, ['status', 'summary']);
    case 'bisect':
      return rest.length === 1 && hasValue(first, ['log']);
    case 'symbolic-ref':
      return rest.length === 1 && hasValue(first, ['HEAD']);
    default:
      return false;
  }
}

import { flags, scanFlags, type Flags } from '../flags.js';
import { addShifted, doubtAll, hasValue, newAnalysis, mustName, type Analysis } from '../analysis.js';
import type { ShellWord } from '../words.js';

export type Inspect = (words: ShellWord[]) => Analysis;

const elsewhere = /^[~/]|(^|[/=:])\.\.(\/|$)|=[~/]/;

/** A runner and its inner program: a rule must name both, and the inner words are analysed as a command of their own. */
function runsNamed(analysis: Analysis, at: number, inspect: Inspect): void {
  const inside = analysis.words.slice(at);
  if (inside.length === 0 || inside[0]?.value === null) return doubtAll(analysis, 'it runs another program');
  mustName(analysis, 'it runs another program', at + 1);
  addShifted(analysis, inspect(inside), at);
}

/** npm accepts flags anywhere before `--`, and every npm setting is a flag. */
const npmFlags = flags(
  `-s --silent -q --quiet -d --if-present --json --long -l --depth= --all -a -g --global --prod --production --omit= --include= --save-dev -D --save
  -S --save-exact -E --no-save --no-audit --no-fund --ignore-scripts -w= --workspace= --workspaces --ws --include-workspace-root --version -v --help
  -h --loglevel= --dry-run --parseable --audit-level= --legacy-peer-deps --force -f --no-color --color --offline --prefer-offline --frozen-lockfile
  --package-lock-only --verbose`,
  true,
);
const packagers: Record<string, { free: string; before: Flags; run: string; readOnly: string }> = {
  npm: {
    free: '',
    before: npmFlags,
    run: 'exec x init create innit',
    readOnly: 'ls list ll la view info show v outdated root prefix bin ping search why explain fund audit whoami',
  },
  pnpm: {
    free: 'later',
    before: flags(
      '-r --recursive --silent -s -w --workspace-root --filter= -F= --version -v --help -h --parallel --stream --no-bail --if-present',
      true,
    ),
    run: 'exec dlx create x',
    readOnly: 'ls list ll la why outdated root bin audit',
  },
  yarn: {
    free: 'later',
    before: flags('-s --silent --version -v --help -h', true),
    run: 'dlx exec create node',
    readOnly: 'list why info outdated versions audit',
  },
  bun: {
    free: 'later',
    before: flags('--version -v --help -h --silent --bun', true),
    run: 'x create init exec repl',
    readOnly: 'outdated',
  },
};

const bunFlags = flags(
  '--preload=! -r=! --require=! --import=! --config=! -c=! --cwd=! --env-file=! --define=! -d=! --loader=! -e=! --eval=! -p=! --print=! --inspect?!',
);

function analysePackager(name: string, analysis: Analysis, inspect: Inspect): void {
  const packager = packagers[name];
  if (!packager) return;
  const at = analysis.words.findIndex(
    ({ value }, i) => i > 0 && !value?.startsWith('-') && !isValueOf(packager.before, analysis.words[i - 1]),
  );
  const sub = at < 0 ? undefined : analysis.words[at];
  const end = analysis.words.findIndex(({ value }) => value === '--');
  const own = end < 0 ? analysis.words : analysis.words.slice(0, end);
  const scanned = packager.free === 'later' && at > 0 ? analysis.words.slice(0, at) : own;
  scanFlags({ ...analysis, words: scanned }, packager.before);
  if (sub === undefined) return at < 0 && analysis.words.length > 1 ? undefined : doubtAll(analysis, 'it may install something');
  if (hasValue(sub, packager.run.split(' '))) {
    const first = analysis.words.findIndex(({ value }, i) => i > at && value !== '--' && !(value ?? '').startsWith('-'));
    if (first < 0 || first > at + (analysis.words[at + 1]?.value === '--' ? 2 : 1)) doubtAll(analysis, 'it runs another program');
    else runsNamed(analysis, first, inspect);
    return;
  }
  if (hasValue(sub, packager.readOnly.split(' ')))
    return hasValue(sub, ['audit']) ? doubtFlags(analysis, at + 1, /^(fix$|--?fi)/) : undefined;
  mustName(analysis, `${name} ${sub.value ?? ''} runs or changes something`, at + 1);
  if (hasValue(sub, ['config', 'c', 'set', 'explore', 'edit', 'link', 'pkg'])) doubtAll(analysis, 'it changes settings or opens a program');
  if (packager.free === 'later') {
    // Flags between `run` and the script belong to the package manager; those after the script belong to the script.
    const isRun = hasValue(sub, ['run', 'run-script', 'workspace', 'workspaces']);
    if (isRun && analysis.words[at + 1]?.guess.startsWith('-')) doubtAll(analysis, 'a flag before the script may run something');
    if (name === 'bun') scanFlags(analysis, bunFlags, at + 1);
  }
  doubtElsewhere(analysis, at + 1);
}

function isValueOf(table: Flags, word: ShellWord | undefined): boolean {
  return typeof word?.value === 'string' && table.byName.get(word.value)?.takes === '=';
}

/** Doubts about flags that make a read-only subcommand change something. */
function doubtFlags(analysis: Analysis, from: number, changing: RegExp): void {
  analysis.words.slice(from).forEach(({ guess }, i) => {
    if (changing.test(guess)) analysis.doubts.push({ why: `${guess} changes something`, wordsNeeded: from + i + 1 });
  });
}

/** Doubts about paths outside of the project: a rule for what a project runs means this project. */
function doubtElsewhere(analysis: Analysis, from: number): void {
  analysis.words.slice(from).forEach(({ guess }, i) => {
    if (elsewhere.test(guess)) analysis.doubts.push({ why: `${guess} may be outside the project`, wordsNeeded: from + i + 1 });
  });
}

/** Package runners, whose first operand is the program to run. */
const packageRunners: Record<string, { subs?: string[]; free: RegExp }> = {
  npx: { free: /^(-y|--yes|--no-install|--no)$/ },
  bunx: { free: /^--bun$/ },
  pnpx: { free: /^$/ },
  uvx: { free: /^$/ },
  busybox: { free: /^$/ },
  toybox: { free: /^$/ },
  pipx: { subs: ['run'], free: /^$/ },
  uv: { subs: ['run'], free: /^(-q|--quiet|--frozen|--locked|--no-sync)$/ },
  poetry: { subs: ['run'], free: /^$/ },
  pdm: { subs: ['run'], free: /^$/ },
  pipenv: { subs: ['run'], free: /^$/ },
  hatch: { subs: ['run'], free: /^$/ },
  bundle: { subs: ['exec'], free: /^$/ },
  rye: { subs: ['run'], free: /^$/ },
};

function analysePackageRunner(name: string, analysis: Analysis, inspect: Inspect): void {
  const { subs, free } = packageRunners[name] ?? { free: /^$/ };
  let at = 1;
  if (subs) {
    if (!hasValue(analysis.words[1], subs)) {
      if (!hasValue(analysis.words[1], ['--version', '--help'])) mustName(analysis, `${name} changes something`, 2);
      return;
    }
    at = 2;
  }
  while (free.test(analysis.words[at]?.value ?? '-')) at++;
  const program = analysis.words[at];
  if (!program) return doubtAll(analysis, 'it runs another program');
  if (analysis.words.length === at + 1 && hasValue(program, ['--version', '--help', '--list'])) return;
  if (program.value === null || program.value.startsWith('-')) {
    doubtAll(analysis, 'it runs another program');
    analysis.anywhere = true;
    for (const { value } of analysis.words) if (value !== null && /\s/.test(value)) analysis.inner.push({ script: value, isGuess: true });
    return;
  }
  runsNamed(analysis, at, inspect);
}

const builders: Record<string, { flags: Flags; readOnly: string }> = {
  cargo: {
    flags: flags(
      '--config=! -Z=! --manifest-path=! --target-dir=! -C=! --out-dir=! --artifact-dir=! --lockfile-path=! --fix! -p= --package= --test= --bin= -j= --features= -F=',
    ),
    readOnly: 'tree metadata version --version -V pkgid search locate-project',
  },
  go: {
    flags: flags(
      `-exec=! --exec=! -toolexec=! --toolexec=! -vettool=! --vettool=! -o=w --o=w -C=! --C=! -overlay=! --overlay=! -modfile=! --modfile=!
      -ldflags=! --ldflags=! -gcflags=! --gcflags=! -asmflags=! -gccgoflags=! -compiler=!
      -coverprofile=w -cpuprofile=w -memprofile=w -trace=w -blockprofile=w -mutexprofile=w -outputdir=w -run= -count= -timeout= -w -c! --c!`,
      false,
      true,
    ),
    readOnly: 'version list doc',
  },
  docker: {
    flags: flags('-H=! --host=! --config=! -c=! --context=!'),
    readOnly: 'ps images logs inspect version info --version top port stats history',
  },
  kubectl: { flags: flags('--kubeconfig=! --server=! -s=!'), readOnly: 'get describe logs version explain api-resources top' },
  gh: { flags: flags('--web! -w! --editor! -e!'), readOnly: '--version status' },
  pip: {
    flags: flags('--target=! -t=! --prefix=! --root=! --log=w --cache-dir=! --python=!'),
    readOnly: 'list show freeze check --version index',
  },
  make: {
    flags: flags(
      '-f=! --file=! --makefile=! -C=! --directory=! -I=! --include-dir=! --eval=! -E=! -W= -o= -j? -l? -e! --environment-overrides! -n -k -s -B',
    ),
    readOnly: '',
  },
};
const sameBuilder: Record<string, string> = { podman: 'docker', nerdctl: 'docker', pip3: 'pip', gmake: 'make', ninja: 'make' };

function analyseBuilder(name: string, analysis: Analysis): void {
  const builder = builders[name];
  if (!builder) return;
  const end = analysis.words.findIndex(({ value }) => value === '--');
  const { operands } = scanFlags({ ...analysis, words: end < 0 ? analysis.words : analysis.words.slice(0, end) }, builder.flags);
  doubtElsewhere(analysis, 1);
  if (name === 'make') {
    for (const { word, index } of operands)
      if (word.guess.includes('=')) analysis.doubts.push({ why: 'it sets a variable', wordsNeeded: index + 1 });
    return;
  }
  const [sub] = operands;
  // The subcommand is the first operand.
  if (!sub || hasValue(analysis.words[1], builder.readOnly.split(' '))) return;
  mustName(analysis, `${name} ${sub.word.value ?? ''} runs or changes something`, sub.index + 1);
  if (name === 'go' && hasValue(sub.word, ['env'])) doubtFlags(analysis, sub.index + 1, /^--?[wu](=|$)/);
  if (name === 'docker' && hasValue(sub.word, ['run', 'exec', 'compose', 'build', 'buildx', 'create'])) {
    doubtAll(analysis, 'it runs another command');
    analysis.anywhere = true;
  }
  if (name === 'kubectl' && hasValue(sub.word, ['exec', 'run', 'debug', 'cp', 'edit', 'config'])) {
    doubtAll(analysis, 'it runs another command');
    analysis.anywhere = true;
  }
}

/** Analyses package managers, package runners and build tools, which run what a project defines. */
export function analyseProject(name: string, analysis: Analysis, inspect: Inspect): boolean {
  if (Object.hasOwn(packagers, name)) analysePackager(name, analysis, inspect);
  else if (Object.hasOwn(packageRunners, name)) analysePackageRunner(name, analysis, inspect);
  else {
    const canonical = sameBuilder[name] ?? name;
    if (!Object.hasOwn(builders, canonical)) return false;
    analyseBuilder(canonical, analysis);
  }
  return true;
}

/** `python -m x` is analysed like the program `x` where that is known. */
export function analyseModule(analysis: Analysis, at: number, inspect: Inspect): void {
  const [module, ...rest] = analysis.words.slice(at);
  if (hasValue(module, ['json.tool', 'tokenize', 'dis'])) {
    if (rest.filter(({ value }) => value?.startsWith('-') === false).length > 1) doubtAll(analysis, 'it writes its second file');
    return;
  }
  if (hasValue(module, ['pytest', 'pip', 'mypy', 'ruff', 'black', 'unittest', 'flake8', 'pylint'])) {
    addShifted(analysis, inspect(analysis.words.slice(at)), at);
    doubtElsewhere(analysis, at + 1);
  } else if (rest.length > 0) analysis.readings.push(newAnalysis(analysis.words.slice(at), undefined).words.map(({ value }) => value));
}

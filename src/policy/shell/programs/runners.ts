import { addWrite, doubtAll, doubtAlways, mustName, type Analysis } from '../analysis.js';
import { unknownWord, type ShellWord } from '../words.js';

const shells = new Set('bash sh zsh dash ksh mksh ash rbash fish csh tcsh'.split(' '));

/** Shells: a script after -c is parsed as well. */
export function analyseShell(name: string, analysis: Analysis): boolean {
  if (!shells.has(name)) return false;
  const { words } = analysis;
  let at = 1;
  let isText = false;
  for (; at < words.length; at++) {
    const value = words[at]?.value;
    if (typeof value !== 'string' || !/^[-+]/.test(value) || value === '-') break;
    if (value === '--') {
      at++;
      break;
    }
    if (value === '--version' || value === '--help') return true;
    isText ||= /^-[a-zA-Z]*c/.test(value);
    if (!/^-[leuxcv]+$/.test(value) && !['--login', '--norc', '--noprofile', '--posix'].includes(value))
      doubtAlways(analysis, `${value} changes how the shell works`);
    if (/^[-+][a-zA-Z]*[oO]$/.test(value) || value === '--rcfile' || value === '--init-file') at++;
  }
  const script = words[at];
  if (!script) {
    doubtAlways(analysis, 'it runs what it reads');
    if (typeof analysis.stdin === 'string') analysis.inner.push({ script: analysis.stdin });
    else analysis.runsUnknown = true;
    return true;
  }
  if (isText) {
    if (script.value === null) {
      doubtAlways(analysis, 'the command that it runs is computed');
      analysis.runsUnknown = true;
    } else analysis.inner.push({ script: script.value });
    mustName(analysis, 'it runs another command', words.length);
  } else mustName(analysis, 'it runs a script', at + 1);
  return true;
}

/** Wrappers: how many operands, and which flags with values, come before the inner command. */
const wrappers: Record<string, { valued?: string; operands?: number; appends?: boolean }> = {
  sudo: { valued: '-u -g -h -p -C -T -r -t -R -D -U --user --group --host --prompt --chdir --chroot' },
  doas: { valued: '-u -C' },
  pkexec: { valued: '--user' },
  runuser: { valued: '-u -g -G --user --group' },
  su: { operands: 1 },
  env: { valued: '-u --unset -C --chdir' },
  exec: { valued: '-a' },
  command: {},
  builtin: {},
  nohup: {},
  time: { valued: '-f -o --format --output' },
  nice: { valued: '-n --adjustment' },
  ionice: { valued: '-c -n -p -P -u' },
  stdbuf: { valued: '-i -o -e' },
  timeout: { valued: '-k -s', operands: 1 },
  setsid: {},
  chrt: { operands: 1, valued: '-T -P -D' },
  taskset: { operands: 1 },
  xargs: {
    valued: '-I -L -n -P -s -E -d -a --arg-file --max-args --max-procs --max-lines --replace --delimiter --max-chars',
    appends: true,
  },
  parallel: { valued: '-j --jobs -a --arg-file -I --colsep -n -N', appends: true },
  watch: { valued: '-n --interval' },
  strace: { valued: '-e -o -p -s -u -E -O -S -b -I -P -a -X' },
  ltrace: { valued: '-e -o -p -s -u -a -l -n' },
  flock: { valued: '-w -E --timeout --wait', operands: 1 },
  script: { valued: '-c --command -o -O -I -B -T -m -E' },
  ssh: { valued: '-o -i -p -l -F -J -L -R -D -W -b -c -e -m -w -E -I -O -Q -S -B', operands: 1 },
  unshare: { valued: '-R -w -S -G --map-user --map-group' },
  nsenter: { valued: '-t -S -G --target' },
  chroot: { operands: 1 },
  'systemd-run': { valued: '-p -u -M -E -H --unit --property --setenv --slice --uid --gid' },
  setarch: { operands: 1 },
  prlimit: { valued: '-p --pid' },
  entr: {},
  dotenv: { valued: '-e -f' },
  'cross-env': {},
  direnv: { operands: 2 },
  'start-stop-daemon': { valued: '-p -x -a -d -u -c --exec --startas --pidfile --chdir' },
};
const moreWrappers = new Set(
  [
    'bwrap fakeroot fakechroot proot setpriv numactl valgrind perf hyperfine watchexec firejail linux32 linux64 torsocks torify proxychains',
    'proxychains4 dbus-run-session dbus-launch xvfb-run unbuffer chpst softlimit faketime sg newgrp capsh run-parts nix-shell nix conda mamba',
    'mise asdf rbenv pyenv nodenv volta doppler op aws-vault cpulimit cgexec systemd-inhibit gnome-terminal xterm konsole coproc catchsegv rlwrap',
    'ld.so ld-linux.so.2 ld-linux-x86-64.so.2 gtimeout envdir tini dumb-init s6-setuidgid gosu su-exec machinectl lxc-attach lxc flatpak-spawn',
    'toolbox distrobox vagrant mosh rsh autossh sshpass winpty wine qemu-x86_64 box64 arch-chroot i386 x86_64 uncons',
  ].flatMap((line) => line.split(' ')),
);

/** Wrappers that change how a program runs (user, variables, input). Their inner command is analysed, and the wrapper itself is a doubt. */
export function analyseWrapper(name: string, analysis: Analysis): boolean {
  const wrapper = Object.hasOwn(wrappers, name) ? wrappers[name] : undefined;
  if (!wrapper && !moreWrappers.has(name)) return false;
  const { words } = analysis;
  if (words.length === 1 && /^(env|time|direnv|su)$/.test(name)) {
    if (name !== 'env') doubtAll(analysis, 'it runs another command');
    return true;
  }
  if (name === 'command' && /^-[vV]+$/.test(words[1]?.value ?? '')) return true;
  analysis.anywhere = true;
  doubtAll(analysis, 'it runs another command');
  if (name === 'exec' || name === 'env') doubtAlways(analysis, name === 'exec' ? 'it replaces the shell' : 'it changes variables');
  const valued = new Set(wrapper?.valued?.split(' ') ?? []);
  let operands = wrapper?.operands ?? 0;
  let at = 1;
  for (; at < words.length; at++) {
    const { value } = words[at] ?? unknownWord;
    if (value === '--') {
      at++;
      break;
    }
    if (value !== null && valued.has(value)) at++;
    else if (value !== null && (/^-./.test(value) || /^\w+=/.test(value))) continue;
    else if (operands > 0) operands--;
    else break;
  }
  if (at < words.length) {
    const marks = wrapper?.appends ? placeholdersOf(words) : [];
    const run = words.slice(at).map((word) => (marks.some((mark) => word.value?.includes(mark)) ? unknownWord : word));
    analysis.inner.push({ words: [...run, ...(wrapper?.appends ? [unknownWord] : [])] });
  } else if (name === 'parallel') analysis.runsUnknown = true;
  for (const { value } of words.slice(1)) {
    const text = value?.replace(/^(--?[\w-]+=|-[a-zA-Z](?=\S*\s))/, '');
    if (text !== undefined && /\s/.test(text)) analysis.inner.push({ script: text, isGuess: true });
  }
  if (name === 'script') addWrite(analysis, undefined);
  if (name === 'time' || name === 'strace' || name === 'ltrace') {
    const output = words.findIndex(({ value }) => value === '-o');
    if (output > 0) addWrite(analysis, words[output + 1]);
  }
  return true;
}

/** Placeholders of xargs and parallel: `{}`, or the value of -I. */
function placeholdersOf(words: readonly ShellWord[]): string[] {
  const at = words.findIndex((word) => /^(-I|--replace)/.test(word.value ?? ''));
  const flag = words[at]?.value ?? '';
  const named = flag === '-I' ? words[at + 1]?.value : flag.replace(/^(-I|--replace=?)/, '');
  return ['{}', ...(typeof named === 'string' && named !== '' ? [named] : [])];
}

const interpreters: Record<string, { free: RegExp; text: RegExp }> = {
  python: { free: /^-[uBOsSEIqvb]+$/, text: /^-[a-zA-Z]*c/ },
  node: {
    free: /^--(no-warnings|trace-warnings|enable-source-maps|max-old-space-size=\d+|trace-deprecation|no-deprecation)$/,
    text: /^(-[ep]+$|--eval|--print|-pe)/,
  },
  perl: { free: /^-[wT]+$/, text: /^-[a-zA-Z0-9]*[eE]/ },
  ruby: { free: /^-w$/, text: /^-[a-zA-Z]*e/ },
  php: { free: /^-n$/, text: /^-[rBRE]/ },
  lua: { free: /^-W$/, text: /^-e/ },
};
const moreInterpreters = new Set(
  `tclsh wish Rscript R julia osascript pwsh powershell elixir erl ghci runghc java groovy scala kotlin deno tsx ts-node swift guile racket
  sbcl clisp ocaml gawk-run luajit nodejs bun-run jshell irb ipython jupyter octave gnuplot maxima sage`.split(/\s+/),
);

/** Interpreters: a rule must name the script file; inline code (`-c`, `-e`) needs a rule with all words. */
export function analyseInterpreter(name: string, analysis: Analysis, inspectModule: (at: number) => void): boolean {
  const family = /^python[\d.]*$|^pypy[\d.]*$/.test(name) ? 'python' : name.replace(/[\d.]+$/, '');
  const interpreter = Object.hasOwn(interpreters, family) ? interpreters[family] : undefined;
  if (!interpreter && !moreInterpreters.has(name) && !moreInterpreters.has(family)) return false;
  const { words } = analysis;
  for (let at = 1; at < words.length; at++) {
    const value = words[at]?.value;
    if (typeof value !== 'string') {
      doubtAlways(analysis, 'the program that it runs is computed');
      return true;
    }
    if (words.length === 2 && /^(--version|-V|-v|--help|-h)$/.test(value)) return true;
    if (family === 'python' && value === '-m') {
      mustName(analysis, 'it runs a module', at + 2);
      inspectModule(at + 1);
      return true;
    }
    if (family === 'node' && value === '--test') {
      mustName(analysis, 'it runs tests', at + 1);
      if (words.slice(at + 1).some((word) => word.guess.startsWith('-') || /^[~/]|(^|\/)\.\.(\/|$)/.test(word.guess)))
        doubtAll(analysis, 'it runs what is somewhere else');
      return true;
    }
    if (value === '-' || !value.startsWith('-')) {
      if (value === '-') doubtAlways(analysis, 'it runs what it reads');
      else mustName(analysis, 'it runs a program', at + 1);
      return true;
    }
    if (interpreter?.free.test(value)) continue;
    doubtAll(analysis, interpreter?.text.test(value) ? 'it runs a program that is in its words' : `${value} may run something`);
    return true;
  }
  doubtAlways(analysis, 'it runs what it reads');
  return true;
}

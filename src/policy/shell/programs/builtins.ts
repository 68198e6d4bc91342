import { doubtAlways, type Analysis } from '../analysis.js';

/** Builtins that change the meaning of later words, or run a script. No rule covers them: they are always asked. */
const changing = new Set(
  [
    'eval source . trap alias unalias export declare typeset readonly local shopt enable hash unset read mapfile readarray let complete compgen',
    'compopt bind fc history getopts umask ulimit disown jobs suspend logout dirs caller times wait',
  ].flatMap((line) => line.split(' ')),
);

/** Those of `changing` that change nothing without arguments. */
const plainAlone = new Set(['wait', 'jobs', 'times', 'dirs']);

/** Whether no rule can allow a builtin of this name. */
export function isAlwaysAsked(name: string, hasArguments: boolean): boolean {
  return changing.has(name) && (hasArguments || !plainAlone.has(name));
}

/** Analyses shell builtins. */
export function analyseBuiltin(name: string, analysis: Analysis): boolean {
  const rest = analysis.words.slice(1);
  if (name === 'set') {
    const isPlain = rest.length > 0 && rest.every(({ value }, i) => isPlainOption(value, i > 0 ? rest[i - 1]?.value : undefined));
    if (!isPlain) doubtAlways(analysis, 'it changes how the shell works');
    return true;
  }
  if (name === 'test') {
    // The operand of -v may be an array subscript, which is evaluated.
    if (rest.some(({ value }) => value === '-v' || value === '-R')) doubtAlways(analysis, 'it evaluates a name');
    return true;
  }
  if (!changing.has(name)) return false;
  if (!isAlwaysAsked(name, rest.length > 0)) return true;
  if (name === 'unset' || name === 'read') doubtAlways(analysis, 'it changes variables');
  else doubtAlways(analysis, `${name} can change what other words mean`);
  if (name === 'eval') {
    const values = rest.map(({ value }) => value);
    if (values.some((value) => value === null)) analysis.runsUnknown = true;
    else if (values.length > 0) analysis.inner.push({ script: values.join(' ') });
    analysis.anywhere = true;
  }
  // A sourced file is a program like any other; a pipe or a computed name hides the script.
  if ((name === 'source' || name === '.') && isUnseen(rest[0]?.value)) analysis.runsUnknown = true;
  // `hash -p` gives a program another name, which no rule matches.
  if (name === 'hash' && rest.some(({ value }) => value === null || /^-\w*p/.test(value))) analysis.runsUnknown = true;
  if (name === 'trap' || name === 'alias' || name === 'complete' || name === 'compgen' || name === 'bind' || name === 'mapfile') {
    analysis.anywhere = true;
    if (name === 'trap' && rest[0]?.value === null) analysis.runsUnknown = true;
    for (const { value } of rest) if (value !== null) analysis.inner.push({ script: value.replace(/^[\w.-]+=/, ''), isGuess: true });
  }
  return true;
}

function isUnseen(path: string | null | undefined): boolean {
  return path === null || (path !== undefined && /^\/(dev\/(stdin|fd)|proc)(\/|$)/.test(path));
}

function isPlainOption(value: string | null, before: string | null | undefined): boolean {
  if (value === null) return false;
  if (before !== undefined && before !== null && /^[-+][eux]*o$/.test(before)) return /^(pipefail|errexit|nounset|xtrace)$/.test(value);
  return /^[-+][eux]*o?$/.test(value) && value.length > 1;
}

/** Every sign that we draw ourselves. Each takes one column in both sets, so that one can stand for the other in a row. */
export interface Marks {
  readonly waiting: string;
  readonly running: string;
  readonly ok: string;
  readonly failed: string;
  readonly skipped: string;
  readonly interrupted: string;
  readonly ellipsis: string;
  /** Left of code, quotes and output. */
  readonly bar: string;
  readonly quote: string;
  /** Lines of tables, rules and dividers. */
  readonly line: string;
  readonly column: string;
  readonly crossing: string;
  readonly minus: string;
}

export const unicodeMarks: Marks = {
  waiting: '○',
  running: '●',
  ok: '✓',
  failed: '✗',
  skipped: '⊘',
  interrupted: '…',
  ellipsis: '…',
  bar: '│',
  quote: '▌',
  line: '─',
  column: '│',
  crossing: '┼',
  minus: '−',
};

export const asciiMarks: Marks = {
  waiting: 'o',
  running: '*',
  ok: '+',
  failed: 'x',
  skipped: '/',
  interrupted: '~',
  ellipsis: '~',
  bar: '|',
  quote: '>',
  line: '-',
  column: '|',
  crossing: '+',
  minus: '-',
};

/** The marks for a terminal: ASCII where the locale says that it has no UTF-8, and on the Linux console, whose font lacks most of them. */
export function chooseMarks(env: Readonly<Record<string, string | undefined>>): Marks {
  const locale = [env.LC_ALL, env.LC_CTYPE, env.LANG].find((name) => name !== undefined && name !== '');
  // Containers often set no locale, and are looked at in a terminal that knows UTF-8.
  const isUtf8 = locale === undefined || /utf-?8/i.test(locale);
  return isUtf8 && env.TERM !== 'linux' ? unicodeMarks : asciiMarks;
}

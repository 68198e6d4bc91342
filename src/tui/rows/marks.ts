/** Every sign that rows are drawn with. Each takes one column, and `ascii.ts` says what stands for it in a terminal without UTF-8. */
export const marks = {
  waiting: '○',
  running: '●',
  ok: '✓',
  failed: '✗',
  skipped: '⊘',
  interrupted: '…',
  /** Inputs: kept here, held in the queue, brought back by an abort. */
  kept: '◌',
  held: '⏸',
  returned: '↩',
  ellipsis: '…',
  /** The chosen one of a list, and what is being done now. */
  chosen: '▸',
  /** Left of code and output, of quotes, of a question, and of what tools keep on the screen. */
  bar: '│',
  quote: '▌',
  questionBar: '┃',
  widgetBar: '▏',
  /** Lines of tables, rules and dividers. */
  line: '─',
  column: '│',
  crossing: '┼',
  minus: '−',
  arrow: '→',
  dot: '·',
} as const;

/** Between words of a row that are about different things. */
export const separator = ` ${marks.dot} `;

/** One after the other in one column. */
export const spinnerMarks = ['⠋', '⠙', '⠸', '⠴', '⠦', '⠇'] as const;

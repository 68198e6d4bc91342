import { printable, printableLine } from '../../view/printable.js';
import type { ToolView } from '../../view/tools/tool-view.js';
import { marks } from '../rows/marks.js';
import { clipSpans, span, spansWidth, type Row, type Span, type Tone } from '../rows/row.js';
import { wrapSpans } from '../rows/wrap.js';
import { stripWrappers } from './command-headline.js';
import { renderDiff } from './diff.js';

export interface ToolBlock extends ToolView {
  readonly folded: boolean;
}

/** Of a long output the first and the last lines are shown. */
const layout = { headLines: 8, tailLines: 12, lineUnitsMax: 1_000, diffLines: 200, headlineRows: 3, shortReasonUnits: 40 } as const;

const tones: Record<ToolBlock['state'], Tone> = {
  waiting: 'muted',
  asking: 'muted',
  running: 'accent',
  ok: 'good',
  failed: 'bad',
  skipped: 'muted',
  interrupted: 'warn',
};

/** A tool call as rows: what was called and what came of it in the first one, and below it, unless folded, its output or diff. */
export function renderToolBlock(block: ToolBlock, columns: number): Row[] {
  const { state, reason = '', artifact, folded } = block;
  const lines = outputLines(block.output);
  const outcome = describeOutcome(block, lines.length);
  const tone = tones[state];
  const mark = [span(`${marks[state === 'asking' ? 'waiting' : state]} `, tone)];
  const end = outcome === '' ? [] : [span(`  ${outcome}`, state === 'failed' ? 'bad' : 'muted')];
  const headline = headlineText(block);
  if (folded) return [{ spans: headRow(mark, headline, end, columns), gutter: Math.min(2, columns) }];
  const head = wrapSpans([span(headline, { bold: true }), ...end], columns, { first: mark, rest: [span('  ')] });
  const bar = [span(`  ${marks.bar} `, 'border')];
  const inside = (spans: readonly Span[]): Row[] => wrapSpans(spans, columns, { first: bar, anywhere: true });
  return [
    ...(head.length <= layout.headlineRows ? head : [...head.slice(0, layout.headlineRows - 1), cutRow(head, columns)]),
    ...(isLongReason(block) ? inside([span(printableLine(reason), state === 'failed' ? 'bad' : 'muted')]) : []),
    ...(block.diff === undefined || block.diff === ''
      ? outputRows(lines, inside)
      : renderDiff(block.diff, columns, { linesMax: layout.diffLines, lead: bar })),
    ...(artifact === undefined ? [] : inside([span(printableLine(artifact), 'muted')]).map(decoration(columns))),
  ];
}

function headRow(mark: readonly Span[], headline: string, end: readonly Span[], columns: number): readonly Span[] {
  const room = columns - spansWidth(mark) - spansWidth(end);
  const text = span(headline, { bold: true });
  // On a narrow screen the outcome gives way: without it, the mark says the most important part.
  if (room < columns / 2) return clipSpans([...mark, text, ...end], columns);
  return [...mark, ...clipSpans([text], room), ...end];
}

/** The last row of a headline that has more. */
function cutRow(head: readonly Row[], columns: number): Row {
  const last = head[layout.headlineRows - 1] ?? { spans: [] };
  return { ...last, spans: [...clipSpans(last.spans, columns - 1, ''), span(marks.ellipsis, 'muted')] };
}

function headlineText({ headline, name }: ToolBlock): string {
  const line = printableLine(headline);
  if (line === '') return printableLine(name);
  return line.startsWith('$ ') ? `$ ${stripWrappers(line.slice(2))}` : line;
}

function describeOutcome(block: ToolBlock, lineCount: number): string {
  const { state, diff = '', reason = '', took = '', folded } = block;
  const isCommand = block.headline.startsWith('$ ');
  // How long a tool took that is no command matters only when that was long.
  const time = took === '' || (!isCommand && took.endsWith(' ms')) ? [] : [printableLine(took)];
  const lines = lineCount > 0 && (!isCommand || folded) ? [`${lineCount} ${lineCount === 1 ? 'line' : 'lines'}`] : [];
  switch (state) {
    case 'waiting':
    case 'asking':
      return '';
    case 'running':
      return time.join(', ');
    case 'ok':
      return [...(diff === '' ? lines : [countChanges(diff)]), ...time].join(', ');
    case 'failed': {
      const [, exitCode] = /^exit code (-?\d+)$/.exec(reason) ?? [];
      const why =
        exitCode === undefined ? (isLongReason(block) && !folded ? 'failed' : printableLine(reason) || 'failed') : `exit ${exitCode}`;
      return [why, ...time].join(', ');
    }
    case 'skipped':
      return isLongReason(block) && !folded ? 'skipped' : ['skipped', printableLine(reason)].filter((text) => text !== '').join(': ');
    case 'interrupted':
      return 'interrupted';
  }
}

/** A reason that has a row of its own. */
function isLongReason({ reason = '' }: ToolBlock): boolean {
  return reason.length > layout.shortReasonUnits;
}

function countChanges(diff: string): string {
  let added = 0;
  let removed = 0;
  for (const line of diff.split('\n')) {
    if (line.startsWith('+') && !line.startsWith('+++ ')) added++;
    if (line.startsWith('-') && !line.startsWith('--- ')) removed++;
  }
  return `+${added} ${marks.minus}${removed}`;
}

/** A sanitized output without the colours that a program wrote, each line as it looked when it was left. */
function outputLines(output: string): string[] {
  const text = printable(output).trimEnd();
  return text === ''
    ? []
    : text
        .replaceAll(/\u241b\[[\d;]*m/g, '')
        .split('\n')
        .map(lastProgress);
}

/** A line that was written over with carriage returns, as programs show their progress. */
function lastProgress(line: string): string {
  const shown = line.replace(/\u240d+$/, '');
  const at = shown.lastIndexOf('\u240d');
  return at === -1 ? shown : `${marks.ellipsis}${shown.slice(at + 1)}`;
}

function outputRows(lines: readonly string[], inside: (spans: readonly Span[]) => Row[]): Row[] {
  const rows = (from: number, to: number): Row[] => lines.slice(from, to).flatMap((line) => inside([span(clipLine(line))]));
  const { headLines, tailLines } = layout;
  // One hidden line takes as much room as the remark about it.
  if (lines.length <= headLines + tailLines + 1) return rows(0, lines.length);
  const hidden = lines.length - headLines - tailLines;
  const remark = inside([span(`${marks.ellipsis} ${hidden} lines hidden`, 'muted')]).map(decoration(Infinity));
  return [...rows(0, headLines), ...remark, ...rows(lines.length - tailLines, lines.length)];
}

function clipLine(line: string): string {
  return line.length <= layout.lineUnitsMax ? line : `${line.slice(0, layout.lineUnitsMax)}${marks.ellipsis}`;
}

/** Rows that nobody wants to copy. */
function decoration(columns: number): (one: Row) => Row {
  return (one) => ({ ...one, gutter: Math.min(columns, spansWidth(one.spans)) });
}

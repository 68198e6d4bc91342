import { printable } from '../../view/printable.js';
import { marks } from '../rows/marks.js';
import { clipSpans, row, span, spansWidth, type Row, type Span, type Tone } from '../rows/row.js';
import { wrapSpans } from '../rows/wrap.js';
import { readDiff, type DiffLine } from './diff-lines.js';
import { compareWords, type ChangedPiece } from './word-diff.js';

export interface DiffOptions {
  /** Lines of the diff that are shown before the rest is only counted. */
  linesMax?: number;
  /** Decoration in front of every row. */
  lead?: readonly Span[];
}

/** Two versions stand side by side from `sideBySideColumns`; line numbers are left out below `numberedColumns`. */
const layout = { linesMax: 2_000, sideBySideColumns: 120, numberedColumns: 40 } as const;

/** A line of one version. */
interface Side {
  readonly before?: number;
  readonly after?: number;
  readonly sign: ' ' | '-' | '+';
  readonly pieces: readonly ChangedPiece[];
}

/** Lines that replace each other, or one line of both versions, or a line about the diff. */
type Group = { readonly old: readonly Side[]; readonly now: readonly Side[] } | { readonly both: Side } | { readonly about: DiffLine };

interface Screen {
  columns: number;
  digits: number;
}

const tones: Record<Side['sign'], Tone> = { ' ': 'plain', '-': 'removed', '+': 'added' };

/**
 * A unified diff as rows: line numbers, colours, and the changed words of lines that were changed. Side by side on wide screens, where the new
 * version is what can be copied.
 */
export function renderDiff(unifiedDiff: string, columns: number, { linesMax = layout.linesMax, lead = [] }: DiffOptions = {}): Row[] {
  // A column is left for the diff, however narrow the screen is.
  const front = clipSpans(lead, Math.max(0, columns - 1), '');
  const width = spansWidth(front);
  const rows = diffRows(unifiedDiff, columns - width, linesMax);
  return width === 0 ? rows : rows.map((one) => ({ ...one, spans: [...front, ...one.spans], gutter: (one.gutter ?? 0) + width }));
}

function diffRows(unifiedDiff: string, columns: number, linesMax: number): Row[] {
  const lines = readDiff(printable(unifiedDiff));
  const shown = lines.slice(0, linesMax);
  const largest = shown.reduce((most, line) => Math.max(most, 'before' in line ? line.before : 0, 'after' in line ? line.after : 0), 0);
  const screen = { columns, digits: columns < layout.numberedColumns ? 0 : String(largest).length };
  const layOut = columns < layout.sideBySideColumns ? unifiedRows : sideRows;
  const rows = toGroups(shown).flatMap((group) => ('about' in group ? aboutRows(group.about, columns) : layOut(group, screen)));
  const hidden = lines.length - shown.length;
  if (hidden === 0) return rows;
  const more = span(`${marks.ellipsis} ${hidden} more ${hidden === 1 ? 'line' : 'lines'}`, 'muted');
  return [...rows, { ...row(...clipSpans([more], columns, '')), gutter: columns }];
}

function toGroups(lines: readonly DiffLine[]): Group[] {
  const groups: Group[] = [];
  let old: Extract<DiffLine, { kind: 'removed' }>[] = [];
  let now: Extract<DiffLine, { kind: 'added' }>[] = [];

  function flush(): void {
    if (old.length + now.length > 0) groups.push(compareLines(old, now));
    old = [];
    now = [];
  }

  for (const line of lines) {
    if (line.kind === 'removed') {
      if (now.length > 0) flush();
      old.push(line);
    } else if (line.kind === 'added') now.push(line);
    else {
      flush();
      const { kind, text } = line;
      if (kind !== 'context') groups.push({ about: line });
      else groups.push({ both: { before: line.before, after: line.after, sign: ' ', pieces: [{ text, isChanged: false }] } });
    }
  }
  flush();
  return groups;
}

function compareLines(old: readonly { text: string; before: number }[], now: readonly { text: string; after: number }[]): Group {
  const pairs = old.map(({ text }, at) => compareWords(text, now[at]?.text ?? ''));
  const whole = (text: string) => [{ text, isChanged: false }];
  return {
    old: old.map(({ text, before }, at) => ({ before, sign: '-', pieces: pairs[at]?.before ?? whole(text) })),
    now: now.map(({ text, after }, at) => ({ after, sign: '+', pieces: pairs[at]?.after ?? whole(text) })),
  };
}

function aboutRows({ kind, text }: DiffLine, columns: number): Row[] {
  return wrapSpans([span(text, kind === 'file' ? { bold: true } : 'muted')], columns);
}

function unifiedRows(group: Exclude<Group, { about: DiffLine }>, { columns, digits }: Screen): Row[] {
  const sides = 'both' in group ? [group.both] : [...group.old, ...group.now];
  return sides.flatMap((side) => sideLines(side, columns, [side.before, side.after], digits));
}

/** The rows of one version of a line, with numbers as decoration. */
function sideLines({ sign, pieces }: Side, columns: number, numbers: readonly (number | undefined)[], digits: number): Row[] {
  const tone = tones[sign];
  const shown = numbers.map((number) => String(number ?? '').padStart(digits)).join(' ');
  const first = digits === 0 ? [] : [span(`${shown} `, 'muted')];
  const rest = [span(' '.repeat(spansWidth(first) + 1))];
  const content = pieces.map(({ text, isChanged }) => span(text, { tone, exact: true, ...(isChanged && { reverse: true }) }));
  return wrapSpans([span(sign, tone), ...content], columns, { first, rest, anywhere: true });
}

function sideRows(group: Exclude<Group, { about: DiffLine }>, { columns, digits }: Screen): Row[] {
  const [old, now] = 'both' in group ? [[group.both], [group.both]] : [group.old, group.now];
  const separator = span(` ${marks.column} `, 'border');
  const leftColumns = Math.floor((columns - spansWidth([separator])) / 2);
  const rightColumns = columns - leftColumns - spansWidth([separator]);
  return Array.from({ length: Math.max(old.length, now.length) }, (_, at) => {
    const before = old[at];
    const after = now[at];
    const left = before ? sideLines(before, leftColumns, [before.before], digits) : [];
    const right = after ? sideLines(after, rightColumns, [after.after], digits) : [];
    return Array.from({ length: Math.max(left.length, right.length) }, (_row, line): Row => {
      const { spans = [], gutter = 0, ...rest } = right[line] ?? {};
      return {
        ...rest,
        spans: [...padSpans(left[line]?.spans ?? [], leftColumns), separator, ...spans],
        gutter: columns - rightColumns + gutter,
      };
    });
  }).flat();
}

function padSpans(spans: readonly Span[], columns: number): Span[] {
  return [...spans, span(' '.repeat(columns - spansWidth(spans)))];
}

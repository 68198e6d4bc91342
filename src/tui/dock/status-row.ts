import { formatDuration } from '../../view/durations.js';
import { printableLine } from '../../view/printable.js';
import { describeStatus } from '../../view/status-text.js';
import type { SessionView } from '../../view/session-view.js';
import { marks, separator, spinnerMarks } from '../rows/marks.js';
import { span, spreadRow, type Row, type Span } from '../rows/row.js';

export interface StatusFacts {
  view: SessionView;
  /** What keys do now, most useful first. */
  hints: readonly string[];
  /** Open questions of other sessions. */
  askedElsewhere: number;
}

/** What the keys do, context left, tokens and cost. */
export function statusRow({ view, hints, askedElsewhere }: StatusFacts, columns: number): Row {
  const { usage, contextLeftPercent } = view.state;
  const tokens = usage === null ? '' : `${compact(usage.input + usage.cache_read + usage.cache_write)} in ${compact(usage.output)} out`;
  const words: Span[] = [
    span(askedElsewhere === 0 ? '' : `${askedElsewhere} ${askedElsewhere === 1 ? 'session asks' : 'sessions ask'} you`, {
      tone: 'warn',
      bold: true,
    }),
    span(contextLeftPercent === null ? '' : `${contextLeftPercent} % left`, (contextLeftPercent ?? 100) < 15 ? 'warn' : 'muted'),
    span(tokens, 'muted'),
    span(usage?.cost_usd ? `$${usage.cost_usd.toFixed(2)}` : '', 'muted'),
  ].filter(({ text }) => text !== '');
  const right = words.flatMap((word, at) => (at === 0 ? [word] : [span(separator, 'muted'), word]));
  return spreadRow([span(` ${hints.join(separator)}`, 'muted')], [...right, span(' ')], columns);
}

/** 950, 1.2k, 34k, 1.2M */
function compact(count: number): string {
  if (count < 1_000) return String(count);
  if (count < 10_000) return `${(count / 1_000).toFixed(1)}k`;
  if (count < 1_000_000) return `${Math.round(count / 1_000)}k`;
  return `${(count / 1_000_000).toFixed(1)}M`;
}

export interface WorkingFacts {
  view: SessionView;
  /** When this screen saw the run begin; undefined when it was already running. */
  sinceMs: number | undefined;
  nowMs: number;
  isObserver: boolean;
  /** Advances with time; undefined when nobody looks. */
  tick: number | undefined;
}

/** What the run is doing; no row without a run. */
export function workingRows({ view, sinceMs, nowMs, tick, isObserver }: WorkingFacts, columns: number): Row[] {
  const { run, compaction, requests } = view.state;
  const statuses = Object.values(view.status).map((text) => printableLine(describeStatus(text, nowMs)));
  if (!run && !compaction && statuses.length === 0) return [];
  const doing = run?.aborting
    ? 'stopping'
    : requests.length > 0
      ? isObserver
        ? 'waits for an answer'
        : 'waits for your answer'
      : compaction
        ? 'summarising old messages'
        : view.tools.length > 0
          ? `running ${view.tools.length === 1 ? printableLine(view.tools[0]?.name ?? '') : `${view.tools.length} tools`}`
          : view.open.some(({ blocks }) => blocks.length > 0)
            ? 'answering'
            : run
              ? 'thinking'
              : '';
  const mark = requests.length > 0 ? '?' : tick === undefined ? marks.running : (spinnerMarks[tick % spinnerMarks.length] ?? marks.running);
  const elapsed =
    run && sinceMs !== undefined ? ` ${formatDuration(Math.floor((nowMs - sinceMs) / 1_000) * 1_000).replace('.0 s', ' s')}` : '';
  const words = [view.working === '' ? doing : printableLine(view.working), ...statuses].filter((text) => text !== '').join(separator);
  return [spreadRow([span(`${mark} `, 'accent'), span(words, 'accent'), span(elapsed === ' 0 ms' ? '' : elapsed, 'muted')], [], columns)];
}

import { formatDuration } from './durations.js';

const timestamp = /\bat (\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z)/g;

/** A status text with absolute timestamps made relative: `in 38 s` instead of `at 2026-…Z`. */
export function describeStatus(text: string, nowMs: number): string {
  return text.replaceAll(timestamp, (_, moment: string) => {
    const leftMs = Date.parse(moment) - nowMs;
    return leftMs < 1_000 ? 'in a moment' : `in ${formatDuration(Math.round(leftMs / 1_000) * 1_000).replace('.0 s', ' s')}`;
  });
}

const units: [string, number][] = [
  ['d', 24 * 3600_000],
  ['h', 3600_000],
  ['m', 60_000],
  ['s', 1_000],
];

/** Formats an age in the largest unit that is not zero. */
export function formatAge(ms: number): string {
  const [unit, size] = units.find(([, unitMs]) => ms >= unitMs) ?? ['s', 1_000];
  return `${Math.max(0, Math.floor(ms / size))}${unit}`;
}

/** Formats a duration. */
export function formatDuration(ms: number): string {
  if (ms < 1_000) return `${Math.round(ms)} ms`;
  if (ms < 60_000) return `${(ms / 1_000).toFixed(1)} s`;
  return `${Math.floor(ms / 60_000)} min ${Math.round((ms % 60_000) / 1_000)} s`;
}

/** A moment of the day in local time; its date if that is not today's. */
export function formatClock(ms: number, nowMs: number): string {
  const [moment, now] = [new Date(ms), new Date(nowMs)];
  if (moment.toDateString() === now.toDateString()) return moment.toTimeString().slice(0, 8);
  const pad = (part: number): string => String(part).padStart(2, '0');
  return `${moment.getFullYear()}-${pad(moment.getMonth() + 1)}-${pad(moment.getDate())}`;
}

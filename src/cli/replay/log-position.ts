import type { WireEvent } from '../../protocol/events.js';
import { WrongUsage } from '../exit.js';

/** Where a replay begins: after a seq, at a time, or with the newest run. */
export type LogPosition = { kind: 'seq'; seq: number } | { kind: 'time'; ms: number } | { kind: 'last' };

const units: Record<string, number> = { s: 1_000, m: 60_000, h: 3600_000, d: 24 * 3600_000 };

/** Parses `--since`: a seq, `last`, a time (`2026-11-18T14:00`, `14:00` of today), or an age (`90s`, `10m`, `2h`, `1d`). */
export function readPosition(typed: string, nowMs: number): LogPosition {
  if (typed === 'last') return { kind: 'last' };
  if (/^\d+$/.test(typed)) return { kind: 'seq', seq: Number(typed) };
  const [, count, unit = ''] = /^(\d+(?:\.\d+)?)([smhd])$/.exec(typed) ?? [];
  if (count !== undefined) return { kind: 'time', ms: nowMs - Number(count) * (units[unit] ?? 0) };
  const ms = /^\d\d?:\d\d(:\d\d)?$/.test(typed) ? toToday(typed, nowMs) : /^\d{4}-\d\d-\d\d/.test(typed) ? Date.parse(typed) : NaN;
  if (Number.isNaN(ms)) {
    throw new WrongUsage(
      `--since is a place in the log such as 412, last, an age such as 10m, or a time such as 14:00 or 2026-11-18T14:00, not ${JSON.stringify(typed)}`,
    );
  }
  return { kind: 'time', ms };
}

function toToday(clock: string, nowMs: number): number {
  const [hours = NaN, minutes = NaN, seconds = 0] = clock.split(':').map(Number);
  if (hours > 23 || minutes > 59 || seconds > 59) return NaN;
  return new Date(nowMs).setHours(hours, minutes, seconds, 0);
}

/** Whether a replay that begins at a position begins with this event, or has begun. `runId` is the newest run. */
export function isReached(position: LogPosition, { seq = 0, ts, payload }: WireEvent, runId: string | undefined): boolean {
  switch (position.kind) {
    case 'seq':
      return seq > position.seq;
    case 'time':
      return Date.parse(ts) >= position.ms;
    case 'last':
      return 'run_id' in payload && payload.run_id === runId;
  }
}

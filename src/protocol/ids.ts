export type IdPrefix = 'ses' | 'run' | 'msg' | 'inp' | 'req' | 'art' | 'cli' | 'log' | 'boot' | 'call' | 'dra';

const alphabet = '0123456789abcdefghjkmnpqrstvwxyz';

/** A time-sortable id: prefix, 9 characters of milliseconds, 12 random characters (60 bits). */
export function makeId(prefix: IdPrefix, nowMs: number, random: Uint8Array): string {
  let time = '';
  for (let rest = nowMs, i = 0; i < 9; i++, rest = Math.floor(rest / 32)) time = (alphabet[rest % 32] ?? '0') + time;
  let tail = '';
  for (let i = 0; i < 12; i++) tail += alphabet[(random[i] ?? 0) % 32] ?? '0';
  return `${prefix}_${time}${tail}`;
}

/** The session id of events that are not of one session. Subscriptions of all sessions get them, those of one session do not. */
export const noSession = '';

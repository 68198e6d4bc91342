import { homedir } from 'node:os';

const idCharactersMin = 10;

/** An id without its prefix and cut to what tells it apart; `resolve` takes it back. */
export function shortId(id: string): string {
  return withoutPrefix(id).slice(0, idCharactersMin);
}

/** Short ids for a list: as long as it takes for each to be different. */
export function shortIds(ids: readonly string[]): Map<string, string> {
  const longest = Math.max(idCharactersMin, ...ids.map((id) => withoutPrefix(id).length));
  let length = idCharactersMin;
  while (length < longest && new Set(ids.map((id) => withoutPrefix(id).slice(0, length))).size < new Set(ids).size) length++;
  return new Map(ids.map((id) => [id, withoutPrefix(id).slice(0, length)]));
}

/** Whether as much of an id was typed as lists show; less may begin with another tomorrow. */
export function isShownId(typed: string): boolean {
  return withoutPrefix(typed).length >= idCharactersMin;
}

/** Those that a person may mean by the beginning of an id, with or without its prefix. The whole id means one. */
export function matchIds(ids: readonly string[], typed: string): string[] {
  if (ids.includes(typed)) return [typed];
  return ids.filter((id) => typed !== '' && (id.startsWith(typed) || withoutPrefix(id).startsWith(typed)));
}

function withoutPrefix(id: string): string {
  return id.replace(/^(ses|run|msg|inp|req)_/, '');
}

/** A path as people like to read it: their home directory is `~`. */
export function shortenHome(path: string): string {
  const home = homedir();
  return path === home || path.startsWith(`${home}/`) ? `~${path.slice(home.length)}` : path;
}

const units: [string, number][] = [
  ['d', 24 * 3600_000],
  ['h', 3600_000],
  ['m', 60_000],
  ['s', 1_000],
];

/** How long ago, in the largest unit that is not zero. */
export function toAge(ms: number): string {
  const [unit, size] = units.find(([, unitMs]) => ms >= unitMs) ?? ['s', 1_000];
  return `${Math.max(0, Math.floor(ms / size))}${unit}`;
}

/** How long something took. */
export function toDuration(ms: number): string {
  if (ms < 1_000) return `${Math.round(ms)} ms`;
  if (ms < 60_000) return `${(ms / 1_000).toFixed(1)} s`;
  return `${Math.floor(ms / 60_000)} min ${Math.round((ms % 60_000) / 1_000)} s`;
}

/** A kind of queued message, as people write it. */
export function toKind(kind: string): string {
  return kind === 'follow_up' ? 'follow-up' : kind;
}

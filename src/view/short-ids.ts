import { limits } from '../protocol/limits.js';

/** An id without its type prefix, truncated; `resolve` accepts it. */
export function shortId(id: string): string {
  return withoutPrefix(id).slice(0, limits.shownIdCharsMin);
}

/** Short ids for a list, long enough to be unique in it. */
export function shortIds(ids: readonly string[]): Map<string, string> {
  const longest = Math.max(limits.shownIdCharsMin, ...ids.map((id) => withoutPrefix(id).length));
  let length = limits.shownIdCharsMin;
  while (length < longest && new Set(ids.map((id) => withoutPrefix(id).slice(0, length))).size < new Set(ids).size) length++;
  return new Map(ids.map((id) => [id, withoutPrefix(id).slice(0, length)]));
}

/** Whether a typed prefix has at least the length of a short id; a shorter one may become ambiguous. */
export function isShownId(typed: string): boolean {
  return withoutPrefix(typed).length >= limits.shownIdCharsMin;
}

/** The ids with a typed prefix, with or without their type prefix. A whole id matches only itself. */
export function matchIds(ids: readonly string[], typed: string): string[] {
  if (ids.includes(typed)) return [typed];
  return ids.filter((id) => typed !== '' && (id.startsWith(typed) || withoutPrefix(id).startsWith(typed)));
}

function withoutPrefix(id: string): string {
  return id.replace(/^(ses|run|msg|inp|req)_/, '');
}

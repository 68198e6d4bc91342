import { limits } from '../protocol/limits.js';

/** An id without its prefix and cut to what tells it apart; `resolve` takes it back. */
export function shortId(id: string): string {
  return withoutPrefix(id).slice(0, limits.shownIdCharsMin);
}

/** Short ids for a list: as long as it takes for each to be different. */
export function shortIds(ids: readonly string[]): Map<string, string> {
  const longest = Math.max(limits.shownIdCharsMin, ...ids.map((id) => withoutPrefix(id).length));
  let length = limits.shownIdCharsMin;
  while (length < longest && new Set(ids.map((id) => withoutPrefix(id).slice(0, length))).size < new Set(ids).size) length++;
  return new Map(ids.map((id) => [id, withoutPrefix(id).slice(0, length)]));
}

/** Whether as much of an id was typed as lists show; less may begin with another tomorrow. */
export function isShownId(typed: string): boolean {
  return withoutPrefix(typed).length >= limits.shownIdCharsMin;
}

/** Those that a person may mean by the beginning of an id, with or without its prefix. The whole id means one. */
export function matchIds(ids: readonly string[], typed: string): string[] {
  if (ids.includes(typed)) return [typed];
  return ids.filter((id) => typed !== '' && (id.startsWith(typed) || withoutPrefix(id).startsWith(typed)));
}

function withoutPrefix(id: string): string {
  return id.replace(/^(ses|run|msg|inp|req)_/, '');
}

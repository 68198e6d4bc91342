/** Texts with which somebody tries to fool a terminal or a reader: escape sequences, bidirectional overrides, tags, a title, half a pair. */
export const hostileText = 'a\u001b[2J\u001b]0;owned\u0007b\u202eexe.txt\u2066c\u200bd\u{e0041}\u009b31m\ud800\u2028e\r10%';

/** What must never reach a frontend. Line ends and tabs may. */
export const hidden = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\u{e0000}-\u{e007f}]/u; // eslint-disable-line no-control-regex

/** All texts inside a value. */
export function textsIn(value: unknown): string[] {
  if (typeof value === 'string') return [value];
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(textsIn) : [];
}

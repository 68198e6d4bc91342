import type { Message } from '../protocol/messages.js';
import type { SessionView } from './session-view.js';

/** Older messages, oldest first, as `get_messages` answers with `before`. */
export interface MessagePage {
  messages: readonly Message[];
  has_more: boolean;
}

/** What to ask `get_messages` for the page before the messages of a view; undefined when the view begins with the first message. */
export function olderPageOf({ state, messages: [first], hasMore }: SessionView): { session_id: string; before?: string } | undefined {
  if (!hasMore) return undefined;
  return { session_id: state.id, ...(first ? { before: first.id } : {}) };
}

/**
 * The view with a page of older messages before its own. Messages that it has already are not added again. A page that does not end where
 * the view begins, because the session went on from another message while the page was read, changes nothing.
 */
export function prependPage(view: SessionView, page: MessagePage): SessionView {
  const [first] = view.messages;
  const wanted = first ? first.parent_id : view.state.leafId;
  if (wanted === null) return view.hasMore ? { ...view, hasMore: false } : view;
  const end = page.messages.findIndex(({ id }) => id === wanted);
  if (end === -1) return view;
  return { ...view, messages: [...page.messages.slice(0, end + 1), ...view.messages], hasMore: page.has_more };
}

/** The view with its newest messages only; the others can be paged in again. */
export function keepNewest(view: SessionView, messagesMax: number): SessionView {
  const excess = view.messages.length - Math.max(1, messagesMax);
  return excess > 0 ? { ...view, messages: view.messages.slice(excess), hasMore: true } : view;
}

import type { Message } from '../protocol/messages.js';
import type { SessionView } from './session-view.js';

/** Older messages, oldest first, as `get_messages` answers with `before`. */
export interface MessagePage {
  messages: readonly Message[];
  has_more: boolean;
}

/** The parameters of `get_messages` for a page. */
export interface PageBefore {
  session_id: string;
  leaf_id?: string;
  before?: string;
}

/**
 * The `get_messages` parameters for the page before the messages of a view; undefined when the view has the first message. The leaf is the
 * first message of the view, whose path stays the same if the session branches meanwhile.
 */
export function olderPageOf({ state, messages: [first], hasMore }: SessionView): PageBefore | undefined {
  if (!hasMore) return undefined;
  return { session_id: state.id, ...(first ? { leaf_id: first.id, before: first.id } : {}) };
}

/**
 * Prepends a page of older messages to a view, without duplicates. A page that does not end where the view begins, because the session moved
 * to another branch meanwhile, changes nothing.
 */
export function prependPage(view: SessionView, page: MessagePage): SessionView {
  const [first] = view.messages;
  const wanted = first ? first.parent_id : view.state.leafId;
  if (wanted === null) return view.hasMore ? { ...view, hasMore: false } : view;
  const end = page.messages.findIndex(({ id }) => id === wanted);
  if (end === -1) return view;
  return { ...view, messages: [...page.messages.slice(0, end + 1), ...view.messages], hasMore: page.has_more };
}

/** Trims a view to its newest messages, at least one; the others can be paged in again. */
export function keepNewest(view: SessionView, messagesMax: number, textUnitsMax = Infinity): SessionView {
  const excess = view.messages.length - fitting(view.messages, messagesMax, textUnitsMax);
  return excess > 0 ? { ...view, messages: view.messages.slice(excess), hasMore: true } : view;
}

/** Whether the messages of a view are below the limits, so that older ones fit. */
export function hasRoom({ messages }: SessionView, messagesMax: number, textUnitsMax: number): boolean {
  return messages.length < messagesMax && fitting(messages, messagesMax, textUnitsMax) === messages.length;
}

/** Adds to a new snapshot the older messages of the previous view that are on the same path. */
export function keepOlder(fresh: SessionView, before: SessionView): SessionView {
  const parentId = fresh.messages[0]?.parent_id ?? null;
  if (parentId === null) return fresh;
  const end = before.messages.findIndex(({ id }) => id === parentId);
  if (end === -1) return fresh;
  return { ...fresh, messages: [...before.messages.slice(0, end + 1), ...fresh.messages], hasMore: before.hasMore };
}

/** How many of the newest messages fit the limits; at least one. */
function fitting(messages: readonly Message[], messagesMax: number, textUnitsMax: number): number {
  let units = 0;
  for (let count = 0; count < messages.length; count++) {
    const message = messages[messages.length - 1 - count];
    units += message ? textUnitsOf(message) : 0;
    if (count > 0 && (count >= messagesMax || units > textUnitsMax)) return count;
  }
  return messages.length;
}

/** The approximate size of a message; tool arguments are counted by their strings. */
function textUnitsOf({ text, content }: Message): number {
  return content.reduce((sum, block) => {
    if (block.type === 'text') return sum + block.text.length;
    if (block.type === 'thinking') return sum + block.thinking.length;
    if (block.type === 'image') return sum + block.data.length;
    return Object.values(block.arguments).reduce<number>((all, value) => all + (typeof value === 'string' ? value.length : 0), sum);
  }, text.length);
}

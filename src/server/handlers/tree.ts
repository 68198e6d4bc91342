import type { ServedEngine } from '../../engine/engine.js';

/** Whether an entry is in a session's tree: its own entries, and those shared with the session that it branched from. */
export function isInTree({ store }: ServedEngine, sessionId: string, entryId: string): boolean {
  return store.entries.sessionOf(entryId) === sessionId || store.entries.isOnPath(store.sessions.baseOf(sessionId), entryId);
}

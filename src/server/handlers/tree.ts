import type { ServedEngine } from '../../engine/engine.js';

/** A session's tree is its own entries and those it shares with the session it branched from. */
export function isInTree({ store }: ServedEngine, sessionId: string, entryId: string): boolean {
  return store.entries.sessionOf(entryId) === sessionId || store.entries.isOnPath(store.sessions.baseOf(sessionId), entryId);
}

import type { Scope } from '../../core/scope.js';
import type { LiveEvent } from '../../protocol/events.js';
import { limits } from '../../protocol/limits.js';

export interface Signal {
  sessionId: string;
  version: number;
  atMs: number;
  event: LiveEvent;
}

/** Live events of which only the newest of each key counts: a slow subscriber skips those that were replaced. */
export function createLiveSignals({ wake, now }: { wake(sessionId: string): void; now(): number }) {
  const bySession = new Map<string, Map<string, Signal>>();
  let version = 0;
  return {
    version: (): number => version,
    set(sessionId: string, key: string, event: LiveEvent): void {
      const signals = bySession.get(sessionId) ?? new Map<string, Signal>();
      if (!signals.has(key) && signals.size >= limits.uiSignalsPerSessionMax) return;
      version++;
      signals.set(key, { sessionId, version, atMs: now(), event });
      // LRU: the session that was signalled longest ago is evicted first.
      bySession.delete(sessionId);
      bySession.set(sessionId, signals);
      if (bySession.size > limits.signalledSessionsMax) bySession.delete([...bySession.keys()][0] ?? '');
      wake(sessionId);
    },
    /** Signals newer than the version that a subscriber has seen, in the order in which they were set. */
    since(scope: Scope, seen: number): Signal[] {
      if (seen >= version) return [];
      const inScope = scope.all ? [...bySession.values()] : [bySession.get(scope.sessionId) ?? new Map<string, Signal>()];
      return inScope
        .flatMap((signals) => [...signals.values()])
        .filter((signal) => signal.version > seen)
        .sort((a, b) => a.version - b.version);
    },
    status(sessionId: string): Record<string, string> {
      const status: Record<string, string> = {};
      for (const { event } of bySession.get(sessionId)?.values() ?? []) {
        if (event.type === 'ui_status' && event.payload.params.text !== '') status[event.payload.params.key] = event.payload.params.text;
      }
      return status;
    },
  };
}

import type { Scope } from '../../core/scope.js';
import type { LiveEvent } from '../../protocol/events.js';
import { limits } from '../../protocol/limits.js';

export interface Signal {
  sessionId: string;
  version: number;
  atMs: number;
  event: LiveEvent;
}

interface SessionSignals {
  /** What is current: who subscribes later gets it, too. */
  current: Map<string, Signal>;
  /** What was told once, for subscribers of that moment. */
  once: Map<string, Signal>;
}

/** What the signals of a session leave on the screen. */
export interface ShownSignals {
  status: Record<string, string>;
  widgets: Record<string, string[]>;
  working: string;
  title: string;
}

/** Live events of which only the newest of each key counts: a slow subscriber skips those that were replaced. */
export function createLiveSignals({ wake, now }: { wake(sessionId: string): void; now(): number }) {
  const bySession = new Map<string, SessionSignals>();
  let version = 0;

  /** LRU: the session that was signalled longest ago is evicted first. */
  function touch(sessionId: string): SessionSignals {
    const signals = bySession.get(sessionId) ?? { current: new Map<string, Signal>(), once: new Map<string, Signal>() };
    bySession.delete(sessionId);
    bySession.set(sessionId, signals);
    if (bySession.size > limits.signalledSessionsMax) bySession.delete([...bySession.keys()][0] ?? '');
    return signals;
  }

  function toSignal(sessionId: string, event: LiveEvent): Signal {
    return { sessionId, version: ++version, atMs: now(), event };
  }

  return {
    version: (): number => version,
    /** Sets what is current under a key. */
    set(sessionId: string, key: string, event: LiveEvent): void {
      const { current } = touch(sessionId);
      if (!current.has(key) && current.size >= limits.uiSignalsPerSessionMax) return;
      current.set(key, toSignal(sessionId, event));
      wake(sessionId);
    },
    /** Tells those who are subscribed now. */
    tellOnce(sessionId: string, key: string, event: LiveEvent): void {
      const { once } = touch(sessionId);
      once.delete(key);
      once.set(key, toSignal(sessionId, event));
      if (once.size > limits.uiSignalsPerSessionMax) once.delete([...once.keys()][0] ?? '');
      wake(sessionId);
    },
    /**
     * Signals newer than the version that a subscriber has seen, in order; those that are told once only if they are newer than the version
     * at which the subscriber came.
     */
    since({ sessionId, all }: Scope, seen: number, joined: number): Signal[] {
      if (seen >= version) return [];
      const one = sessionId === undefined ? undefined : bySession.get(sessionId);
      const inScope = all ? [...bySession.values()] : one ? [one] : [];
      return inScope
        .flatMap(({ current, once }) => [...current.values(), ...[...once.values()].filter((signal) => signal.version > joined)])
        .filter((signal) => signal.version > seen)
        .sort((a, b) => a.version - b.version);
    },
    /** What is current on the screen of a session. */
    shown(sessionId: string): ShownSignals {
      const shown: ShownSignals = { status: {}, widgets: {}, working: '', title: '' };
      for (const { event } of bySession.get(sessionId)?.current.values() ?? []) {
        if (event.type === 'ui_status' && event.payload.params.text !== '')
          shown.status[event.payload.params.key] = event.payload.params.text;
        if (event.type === 'ui_widget' && event.payload.params.lines.length > 0)
          shown.widgets[event.payload.params.key] = event.payload.params.lines;
        if (event.type === 'ui_working') shown.working = event.payload.params.message;
        if (event.type === 'ui_set_title') shown.title = event.payload.params.title;
      }
      return shown;
    },
  };
}
export type LiveSignals = ReturnType<typeof createLiveSignals>;

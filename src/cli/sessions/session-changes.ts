import { setTimeout as delay } from 'node:timers/promises';
import type { Berth } from '../../client/connect.js';
import { ConnectionLost, DaemonUnresponsive, NoDaemon } from '../../client/errors.js';
import type { EventType } from '../../protocol/events.js';
import { limits } from '../../protocol/limits.js';

/** A burst of events, such as the end of a turn, is one change. */
const tuning = { settleMs: 30 } as const;

/** Events after which the list of sessions may read differently. */
const listed: ReadonlySet<EventType> = new Set<EventType>([
  'agent_start',
  'agent_end',
  'message_end',
  'status',
  'queue_update',
  'session_update',
  'ui_request',
  'ui_resolved',
]);

interface Deps {
  berth: Berth;
  signal: AbortSignal;
  /** Something may have changed; called at the beginning, and never twice at once. */
  onChange(): Promise<void>;
  onLost(): void;
  onBack(): void;
}

/** Reports changes of all sessions, as their events tell, until the signal fires. Comes back after a lost connection. */
export async function followSessions({ berth, signal, onChange, onLost, onBack }: Deps): Promise<void> {
  let isReporting = false;
  let isDirty = false;
  let failure: unknown;

  async function report(): Promise<void> {
    isReporting = true;
    while (isDirty && !signal.aborted) {
      await delay(tuning.settleMs);
      isDirty = false;
      await onChange();
    }
    isReporting = false;
  }

  function noteChange(close: () => void): void {
    isDirty = true;
    if (isReporting) return;
    report().catch((error: unknown) => {
      isReporting = false;
      // The stream ends as well, and begins again with a change.
      if (!isConnectionError(error)) failure = error;
      close();
    });
  }

  async function listen(onOpen: () => void): Promise<void> {
    const stream = await berth.subscribe({ sessionId: '*', live: false });
    signal.addEventListener('abort', stream.close, { once: true });
    try {
      onOpen();
      noteChange(stream.close);
      for await (const { type } of stream) if (listed.has(type)) noteChange(stream.close);
    } finally {
      signal.removeEventListener('abort', stream.close);
      stream.close();
    }
  }

  let isLost = false;
  let waitMs: number = limits.attachRetryMinMs;
  while (!signal.aborted) {
    await listen(() => {
      waitMs = limits.attachRetryMinMs;
      if (isLost) onBack();
      isLost = false;
    }).catch((error: unknown) => {
      if (!isConnectionError(error)) throw error;
    });
    if (failure !== undefined) throw failure instanceof Error ? failure : new Error('the list failed', { cause: failure });
    if (isStopped()) return;
    if (!isLost) onLost();
    isLost = true;
    await delay(waitMs);
    waitMs = Math.min(2 * waitMs, limits.attachRetryMaxMs);
  }

  function isStopped(): boolean {
    return signal.aborted;
  }
}

function isConnectionError(error: unknown): boolean {
  return [ConnectionLost, NoDaemon, DaemonUnresponsive].some((kind) => error instanceof kind);
}

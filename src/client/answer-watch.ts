import { limits } from '../protocol/limits.js';

interface Deps {
  /** Sends a ping, which is answered at once. */
  ping(): void;
  isWaiting(): boolean;
  /** Timeout: a reply that was due at once has been missing for this long. */
  onSilent(silentMs: number): void;
}

/** Detects an unresponsive daemon, while a call waits for its reply. */
export interface AnswerWatch {
  /** A command was sent. A command without an immediate reply is followed by a ping after a while. */
  sent(answeredAtOnce: boolean): void;
  heard(): void;
  stop(): void;
}

export function createAnswerWatch({ ping, isWaiting, onSilent }: Deps): AnswerWatch {
  /** When a command or ping was sent that is due a reply. */
  let unansweredSince: number | undefined;
  let timer: NodeJS.Timeout | undefined;

  function start(): void {
    // After a suspend timers fire before sockets are read: setImmediate lets replies that have arrived be read first.
    timer ??= setTimeout(() => setImmediate(check), limits.answerMs).unref();
  }

  function check(): void {
    timer = undefined;
    if (!isWaiting()) return;
    if (unansweredSince === undefined) {
      unansweredSince = performance.now();
      ping();
    } else {
      onSilent(performance.now() - unansweredSince);
    }
    if (isWaiting()) start();
  }

  return {
    sent(answeredAtOnce) {
      if (answeredAtOnce) unansweredSince ??= performance.now();
      start();
    },
    heard: () => (unansweredSince = undefined),
    stop() {
      clearTimeout(timer);
      timer = undefined;
    },
  };
}

import { limits } from '../protocol/limits.js';

interface Deps {
  /** Sends something that is answered at once. */
  ping(): void;
  isWaiting(): boolean;
  /** Nothing was heard for this long although an answer was due at once. */
  onSilent(silentMs: number): void;
}

/** Notices a daemon that does not answer, as long as something waits for an answer. */
export interface AnswerWatch {
  /** A command was sent. One that may take its time is followed by a ping after a while. */
  sent(answeredAtOnce: boolean): void;
  heard(): void;
  stop(): void;
}

export function createAnswerWatch({ ping, isWaiting, onSilent }: Deps): AnswerWatch {
  /** When something was sent that should have been answered by now. */
  let dueSince: number | undefined;
  let timer: NodeJS.Timeout | undefined;

  function start(): void {
    // Timers come before what has arrived meanwhile is read: a process that was asleep itself reads first.
    timer ??= setTimeout(() => setImmediate(check), limits.answerMs).unref();
  }

  function check(): void {
    timer = undefined;
    if (!isWaiting()) return;
    if (dueSince === undefined) {
      dueSince = performance.now();
      ping();
    } else {
      onSilent(performance.now() - dueSince);
    }
    if (isWaiting()) start();
  }

  return {
    sent(answeredAtOnce) {
      if (answeredAtOnce) dueSince ??= performance.now();
      start();
    },
    heard: () => (dueSince = undefined),
    stop() {
      clearTimeout(timer);
      timer = undefined;
    },
  };
}

import { scriptReply } from './offline-script.js';
import type { ModelDelta, ModelRequest, Provider } from '../port.js';

const tuning = {
  /** After a pause (a suspended machine, a reader that took its time) at most so many words come at once; the rest keeps its pace. */
  catchUpWordsMax: 50,
  eagerWordsPerTick: 10,
} as const;

export interface OfflineOptions {
  /** 0 is as fast as possible. */
  wordsPerSecond: number;
  /** Sleeps; resolves early on abort; leaves neither timer nor listener behind. */
  sleep?: (ms: number, signal: AbortSignal) => Promise<void>;
  /** A monotonic clock in milliseconds. */
  now?: () => number;
}

interface Pace {
  /** Counts one more word; true when the word is due already. */
  isDue(): boolean;
  untilDue(signal: AbortSignal): Promise<void>;
}

/** The provider of `offline/guide`: deterministic, at the pace of a model, without key or network. Throws on an invalid speed. */
export function createOfflineProvider({ wordsPerSecond, sleep = sleepFor, now = () => performance.now() }: OfflineOptions): Provider {
  if (!(wordsPerSecond >= 0 && Number.isFinite(wordsPerSecond))) {
    throw new RangeError(`words per second must be a number from 0, not ${wordsPerSecond}`);
  }
  const createPace = wordsPerSecond > 0 ? () => createWordPace(1000 / wordsPerSecond, sleep, now) : createEagerPace;
  return {
    async *stream(request: ModelRequest, signal: AbortSignal): AsyncGenerator<readonly ModelDelta[], void> {
      const pace = createPace();
      let ready: ModelDelta[] = [];
      for (const delta of scriptReply(request)) {
        if (isWord(delta) && !pace.isDue()) {
          if (ready.length > 0) yield ready;
          ready = [];
          await pace.untilDue(signal);
        }
        if (signal.aborted) return;
        ready.push(delta);
      }
      yield ready;
    },
  };
}

function isWord(delta: ModelDelta): boolean {
  return delta.type === 'text' || delta.type === 'thinking' || delta.type === 'tool_arguments';
}

function createWordPace(msPerWord: number, sleep: NonNullable<OfflineOptions['sleep']>, now: () => number): Pace {
  let startMs = now();
  let asked = 0;
  let due = 1;

  return {
    isDue() {
      asked += 1;
      return asked <= due;
    },
    async untilDue(signal) {
      await sleep(Math.max(0, Math.ceil(startMs + (asked - 1) * msPerWord - now())), signal);
      // Due words are counted from the start, so that coarse timers do not slow the stream.
      const nowMs = now();
      due = Math.max(asked, Math.floor((nowMs - startMs) / msPerWord) + 1);
      const dueMax = asked + tuning.catchUpWordsMax - 1;
      if (due <= dueMax) return;
      due = dueMax;
      startMs = nowMs - (due - 1) * msPerWord;
    },
  };
}

function createEagerPace(): Pace {
  let asked = 0;
  return {
    isDue() {
      asked += 1;
      return asked % tuning.eagerWordsPerTick !== 0;
    },
    untilDue: () => new Promise((resolve) => setImmediate(resolve)),
  };
}

/** setTimeout of node:timers/promises is several times slower, and a stream sleeps a thousand times a second. */
function sleepFor(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const wake = (): void => {
      clearTimeout(timer);
      signal.removeEventListener('abort', wake);
      resolve();
    };
    const timer = setTimeout(wake, ms);
    signal.addEventListener('abort', wake, { once: true });
    if (signal.aborted) wake();
  });
}

import type { WireEvent } from '../../protocol/events.js';
import { applyEvent, type SessionView } from '../../view/session-view.js';

/** The screen stands while the agent goes on: a view that lags behind, with the events that it has not taken yet. */
export interface FrozenView {
  view(): SessionView;
  /** Keeps an event for later. False when there are too many, and the screen has to go live. */
  keep(event: WireEvent): boolean;
  /** Takes the events up to the next durable one. False when there are none. */
  step(): boolean;
  /** Plays the events one after the other until live is reached, or stops that. */
  play(): void;
  /** How many events live is ahead. */
  behind(): number;
  stop(): void;
}

const tuning = { eventsMax: 100_000, playMs: 60, playedAtOnce: 8 } as const;

export function createFrozenView(start: SessionView, invalidate: () => void): FrozenView {
  let view = start;
  let waiting: WireEvent[] = [];
  let at = 0;
  let timer: NodeJS.Timeout | undefined;

  function take(): WireEvent | undefined {
    const event = waiting[at];
    if (!event) return undefined;
    view = applyEvent(view, event);
    at++;
    if (at === waiting.length) {
      waiting = [];
      at = 0;
    }
    return event;
  }

  function stop(): void {
    clearTimeout(timer);
    timer = undefined;
  }

  function playOn(): void {
    timer = undefined;
    for (let played = 0; played < tuning.playedAtOnce; played++) if (!take()) return invalidate();
    timer = setTimeout(playOn, tuning.playMs);
    invalidate();
  }

  return {
    view: () => view,
    keep(event) {
      waiting.push(event);
      return waiting.length - at <= tuning.eventsMax;
    },
    step() {
      let event = take();
      if (!event) return false;
      while (event && event.seq === undefined) event = take();
      invalidate();
      return true;
    },
    play() {
      if (timer) stop();
      else playOn();
    },
    behind: () => waiting.length - at,
    stop,
  };
}

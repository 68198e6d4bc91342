import type { WireEvent } from '../../protocol/events.js';
import { limits } from '../../protocol/limits.js';
import { absenceText, sumUpAbsence } from '../../view/replay/absence.js';
import { emptyView, type SessionView } from '../../view/session-view.js';
import { attempt } from '../app/context.js';
import type { PaneParts } from '../pane/session-pane.js';
import { createPicker } from '../overlays/picker.js';
import { showChangesIn } from './changes.js';

/** Tells a person who comes back what happened meanwhile, and plays it again. */
export interface AbsenceTeller {
  /** Looks whether anything happened since this session was last on a screen here, and says so. */
  check(): void;
  /** Offers to play it, to show its changes, or to go on. */
  open(): void;
}

interface Missed {
  events: WireEvent[];
  text: string;
}

export function createAbsenceTeller(parts: PaneParts): AbsenceTeller {
  const { context, attached } = parts;
  let missed: Missed | undefined;

  /** The durable events after a place in the log, up to the one that the view has. */
  async function readEvents(after: number): Promise<WireEvent[]> {
    const { seq: until } = attached.view();
    const stream = await context.berth.subscribe({ sessionId: attached.sessionId, after, live: false });
    const events: WireEvent[] = [];
    try {
      if (stream.seq <= after) return events;
      for await (const event of stream) {
        events.push(event);
        if ((event.seq ?? 0) >= Math.min(until, stream.seq) || events.length >= limits.replayedEventsMax) break;
      }
    } finally {
      stream.close();
    }
    return events;
  }

  function check(): void {
    const last = context.memory.lastSeen(attached.sessionId);
    if (!last || last.seq >= attached.view().seq) return;
    attempt(context, 'what happened meanwhile is no longer in the log', async () => {
      const events = await readEvents(last.seq);
      const text = absenceText(sumUpAbsence(events), Date.now() - last.atMs);
      if (text === '') return;
      missed = { events, text };
      context.notice(`${text} · ${parts.keyMap.keysOf('absence')[0] ?? '/away'} replays it or shows its changes`, 'info', {
        topic: 'absence',
      });
    });
  }

  function open(): void {
    const known = missed;
    context.withdraw('absence');
    if (!known) return context.notice('nothing happened while you were away');
    context.open(
      createPicker({
        title: known.text,
        items: () => [
          { id: 'replay', label: 'Play it again' },
          { id: 'diff', label: 'What was changed' },
          { id: 'live', label: 'Go on' },
        ],
        onPick({ id }) {
          context.closeOverlay();
          if (id === 'replay') parts.replay(viewBefore(attached.view(), known.events), known.events);
          else if (id === 'diff') showChangesIn(parts, messagesOf(attached.view(), known.events));
          else parts.live();
        },
      }),
    );
  }

  return { check, open };
}

function endedIds(events: readonly WireEvent[]): Set<string> {
  return new Set(events.flatMap(({ type, payload }) => (type === 'message_end' ? [payload.message_id] : [])));
}

/** The messages that came during the absence, from the first of them on. */
function messagesOf({ messages }: SessionView, events: readonly WireEvent[]): SessionView['messages'] {
  const ids = endedIds(events);
  const first = messages.findIndex(({ id }) => ids.has(id));
  return first < 0 ? [] : messages.slice(first);
}

/** The session as it looked before these events: its messages without those that they end. */
function viewBefore(view: SessionView, events: readonly WireEvent[]): SessionView {
  const ids = endedIds(events);
  const messages = view.messages.filter(({ id }) => !ids.has(id));
  return {
    ...emptyView(view.state.id),
    state: { ...view.state, run: null, lastRun: null, requests: [], inputs: [], compaction: null },
    messages,
    hasMore: view.hasMore,
    pathCount: view.pathCount,
    seq: (events[0]?.seq ?? view.seq) - 1,
  };
}

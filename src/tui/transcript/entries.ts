import type { Message } from '../../protocol/messages.js';
import { printable, printableLine } from '../../view/printable.js';
import type { Notice } from '../../view/notices.js';
import { messageParts } from '../../view/message-text.js';
import { describeEnding } from '../../view/run-outcome.js';
import type { SessionView } from '../../view/session-view.js';
import { openCalls, type OpenCallView } from '../../view/tools/open-calls.js';
import { describeToolMessage, type ToolView } from '../../view/tools/tool-view.js';
import { createTextStream, type TextStream } from './text-stream.js';

/** One part of the transcript, which is laid out, folded and copied as a whole. Immutable: its rows are cached by its object. */
export type Entry =
  | { readonly kind: 'user'; readonly id: string; readonly text: string }
  | { readonly kind: 'answer' | 'thinking'; readonly id: string; readonly text: string }
  /** A text that is still streaming. `units` tells its states apart. */
  | { readonly kind: 'stream'; readonly id: string; readonly isThinking: boolean; readonly stream: TextStream; readonly units: number }
  | { readonly kind: 'tool'; readonly id: string; readonly tool: ToolView }
  | { readonly kind: 'summary'; readonly id: string; readonly headline: string; readonly text: string }
  /** An event that this version does not know. */
  | { readonly kind: 'event'; readonly id: string; readonly headline: string; readonly text: string }
  | { readonly kind: 'note'; readonly id: string; readonly text: string; readonly level: Notice['level'] };

/** The entries of a session, oldest first. */
export interface EntryList {
  readonly length: number;
  at(index: number): Entry | undefined;
  /** -1 when there is no such entry. */
  indexOf(id: string): number;
}

export interface Transcript {
  /** The entries of a view: a function of the view alone, so that a screen that attaches later shows the same as one that never left. */
  entriesOf(view: SessionView): EntryList;
  /** Shows an event that no view has a place for, after everything else. */
  addEvent(event: { type: string; id: string; payload: unknown }): void;
}

interface Settled {
  messages: readonly Message[];
  hasRun: boolean;
  entries: readonly Entry[];
  places: ReadonlyMap<string, number>;
  /** The messages from the first one with calls that have no result yet. */
  open: readonly Message[];
}

const layout = { unknownEventsMax: 20 } as const;

/** Makes entries of messages once, and of what changes with every event only the last few. */
export function createTranscript({ isObserver = false } = {}): Transcript {
  let unknown: readonly Entry[] = [];
  const settledEntries = new WeakMap<Message, { result: string; entries: Entry[] }>();
  let settled: Settled | undefined;
  let streams = new Map<string, TextStream>();
  let tail: readonly Entry[] = [];

  function settle({ messages, state: { run } }: SessionView): Settled {
    const hasRun = run !== null;
    if (settled?.messages === messages && settled.hasRun === hasRun) return settled;
    const results = new Map<string, Message>();
    for (const message of messages) if (message.role === 'tool_result' && message.tool_call_id) results.set(message.tool_call_id, message);
    const openFrom = hasRun ? messages.findLastIndex((message) => message.role === 'assistant') : -1;
    const isOpen = openFrom >= 0 && hasOpenCalls(messages[openFrom], results);
    const closed = isOpen ? messages.slice(0, openFrom) : messages;
    const entries = closed.flatMap((message) => entriesFor(message, results));
    settled = {
      messages,
      hasRun,
      entries,
      places: new Map(entries.map(({ id }, index) => [id, index])),
      open: isOpen ? messages.slice(openFrom) : [],
    };
    return settled;
  }

  /** The entries of a message and the results of its calls. */
  function entriesFor(message: Message, results: ReadonlyMap<string, Message>): Entry[] {
    const result = callIds(message)
      .map((id) => results.get(id)?.id ?? '')
      .join(' ');
    const known = settledEntries.get(message);
    if (known?.result === result) return known.entries;
    const entries = toEntries(message, (callId) => results.get(callId));
    settledEntries.set(message, { result, entries });
    return entries;
  }

  function streamOf(id: string, text: string): TextStream {
    const stream = streams.get(id) ?? createTextStream();
    stream.grow(text);
    return stream;
  }

  function tailOf(view: SessionView, open: readonly Message[]): Entry[] {
    const calls = new Map(openCalls(view).map((call) => [call.id, call]));
    const results = new Map(open.flatMap((message) => (message.tool_call_id ? [[message.tool_call_id, message] as const] : [])));
    const live = new Map<string, TextStream>();
    const entries = open.flatMap((message) => toEntries(message, (callId) => results.get(callId), calls));
    for (const { id, role, blocks } of view.open) {
      if (role !== 'assistant') continue;
      for (const [index, { kind, text, toolName }] of blocks.entries()) {
        const entryId = `${id}/${index}`;
        if (kind === 'tool_call') {
          entries.push({
            kind: 'tool',
            id: entryId,
            tool: { state: 'waiting', name: toolName ?? '', headline: toolName ?? 'a call', output: '' },
          });
        } else if (text !== '') {
          const stream = streamOf(entryId, text);
          live.set(entryId, stream);
          entries.push({ kind: 'stream', id: entryId, isThinking: kind === 'thinking', stream, units: stream.units() });
        }
      }
    }
    streams = live;
    return [...entries, ...endingOf(view, isObserver), ...unknown].map(reuse);
  }

  /** The entry of the frame before, when it says the same: its rows are known. */
  function reuse(entry: Entry): Entry {
    const before = tail.find(({ id }) => id === entry.id);
    return before && isSame(before, entry) ? before : entry;
  }

  return {
    addEvent({ type, id, payload }) {
      const entry: Entry = {
        kind: 'event',
        id: `event/${id}`,
        headline: `event ${printableLine(type)}`,
        text: printable(JSON.stringify(payload, null, 2)),
      };
      unknown = [...unknown, entry].slice(-layout.unknownEventsMax);
    },
    entriesOf(view) {
      const { entries, places, open } = settle(view);
      tail = tailOf(view, open);
      const now = tail;
      return {
        length: entries.length + now.length,
        at: (index) => (index < entries.length ? entries[index] : now[index - entries.length]),
        indexOf(id) {
          const late = now.findIndex((entry) => entry.id === id);
          return late >= 0 ? entries.length + late : (places.get(id) ?? -1);
        },
      };
    },
  };
}

function isSame(a: Entry, b: Entry): boolean {
  if (a.kind === 'stream' && b.kind === 'stream') return a.units === b.units && a.stream === b.stream;
  if (a.kind === 'tool' && b.kind === 'tool') {
    const { tool } = a;
    return (Object.keys({ ...tool, ...b.tool }) as (keyof ToolView)[]).every((key) => tool[key] === b.tool[key]);
  }
  if (a.kind === 'note' && b.kind === 'note') return a.text === b.text && a.level === b.level;
  return 'text' in a && 'text' in b && a.kind === b.kind && a.text === b.text;
}

function hasOpenCalls(message: Message | undefined, results: ReadonlyMap<string, Message>): boolean {
  return message !== undefined && callIds(message).some((id) => !results.has(id));
}

function callIds({ content }: Message): string[] {
  return content.flatMap((block) => (block.type === 'tool_call' ? [block.id] : []));
}

function toEntries(
  message: Message,
  resultOf: (callId: string) => Message | undefined,
  calls: ReadonlyMap<string, OpenCallView> = new Map(),
): Entry[] {
  // A result is shown with its call.
  if (message.role === 'tool_result') return [];
  return messageParts(message).flatMap((part, index): Entry[] => {
    const id = `${message.id}/${index}`;
    switch (part.kind) {
      case 'text':
        return part.text.trim() === '' ? [] : [{ kind: message.role === 'user' ? 'user' : 'answer', id, text: part.text }];
      case 'thinking':
        return part.text.trim() === '' ? [] : [{ kind: 'thinking', id, text: part.text }];
      case 'tool_call':
        return [{ kind: 'tool', id, tool: describeToolMessage(part, resultOf(part.callId), calls.get(part.callId)) }];
      case 'summary':
        return [{ kind: 'summary', id, headline: part.headline, text: part.text }];
      case 'note':
        return [{ kind: 'note', id, text: part.text, level: part.about === 'broken_off' ? 'alarm' : 'info' }];
      case 'tool_result':
        return [];
    }
  });
}

/** How the last run ended, when that is not simply that it is done. */
function endingOf({ state: { run, lastRun } }: SessionView, isObserver: boolean): Entry[] {
  if (run || !lastRun || lastRun.outcome === 'completed') return [];
  const { text, level, remedy } = describeEnding(lastRun);
  const advice = remedy === null || isObserver ? '' : remedy === 'retry' ? ' · /retry tries again' : ' · /resume goes on';
  return [{ kind: 'note', id: `end/${lastRun.id}`, text: `run ${text}${advice}`, level }];
}

import type { Message } from '../../protocol/messages.js';

/** Reads a page of messages of the session's path, oldest first. */
export type ReadPage = (range: { before: string } | { after: string }) => Promise<{ messages: readonly Message[]; hasMore: boolean }>;

/**
 * Messages that are further back than an attached view holds: a part of the path that moves with the reader. Its size is bounded, because
 * what is added at one end is dropped at the other.
 */
export interface HistoryWindow {
  /** The same array until it changes. */
  messages(): Message[];
  /** There are older messages than the first. */
  hasOlder(): boolean;
  /** Resolves to whether messages were added. Calls while one is under way add nothing. */
  loadOlder(): Promise<boolean>;
  loadNewer(): Promise<boolean>;
}

const tuning = { messagesMax: 1_000 } as const;

/** Begins with messages that are known, and what is before them. */
export function createHistoryWindow(start: readonly Message[], readPage: ReadPage): HistoryWindow {
  let messages = start.slice(0, tuning.messagesMax);
  let hasOlder = true;
  let hasNewer = true;
  let isLoading = false;

  async function load(read: () => Promise<boolean>): Promise<boolean> {
    if (isLoading) return false;
    isLoading = true;
    try {
      return await read();
    } finally {
      isLoading = false;
    }
  }

  return {
    messages: () => messages,
    hasOlder: () => hasOlder,
    loadOlder: () =>
      load(async () => {
        const [first] = messages;
        if (!first || !hasOlder) return false;
        const page = await readPage({ before: first.id });
        hasOlder = page.hasMore;
        messages = [...page.messages, ...messages];
        if (messages.length > tuning.messagesMax) hasNewer = true;
        messages = messages.slice(0, tuning.messagesMax);
        return page.messages.length > 0;
      }),
    loadNewer: () =>
      load(async () => {
        const last = messages.at(-1);
        if (!last || !hasNewer) return false;
        const page = await readPage({ after: last.id });
        hasNewer = page.hasMore;
        messages = [...messages, ...page.messages];
        if (messages.length > tuning.messagesMax) hasOlder = true;
        messages = messages.slice(-tuning.messagesMax);
        return page.messages.length > 0;
      }),
  };
}

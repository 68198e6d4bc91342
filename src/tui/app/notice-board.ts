export interface BoardNotice {
  readonly text: string;
  readonly level: 'info' | 'alarm';
}

/** What a notice is about that stops being true before a key is pressed. */
export type NoticeTopic = 'absence' | 'attempt' | 'connection' | 'detach' | 'draft' | 'status' | 'stop';

export interface NoticeEnd {
  /** A newer notice about the same takes its place. */
  topic: NoticeTopic;
  /** It is true for so long. */
  forMs?: number;
}

/** Lines for the moment, above the editor. They go with the next key, once they could be read, and when they are not true any more. */
export interface NoticeBoard {
  say(text: string, level?: 'info' | 'alarm', until?: NoticeEnd): void;
  withdraw(topic: NoticeTopic): void;
  notices(): readonly BoardNotice[];
  keyPressed(nowMs: number): void;
  clear(): void;
}

const tuning = { readMs: { info: 1_500, alarm: 4_000 }, linesMax: 4 } as const;

interface Said extends BoardNotice {
  sinceMs: number;
  topic: NoticeTopic | undefined;
}

export function createNoticeBoard(onChange: () => void, clock: () => number): NoticeBoard {
  let notices: Said[] = [];
  const timers = new Map<NoticeTopic, NodeJS.Timeout>();

  function withdraw(topic: NoticeTopic): void {
    clearTimeout(timers.get(topic));
    timers.delete(topic);
    const kept = notices.filter((notice) => notice.topic !== topic);
    if (kept.length === notices.length) return;
    notices = kept;
    onChange();
  }

  return {
    say(text, level = 'info', until) {
      const topic = until?.topic;
      if (topic !== undefined) withdraw(topic);
      notices = [...notices.filter((notice) => notice.text !== text), { text, level, topic, sinceMs: clock() }].slice(-tuning.linesMax);
      if (topic !== undefined && until?.forMs !== undefined) timers.set(topic, setTimeout(() => withdraw(topic), until.forMs).unref());
      onChange();
    },
    withdraw,
    notices: () => notices,
    clear() {
      for (const timer of timers.values()) clearTimeout(timer);
      timers.clear();
      notices = [];
    },
    keyPressed(nowMs) {
      const kept = notices.filter(({ level, sinceMs }) => nowMs - sinceMs < tuning.readMs[level]);
      if (kept.length !== notices.length) notices = kept;
    },
  };
}

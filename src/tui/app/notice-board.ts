export interface BoardNotice {
  readonly text: string;
  readonly level: 'info' | 'alarm';
}

/** Lines for the moment, above the editor. No timer takes them away: they go with the next key, once they could be read. */
export interface NoticeBoard {
  say(text: string, level?: 'info' | 'alarm'): void;
  notices(): readonly BoardNotice[];
  keyPressed(nowMs: number): void;
  clear(): void;
}

const tuning = { readMs: { info: 1_500, alarm: 4_000 }, linesMax: 4 } as const;

export function createNoticeBoard(onChange: () => void, clock: () => number): NoticeBoard {
  let notices: (BoardNotice & { sinceMs: number })[] = [];
  return {
    say(text, level = 'info') {
      notices = [...notices.filter((notice) => notice.text !== text), { text, level, sinceMs: clock() }].slice(-tuning.linesMax);
      onChange();
    },
    notices: () => notices,
    clear: () => void (notices = []),
    keyPressed(nowMs) {
      const kept = notices.filter(({ level, sinceMs }) => nowMs - sinceMs < tuning.readMs[level]);
      if (kept.length !== notices.length) notices = kept;
    },
  };
}

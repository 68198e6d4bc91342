/** What a frontend remembers on this computer from one screen to the next. */
export interface RememberedScreen {
  /** By kind of entry or tool: whether it is folded. */
  folds: Readonly<Record<string, boolean>>;
  /** By session: the newest event that was on a screen here. */
  seen: Readonly<Record<string, { seq: number; atMs: number }>>;
}

/** Where it is kept. */
export interface MemoryFile {
  load(): RememberedScreen;
  save(remembered: RememberedScreen): void;
}

export interface ScreenMemory {
  folds(): Readonly<Record<string, boolean>>;
  setFolds(folds: Readonly<Record<string, boolean>>): void;
  lastSeen(sessionId: string): { seq: number; atMs: number } | undefined;
  setSeen(sessionId: string, seq: number, atMs: number): void;
}

const tuning = { sessionsMax: 200 } as const;

export function createScreenMemory(file: MemoryFile): ScreenMemory {
  return {
    folds: () => file.load().folds,
    setFolds: (folds) => file.save({ ...file.load(), folds }),
    lastSeen: (sessionId) => file.load().seen[sessionId],
    setSeen(sessionId, seq, atMs) {
      const { seen, ...rest } = file.load();
      const { [sessionId]: _before, ...others } = seen;
      const newest = Object.entries(others)
        .sort(([, a], [, b]) => b.atMs - a.atMs)
        .slice(0, tuning.sessionsMax - 1);
      file.save({ ...rest, seen: { ...Object.fromEntries(newest), [sessionId]: { seq, atMs } } });
    },
  };
}

import { limits } from '../../protocol/limits.js';
import type { HistoryEntry, ReadHistory } from '../../store/rows/history-rows.js';
import type { ReadStore } from '../../store/store.js';

/** The cached history of one run: read once, then extended with new entries. */
export interface RunHistory {
  at(leafId: string | null): readonly HistoryEntry[];
  /** Drops the cache; the next `at` reads the history again. */
  forget(): void;
}

/** Caches the histories of active runs, within one bound for all of them. A history that does not fit is read each time. */
export function createRunHistories({ entries }: ReadStore, bytesMax: number = limits.runHistoriesBytesMax) {
  let cachedBytes = 0;

  return function open(): RunHistory {
    let cached: ReadHistory | undefined;

    function forget(): void {
      cachedBytes -= cached?.bytes ?? 0;
      cached = undefined;
    }

    return {
      at(leafId) {
        const read = (cached && entries.extendHistory(cached, leafId)) ?? entries.readHistory(leafId);
        forget();
        if (cachedBytes + read.bytes <= bytesMax) {
          cached = read;
          cachedBytes += read.bytes;
        }
        return read.entries;
      },
      forget,
    };
  };
}
export type RunHistories = ReturnType<typeof createRunHistories>;

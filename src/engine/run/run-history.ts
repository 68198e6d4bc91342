import { limits } from '../../protocol/limits.js';
import type { HistoryEntry, ReadHistory } from '../../store/rows/history-rows.js';
import type { ReadStore } from '../../store/store.js';

/** The history of one run: read once, then extended with what is new. */
export interface RunHistory {
  at(leafId: string | null): readonly HistoryEntry[];
  /** Lets go of its memory; the next look reads it again. */
  forget(): void;
}

/** Histories of the runs in progress, within one bound for all of them. What does not fit is read again each time. */
export function createRunHistories({ entries }: ReadStore, bytesMax: number = limits.runHistoriesBytesMax) {
  let keptBytes = 0;

  return function open(): RunHistory {
    let kept: ReadHistory | undefined;

    function forget(): void {
      keptBytes -= kept?.bytes ?? 0;
      kept = undefined;
    }

    return {
      at(leafId) {
        const read = (kept && entries.extendHistory(kept, leafId)) ?? entries.readHistory(leafId);
        forget();
        if (keptBytes + read.bytes <= bytesMax) {
          kept = read;
          keptBytes += read.bytes;
        }
        return read.entries;
      },
      forget,
    };
  };
}
export type RunHistories = ReturnType<typeof createRunHistories>;

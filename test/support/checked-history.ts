import { deepStrictEqual } from 'node:assert/strict';
import type { Store } from '../../src/store/store.js';

/** The same store, which throws when a history that was extended is not what reading it afresh would give. */
export function withCheckedHistories(store: Store): Store {
  const { entries } = store;
  return {
    ...store,
    entries: {
      ...entries,
      extendHistory(known, leafId) {
        const extended = entries.extendHistory(known, leafId);
        if (extended) deepStrictEqual(extended, entries.readHistory(leafId));
        return extended;
      },
    },
  };
}

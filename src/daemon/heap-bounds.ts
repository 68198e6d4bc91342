import { PerformanceObserver } from 'node:perf_hooks';
import { getHeapSpaceStatistics, setFlagsFromString } from 'node:v8';
import { limits } from '../protocol/limits.js';

/** Has V8 keep the heap of the daemon small. Called once it serves: a start makes much that stays, and would be collected for nothing. */
export function boundHeap(): void {
  // Idle is free: with a heap this small there is nothing to win from collecting it seconds after the last work.
  setFlagsFromString('--no-memory-reducer-for-small-heaps');
  // Long texts are garbage soon: left alone, V8 lets a small heap grow fourfold before it collects them.
  setFlagsFromString('--heap-growing-percent=50');
  // Helper threads cost a young generation this small more than they save, and on a busy machine everyone waits until they get a core.
  setFlagsFromString('--no-parallel-scavenge');
  boundYoungGeneration();
}

/**
 * Bounds the young generation of V8's heap. Left alone it doubles up to 32 MB with the number of objects that survive collections, busy or
 * not, and only a full collection of an idle heap would give that back. A size that was chosen with an option of Node is left alone.
 */
export function boundYoungGeneration(): void {
  if (`${process.execArgv.join(' ')} ${process.env.NODE_OPTIONS ?? ''}`.includes('semi-space-size')) return;
  let mayGrow = true;
  // The maximum is fixed once V8 has started; the factor by which it grows is not. A full collection may shrink it, so it is looked at again.
  new PerformanceObserver(() => {
    const space = getHeapSpaceStatistics().find(({ space_name }) => space_name === 'new_space');
    const hasRoom = (space?.space_size ?? 0) < limits.youngGenerationBytesMax;
    if (hasRoom === mayGrow) return;
    mayGrow = hasRoom;
    setFlagsFromString(`--semi-space-growth-factor=${hasRoom ? 2 : 1}`);
  }).observe({ entryTypes: ['gc'] });
}

import { PerformanceObserver } from 'node:perf_hooks';
import { getHeapSpaceStatistics, setFlagsFromString } from 'node:v8';
import { limits } from '../protocol/limits.js';

/** Tunes V8's garbage collector for a small heap. To be called after the start, whose objects live on: collecting then is wasted. */
export function boundHeap(): void {
  // No garbage collection seconds after the last work: an idle daemon uses no CPU.
  setFlagsFromString('--no-memory-reducer-for-small-heaps');
  // Long texts are garbage soon, and by default V8 lets a small heap grow fourfold before a collection.
  setFlagsFromString('--heap-growing-percent=50');
  // Parallel scavenging of a small young generation costs more than it saves, and on a busy machine waits for cores.
  setFlagsFromString('--no-parallel-scavenge');
  boundYoungGeneration();
}

/**
 * Bounds the young generation of V8's heap, which by default doubles up to 32 MB as objects survive collections, and shrinks only in a
 * full collection of an idle heap. A --max-semi-space-size or --min-semi-space-size option of Node takes precedence.
 */
export function boundYoungGeneration(): void {
  if (`${process.execArgv.join(' ')} ${process.env.NODE_OPTIONS ?? ''}`.includes('semi-space-size')) return;
  let mayGrow = true;
  // V8 fixes the maximum at its start, but not the growth factor. A full collection may shrink the space, so its size is read after each.
  new PerformanceObserver(() => {
    const space = getHeapSpaceStatistics().find(({ space_name }) => space_name === 'new_space');
    const hasRoom = (space?.space_size ?? 0) < limits.youngGenerationBytesMax;
    if (hasRoom === mayGrow) return;
    mayGrow = hasRoom;
    setFlagsFromString(`--semi-space-growth-factor=${hasRoom ? 2 : 1}`);
  }).observe({ entryTypes: ['gc'] });
}

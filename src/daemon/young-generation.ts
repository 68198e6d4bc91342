import { PerformanceObserver } from 'node:perf_hooks';
import { getHeapSpaceStatistics, setFlagsFromString } from 'node:v8';
import { limits } from '../protocol/limits.js';

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

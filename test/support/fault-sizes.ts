type FaultSize = 'short' | 'long' | 'full';

/** How much of what is random, repeated or flooded is tried: `short` by `npm test`, `long` by `npm run test:long`, `full` by `npm run test:faults`. */
export const faultSize: FaultSize = toFaultSize(process.env.BERTH_FAULTS ?? 'short');

function toFaultSize(text: string): FaultSize {
  if (text === 'short' || text === 'long' || text === 'full') return text;
  throw new Error(`BERTH_FAULTS is ${text}; it can be short, long or full`);
}

/** The size for this run. A suite that has sizes is listed in `vitest.long.config.ts`, unless it is one of the long ones by name. */
export function sized<T>(sizes: Record<FaultSize, T>): T {
  return sizes[faultSize];
}

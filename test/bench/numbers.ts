export function quantile(samples: readonly number[], part: number): number {
  const sorted = samples.toSorted((a, b) => a - b);
  const at = Math.min(sorted.length - 1, Math.floor(part * sorted.length));
  return sorted[at] ?? Number.NaN;
}

export function median(samples: readonly number[]): number {
  return quantile(samples, 0.5);
}

export interface Pair {
  floor: number;
  value: number;
}

/** Measures floor, subject, floor, subject …: whatever else this machine does, it does to both. Returns the median of each. */
export async function alternate(rounds: number, floor: () => Promise<number>, subject: () => Promise<number>): Promise<Pair> {
  const floors: number[] = [];
  const values: number[] = [];
  for (let i = 0; i < rounds; i++) {
    floors.push(await floor());
    values.push(await subject());
  }
  return { floor: median(floors), value: median(values) };
}

export async function timed(work: () => Promise<unknown>): Promise<number> {
  const from = performance.now();
  await work();
  return performance.now() - from;
}

/** A small generator of numbers that only its seed decides (mulberry32). */
export interface Random {
  /** From 0 up to, not including, `end`. */
  below(end: number): number;
  pick<T>(from: readonly T[]): T;
  chance(probability: number): boolean;
  bytes(count: number): Buffer;
}

export function createRandom(seed: number): Random {
  let state = seed >>> 0;
  function next(): number {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = state;
    t = Math.imul(t ^ (t >>> 15), t | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  }
  const below = (end: number): number => Math.floor(next() * end);
  return {
    below,
    pick: (from) => from[below(from.length)]!,
    chance: (probability) => next() < probability,
    bytes: (count) => Buffer.from(Array.from({ length: count }, () => below(256))),
  };
}

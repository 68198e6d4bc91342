import type { Figure, Measurement } from './figures.js';
import { startBenchDaemon } from './processes.js';
import { diskBytes } from './process-stats.js';
import { watchRun } from './watched-run.js';

/** A prompt that is answered in so many deltas of twelve characters. */
function sayTwelves(deltas: number): string {
  return `say ${Array.from({ length: deltas }, () => 'elevenchars').join(' ')}`;
}

async function bytesPerDelta(deltas: number, wps: number): Promise<number> {
  await using daemon = await startBenchDaemon({ wps });
  return (await watchRun(daemon, sayTwelves(deltas))).bytes / deltas;
}

const words = 120_000;

interface Streamed {
  toClient: number;
  toDisk: number;
}

/** SQLite copies its write-ahead log back now and then, for several messages at once: the least has none of that. */
function least(samples: Streamed[]): Streamed {
  return {
    toClient: Math.min(...samples.map(({ toClient }) => toClient)),
    toDisk: Math.min(...samples.map(({ toDisk }) => toDisk)),
  };
}

/** Twice the text costs twice the bytes, to clients and to the disk. */
async function growth(): Promise<Figure[]> {
  await using daemon = await startBenchDaemon();
  async function stream(count: number): Promise<Streamed> {
    const from = diskBytes(daemon.pid());
    const { bytes } = await watchRun(daemon, `stream ${count} words`);
    return { toClient: bytes, toDisk: diskBytes(daemon.pid()) - from };
  }
  const halves: Streamed[] = [];
  const wholes: Streamed[] = [];
  for (let i = 0; i < 3; i++) {
    halves.push(await stream(words / 2));
    wholes.push(await stream(words));
  }
  const half = least(halves);
  const whole = least(wholes);
  const charsOf = (count: number): number =>
    Array.from({ length: count }, (_, i) => ` word${i + 1}`.length).reduce((sum, length) => sum + length, -1);
  const chars = charsOf(words);
  return [
    { name: '1.2 MB answer, bytes to a client', unit: 'B', value: whole.toClient, floor: 320 * words + 3 * chars, must: 1, should: 0.25 },
    { name: '1.2 over 0.6 MB answer, bytes to a client', unit: 'B', value: whole.toClient, floor: half.toClient, must: 2.5, should: 2.2 },
    // Said, saved now and then, and kept: at most so many times the text, whatever its length.
    {
      name: '0.6 MB answer, bytes to the disk over its text',
      unit: 'B',
      value: half.toDisk,
      floor: charsOf(words / 2),
      must: 4,
      should: 3,
    },
    { name: '1.2 MB answer, bytes to the disk over its text', unit: 'B', value: whole.toDisk, floor: chars, must: 4, should: 3 },
  ];
}

export const streamBytes: Measurement = {
  name: 'stream bytes',
  async measure({ quick }) {
    const batched = await bytesPerDelta(5_000, 0);
    const single = await bytesPerDelta(quick ? 400 : 1_000, 400);
    return [
      { name: 'bytes per 12-character delta, 10 a tick', unit: 'B', value: batched, floor: null, must: 80, should: 50 },
      { name: 'bytes per 12-character delta, 1 a tick', unit: 'B', value: single, floor: null, must: 320, should: 320 },
      ...(await growth()),
    ];
  },
};

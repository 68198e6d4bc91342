import { setTimeout as delay } from 'node:timers/promises';
import { pathsIn, type TestDaemon } from '../support/daemon.js';
import type { Measurement } from './figures.js';
import { call, newSession, openLines } from './line-client.js';
import { median, quantile } from './numbers.js';
import { newPlace, startBenchDaemon } from './processes.js';
import { messageText, seedHistory } from './seeded-history.js';
import { frameEnd, openBenchTerminal, type BenchTerminal } from './tui-terminal.js';

/** Nobody types faster, and a frame is painted between two keys. */
const keyEveryMs = 40;
const keysPerRound = 60;
const letters = 'qzjxvkw';
const answer = { words: 22_000, wordsPerSecond: 4_400 } as const;

/** From each key to the frame that has it; the text is taken away again. */
async function typeRound(terminal: BenchTerminal, keys: number): Promise<number[]> {
  const samples: number[] = [];
  let typed = '';
  for (let i = 0; i < keys; i++) {
    const letter = letters[i % letters.length] ?? 'q';
    typed += letter;
    const shown = terminal.next(typed);
    terminal.send(letter);
    samples.push(await shown);
    await delay(keyEveryMs);
  }
  const cleared = terminal.next(frameEnd);
  terminal.send('\x15');
  await cleared;
  return samples;
}

async function openSeeded(messages: number): Promise<{ daemon: TestDaemon; terminal: BenchTerminal }> {
  const root = newPlace();
  const session = seedHistory(pathsIn(root).stateDir, messages);
  const daemon = await startBenchDaemon({ root });
  const terminal = openBenchTerminal(daemon, ['attach', session]);
  await terminal.next(messageText(messages - 1).slice(0, 20));
  return { daemon, terminal };
}

export const tuiKeys: Measurement = {
  name: 'tui keys',
  async measure({ quick }) {
    const small = await openSeeded(100);
    const large = await openSeeded(10_000);
    const floors: number[] = [];
    const values: number[] = [];
    try {
      for (let round = -1; round < (quick ? 3 : 9); round++) {
        const [floor, value] = [await typeRound(small.terminal, keysPerRound), await typeRound(large.terminal, keysPerRound)];
        if (round < 0) continue;
        floors.push(quantile(floor, 0.95));
        values.push(quantile(value, 0.95));
      }
    } finally {
      for (const { daemon, terminal } of [small, large]) {
        await terminal[Symbol.asyncDispose]();
        await daemon[Symbol.asyncDispose]();
      }
    }
    const pair = { floor: median(floors), value: median(values) };
    return [{ name: 'terminal: key to frame p95, 10,000 messages against 100', unit: 'ms', ...pair, must: 1.5, should: 1.1 }];
  },
};

export const tuiStreaming: Measurement = {
  name: 'tui streaming',
  async measure() {
    await using daemon = await startBenchDaemon({ wps: answer.wordsPerSecond });
    using client = await openLines(daemon.paths.socket);
    const session = await newSession(client);
    await using terminal = openBenchTerminal(daemon, ['attach', session]);
    await terminal.next('ask for something');
    const begun = terminal.next('word10 ');
    await call(client, 'prompt', { session_id: session, text: `stream ${answer.words} words`, wait: false });
    await begun;
    // The last keys come when most of the answer is there.
    const samples = await typeRound(terminal, Math.floor((1_000 * answer.words) / answer.wordsPerSecond / (2 * keyEveryMs)));
    const { run_state } = await call<{ run_state: string }>(client, 'get_state', { session_id: session });
    if (run_state !== 'running') throw new Error('the answer had ended before the last key');
    return [
      {
        name: 'terminal: key to frame p95 while 200 KB stream',
        unit: 'ms',
        value: quantile(samples, 0.95),
        floor: null,
        must: 16,
        should: 8,
      },
    ];
  },
};
